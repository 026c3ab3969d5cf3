/* Runs a compiled text detector on a picture of grey noise and prints what it took. */
#include "det.h"
#include <stdlib.h>

static float picture[DET_MAIN_INPUT_X_BYTES / sizeof(float)];
static float map[DET_MAIN_OUTPUT_SIGMOID_0_TMP_0_BYTES / sizeof(float)];

static int fail(const char *what) {
  const plim_error *e = plim_last_error();
  fprintf(stderr, "%s: %s: %s\n", what, e->where, e->message);
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s model.weights\n", argv[0]);
    return 1;
  }
  srand(1);
  for (size_t i = 0; i < sizeof picture / sizeof *picture; ++i)
    picture[i] = (float)rand() / (float)RAND_MAX;

  plim_scope scope;
  plim_weights *weights = NULL;
  plim_context *context = NULL;
  plim_session *session = NULL;
  if (plim_find(&det_model, DET_MAIN, NULL, &scope) ||
      plim_weights_create(&det_model, scope, argv[1], NULL, &weights) ||
      plim_context_create(weights, scope, NULL, &context) || plim_session_create(weights, scope, NULL, &session))
    return fail("open");
  if (plim_bind_input(session, PLIM_NONE, DET_MAIN_INPUT_X, picture, sizeof picture, NULL, 0) ||
      plim_bind_output(session, PLIM_NONE, DET_MAIN_OUTPUT_SIGMOID_0_TMP_0, map, sizeof map))
    return fail("bind");
  if (plim_run(session, context, PLIM_NONE, NULL))
    return fail("run");

  plim_usage usage;
  if (plim_usage_of(session, context, PLIM_NONE, &usage))
    return fail("usage");
  double sum = 0;
  for (size_t i = 0; i < sizeof map / sizeof *map; ++i)
    sum += map[i];
  printf("mean %.6f, planned %llu bytes, reserved %llu bytes\n", sum / (double)(sizeof map / sizeof *map),
         (unsigned long long)usage.planned[PLIM_RAM], (unsigned long long)usage.reserved[PLIM_RAM]);
  plim_session_destroy(session);
  plim_context_destroy(context);
  plim_weights_destroy(weights);
  return usage.planned[PLIM_RAM] != usage.reserved[PLIM_RAM];
}
