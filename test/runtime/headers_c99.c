/* The public headers compile as C99, and the usage example of plim.h is a whole program that a C linker links. */
#include "plim/check.h"
#include "plim/kernel.h"
#include "plim/limits.h"
#include "plim/plim.h"
#include "plim/status.h"
#include "plim/table.h"
#include "plim/weights.h"

#include <stdio.h>

extern const uint32_t PLIM_KERNEL_ABI_SYMBOL;

int main(void) {
  _Alignas(64) static const plim_table nothing = {PLIM_TABLE_MAGIC, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {{0, 0}}};
  const plim_model model = {sizeof(plim_model), PLIM_KERNEL_ABI, "none", &nothing, NULL, NULL, 0, 0};
  plim_scope scope = {0, PLIM_NONE};
  plim_weights *weights = NULL;
  plim_status st = plim_weights_create(&model, scope, "det.weights", NULL, &weights);
  plim_session_destroy(NULL);
  plim_context_destroy(NULL);
  plim_weights_destroy(weights);
  plim_weight_writer_abort(NULL);
  printf("%s: %s: %s\n", plim_status_name(st), plim_last_error()->where, plim_last_error()->message);
  return st == PLIM_ERR_TABLE && PLIM_KERNEL_ABI_SYMBOL == PLIM_KERNEL_ABI ? 0 : 1;
}
