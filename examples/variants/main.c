/* Runs a model in the fastest variant that fits the memory that is free, and looks again before each run:
 *
 *   variants WEIGHTS [LIMIT...]       a run for each LIMIT: that many bytes are free; 0: what the system says
 *
 * prints the variant and the sum of the output of each run. The model has an input x and an output y of 32-bit floats
 * and keeps a state; plimc --ram=7MiB,16MiB,64MiB gave it the variants. The weights are those of the first run's
 * variant, which serve all smaller ones; a later run in a smaller one frees the difference of the contexts. */
#include "net.h"
#include "plim/limits.h"
#include <stdlib.h>

static _Alignas(64) float x[NET_MAIN_INPUT_X_BYTES / sizeof(float)];
static _Alignas(64) float y[NET_MAIN_OUTPUT_Y_BYTES / sizeof(float)];

static int fail(const char *what) {
  const plim_error *e = plim_last_error();
  fprintf(stderr, "variants: %s: %s: %s", what, e->where, e->message);
  if (e->need || e->have)
    fprintf(stderr, " (need %llu, have %llu)", (unsigned long long)e->need, (unsigned long long)e->have);
  fprintf(stderr, "\n");
  return 1;
}

/* The fastest variant that fits. */
static plim_status pick(uint64_t free_bytes, uint32_t *variant) {
  plim_memory_limits limits;
  plim_status st = plim_memory_limits_read(NULL, &limits);
  if (st)
    return st;
  if (free_bytes)
    limits.limit = limits.available = free_bytes;
  return plim_pick_variant(&net_model, &limits, variant);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: variants WEIGHTS [LIMIT...]\n");
    return 1;
  }
  const int runs = argc > 2 ? argc - 2 : 1;
  plim_weights *weights = NULL;
  plim_context *context = NULL;
  plim_session *session = NULL;
  uint32_t first = 0, now = 0;
  for (size_t i = 0; i < sizeof x / sizeof *x; ++i)
    x[i] = (float)(i % 7) / 7;
  for (int run = 0; run < runs; ++run) {
    uint32_t variant;
    plim_scope scope;
    if (pick(argc > 2 ? strtoull(argv[2 + run], NULL, 10) : 0, &variant))
      return fail("no variant");
    if (run > 0 && variant < first)
      variant = first; /* the weights hold no more */
    if (plim_find_in_variant(&net_model, NET_MAIN, variant, &scope))
      return fail("find");
    if (run == 0) {
      if (plim_weights_create(&net_model, scope, argv[1], NULL, &weights) ||
          plim_context_create(weights, scope, NULL, &context) || plim_session_create(weights, scope, NULL, &session))
        return fail("open");
      if (plim_bind_input(session, PLIM_NONE, NET_MAIN_INPUT_X, x, sizeof x, NULL, 0) ||
          plim_bind_output(session, PLIM_NONE, NET_MAIN_OUTPUT_Y, y, sizeof y))
        return fail("bind");
      first = variant;
    } else if (variant != now) {
      /* The old context goes first, so that both never take memory at once. States and bindings stay. */
      plim_context_destroy(context);
      context = NULL;
      if (plim_session_switch(session, variant) || plim_context_create(weights, scope, NULL, &context))
        return fail("switch");
    }
    now = variant;
    if (plim_run(session, context, PLIM_NONE, NULL))
      return fail("run");
    double sum = 0;
    for (size_t i = 0; i < sizeof y / sizeof *y; ++i)
      sum += y[i];
    printf("variant %u of %u: sum %.9g\n", variant, (unsigned)NET_VARIANTS, sum);
  }
  plim_session_destroy(session);
  plim_context_destroy(context);
  plim_weights_destroy(weights);
  return 0;
}
