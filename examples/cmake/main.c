/* Runs any compiled model on zeros and prints its inputs, its outputs and its memory. */
#include "net.h"
#include <stdlib.h>

static int fail(const char *what) {
  const plim_error *e = plim_last_error();
  fprintf(stderr, "%s: %s: %s\n", what, e->where, e->message);
  return 1;
}

int main(void) {
  plim_scope scope;
  plim_weights *weights = NULL;
  plim_context *context = NULL;
  plim_session *session = NULL;
  if (plim_find(&net_model, NET_MAIN, NULL, &scope) ||
      plim_weights_create(&net_model, scope, WEIGHTS, NULL, &weights) ||
      plim_context_create(weights, scope, NULL, &context) || plim_session_create(weights, scope, NULL, &session))
    return fail("open");
  for (uint32_t i = 0; i < plim_io_count(&net_model, scope.program); ++i) {
    plim_io_info io;
    if (plim_io_at(&net_model, scope.program, i, &io))
      return fail("inputs and outputs");
    void *data = calloc(1, io.bytes ? io.bytes : 1);
    if (!data || (io.is_output ? plim_bind_output(session, PLIM_NONE, io.name, data, io.bytes)
                               : plim_bind_input(session, PLIM_NONE, io.name, data, io.bytes, io.dims, io.rank)))
      return fail(io.name);
    printf("%s %s: %llu bytes\n", io.is_output ? "output" : "input", io.name, (unsigned long long)io.bytes);
  }
  if (plim_run(session, context, PLIM_NONE, NULL))
    return fail("run");
  plim_usage usage;
  if (plim_usage_of(session, context, PLIM_NONE, &usage))
    return fail("usage");
  printf("planned %llu bytes, reserved %llu bytes\n", (unsigned long long)usage.planned[PLIM_RAM],
         (unsigned long long)usage.reserved[PLIM_RAM]);
  plim_session_destroy(session);
  plim_context_destroy(context);
  plim_weights_destroy(weights);
  return usage.planned[PLIM_RAM] != usage.reserved[PLIM_RAM]; /* the system takes the buffers back */
}
