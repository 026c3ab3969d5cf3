/* Generates text, greedily, from and to token ids, with a decoder whose KV cache is the session's state:
 *
 *   generate WEIGHTS COUNT ID...      prints COUNT ids
 *
 * The model has inputs input_ids and position_ids (i64[1, S]), an output logits (f32[1, S, V]), its caches as states,
 * and two entries: prefill, in which S is open, takes the prompt in pieces of at most its bound, decode, in which S is
 * 1, one id after the other. No run copies the cache, and nothing is allocated once the session is there. */
#include "decoder.h"
#include <stdlib.h>
#include <string.h>

static int fail(const char *what) {
  const plim_error *e = plim_last_error();
  fprintf(stderr, "generate: %s: %s: %s", what, e->where, e->message);
  if (e->need || e->have)
    fprintf(stderr, " (need %llu, have %llu)", (unsigned long long)e->need, (unsigned long long)e->have);
  fprintf(stderr, "\n");
  return 1;
}

static plim_weights *weights;
static plim_context *context;
static plim_session *session;
static float *logits;
static uint64_t logits_bytes;
static int64_t vocabulary;

/* Runs `count` ids at position `at`; *next is the most likely id to follow. */
static int step(uint32_t program, const int64_t *ids, const int64_t *positions, int64_t count, int64_t *next) {
  const int64_t dims[] = {1, count};
  const uint64_t bytes = (uint64_t)count * sizeof *ids;
  if (plim_bind_input(session, program, "input_ids", ids, bytes, dims, 2) ||
      plim_bind_input(session, program, "position_ids", positions, bytes, dims, 2) ||
      plim_bind_output(session, program, "logits", logits, logits_bytes))
    return fail("bind");
  if (plim_run(session, context, program, NULL))
    return fail("run");
  const float *last = logits + (count - 1) * vocabulary;
  *next = 0;
  for (int64_t id = 1; id < vocabulary; ++id)
    if (last[id] > last[*next])
      *next = id;
  return 0;
}

static int find_io(uint32_t program, const char *name, plim_io_info *io) {
  for (uint32_t i = 0; i < plim_io_count(&decoder_model, program); ++i)
    if (!plim_io_at(&decoder_model, program, i, io) && !strcmp(io->name, name))
      return 0;
  fprintf(stderr, "generate: the model has no input or output '%s'\n", name);
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: generate WEIGHTS COUNT ID...\n");
    return 1;
  }
  const int64_t count = atoll(argv[2]), prompt = argc - 3;
  plim_scope prefill, decode, all;
  if (plim_find(&decoder_model, "prefill", NULL, &prefill) || plim_find(&decoder_model, "decode", NULL, &decode) ||
      plim_find(&decoder_model, NULL, NULL, &all))
    return fail("entries");
  plim_io_info ids_info, logits_info;
  if (find_io(prefill.program, "input_ids", &ids_info) || find_io(prefill.program, "logits", &logits_info))
    return 1;
  const int64_t piece = ids_info.dims[1] < prompt ? ids_info.dims[1] : prompt;
  vocabulary = logits_info.dims[2];
  logits_bytes = (uint64_t)(piece * vocabulary) * sizeof *logits;
  int64_t *ids = malloc((uint64_t)prompt * sizeof *ids), *positions = malloc((uint64_t)prompt * sizeof *positions);
  logits = malloc(logits_bytes);
  if (!ids || !positions || !logits) {
    fprintf(stderr, "generate: out of memory\n");
    return 1;
  }
  for (int64_t i = 0; i < prompt; ++i)
    ids[i] = atoll(argv[3 + i]), positions[i] = i;
  if (plim_weights_create(&decoder_model, all, argv[1], NULL, &weights) ||
      plim_context_create(weights, all, NULL, &context) || plim_session_create(weights, all, NULL, &session))
    return fail("open");

  int64_t next = 0;
  for (int64_t at = 0; at < prompt; at += piece) {
    int64_t n = prompt - at < piece ? prompt - at : piece;
    if (step(prefill.program, ids + at, positions + at, n, &next))
      return 1;
  }
  for (int64_t i = 0; i < count; ++i) {
    printf("%lld%s", (long long)next, i + 1 < count ? " " : "\n");
    fflush(stdout);
    int64_t id = next, position = prompt + i;
    if (i + 1 < count && step(decode.program, &id, &position, 1, &next))
      return 1;
  }
  plim_session_destroy(session);
  plim_context_destroy(context);
  plim_weights_destroy(weights);
  free(logits);
  free(positions);
  free(ids);
  return 0;
}
