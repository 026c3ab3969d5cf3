/*===- kernels/attention/fast_cost.h - Cost of attention.naive, .chunked and .flash -*- C -*-===
 *
 * What the three keep, in bytes (T keys and E values rounded up to panels of 32 where they are packed):
 *   naive    shared: packed K and V, scores of all heads       scratch: sums that rest, where T is long
 *   chunked  shared: packed K and V                             scratch: the same, and scores of CHUNK queries
 *   flash    shared: none                                       scratch: a tile of K and V, a block of O
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_ATTENTION_FAST_COST_H
#define PLIM_KERNELS_ATTENTION_FAST_COST_H

#include "kernels/attention/attention.h"
#include "kernels/attention/reference_cost.h"
#include "kernels/x86/panel_blocking.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  PLIM_ATTENTION_HEAD_MAX = 256, /* D and E at most */
  PLIM_ATTENTION_ROWS = 64,      /* query rows scored and weighed together */
  PLIM_ATTENTION_CHUNK_ROWS = 1024,
  PLIM_ATTENTION_ROW_PAD = 16, /* floats after a row of scores: the row's factor, and no cache conflicts */
  PLIM_FLASH_QUERIES = 224,    /* rows of a block of O */
  PLIM_FLASH_QUERIES_MIN = 56,
  PLIM_FLASH_TILE_FLOATS = 32768, /* of K and of V, at most */
  PLIM_FLASH_KEYS_MAX = 512,
  PLIM_FLASH_ROWS = 14 /* rows scored together; the scores stay in the first-level cache */
};

static inline int64_t plim_attention_up_32(int64_t n) { return (n + 31) / 32 * 32; }

/* Floats of a row of scores. */
static inline int64_t plim_attention_pitch(int64_t keys) { return plim_attention_up_32(keys) + PLIM_ATTENTION_ROW_PAD; }

static inline int64_t plim_attention_chunk(const int64_t *attrs) {
  int64_t chunk = attrs[PLIM_ATTENTION_CHUNK];
  return chunk > 0 ? chunk : PLIM_ATTENTION_CHUNK_ROWS;
}

/* Floats of packed K, and of packed V, of one head. */
static inline int64_t plim_attention_key_floats(const plim_shape *k) {
  return plim_attention_up_32(k->dims[2]) * k->dims[3];
}
static inline int64_t plim_attention_value_floats(const plim_shape *v) {
  return plim_attention_up_32(v->dims[3]) * v->dims[2];
}
static inline uint64_t plim_attention_packed_bytes(const plim_shape *k, const plim_shape *v) {
  uint64_t floats = (uint64_t)(plim_attention_key_floats(k) + plim_attention_value_floats(v));
  return plim_round_up_64((uint64_t)(k->dims[0] * k->dims[1]) * floats * sizeof(float));
}

/* Sums of a block of O that rest while long rows of weights are cut. */
static inline uint64_t plim_attention_partial_bytes(const plim_shape *v) {
  return v->dims[2] > PLIM_PANEL_DEPTH_WHOLE
             ? (uint64_t)(PLIM_ATTENTION_ROWS * plim_attention_up_32(v->dims[3])) * sizeof(float)
             : 0;
}

/* The products of both: rows of fewer than 3 queries take as long as 3. */
static inline double plim_attention_fast_flops(const plim_shape *const *shape, const int64_t *attrs) {
  double flops = plim_attention_flops(shape, attrs), queries = (double)shape[0]->dims[2];
  return queries > 0.0 && queries < 3.0 ? flops * 3.0 / queries : flops;
}

/* ns to pack keys and values of `heads` heads, as measured. */
static inline double plim_attention_pack_ns(const plim_shape *k, const plim_shape *v, double heads) {
  return 0.1 * heads * (double)(k->dims[2] * (k->dims[3] + v->dims[3]));
}

/* Units of (batch, head, block of queries). */
static inline int64_t plim_attention_units(const plim_shape *q, int64_t rows) {
  return q->dims[0] * q->dims[1] * plim_ceil_divide(q->dims[2], rows);
}

static inline plim_cost plim_cost_attention_naive(const plim_shape *const *shape, uint32_t operands,
                                                  const int64_t *attrs, const plim_machine *machine) {
  const plim_shape *q = shape[0], *k = shape[1], *v = shape[2];
  int64_t pitch = plim_attention_pitch(k->dims[2]), rows = q->dims[0] * q->dims[1] * q->dims[2];
  plim_cost cost = plim_cost_rule(shape, operands, plim_attention_fast_flops(shape, attrs), 0.92,
                                  (double)plim_attention_units(q, PLIM_ATTENTION_ROWS), machine);
  cost.ns += plim_attention_pack_ns(k, v, (double)(k->dims[0] * k->dims[1]));
  /* Scores are written, read and written by the softmax, and read; half of that hides behind arithmetic. */
  cost.ns += 8.0 * (double)(rows * pitch) / machine->bytes_per_ns;
  cost.shared_bytes = plim_attention_packed_bytes(k, v) + plim_round_up_64((uint64_t)(rows * pitch) * sizeof(float));
  cost.scratch_bytes = plim_attention_partial_bytes(v);
  return cost;
}

static inline plim_cost plim_cost_attention_chunked(const plim_shape *const *shape, uint32_t operands,
                                                    const int64_t *attrs, const plim_machine *machine) {
  const plim_shape *q = shape[0], *k = shape[1], *v = shape[2];
  int64_t chunk = plim_attention_chunk(attrs), rows = q->dims[2] < chunk ? q->dims[2] : chunk;
  plim_cost cost = plim_cost_rule(shape, operands, plim_attention_fast_flops(shape, attrs), 0.92,
                                  (double)plim_attention_units(q, chunk), machine);
  cost.ns += plim_attention_pack_ns(k, v, (double)(k->dims[0] * k->dims[1]));
  /* The scores of a chunk are partly in the second-level cache still. */
  cost.ns +=
      3.0 * (double)(q->dims[0] * q->dims[1] * q->dims[2] * plim_attention_pitch(k->dims[2])) / machine->bytes_per_ns;
  cost.shared_bytes = plim_attention_packed_bytes(k, v);
  cost.scratch_bytes = plim_attention_partial_bytes(v) +
                       plim_round_up_64((uint64_t)(rows * plim_attention_pitch(k->dims[2])) * sizeof(float));
  return cost;
}

typedef struct plim_flash_blocking {
  int64_t queries, keys, units;      /* rows of a block of O, keys of a tile; blocks */
  int64_t max_queries;               /* what scratch is sized by */
  uint64_t keys_bytes, values_bytes; /* of scratch, in this order */
  uint64_t scores_bytes, sums_bytes, rows_bytes;
} plim_flash_blocking;

static inline plim_flash_blocking plim_flash_blocking_for(const plim_shape *q, const plim_shape *v) {
  plim_flash_blocking cut;
  int64_t head = q->dims[3] > v->dims[3] ? q->dims[3] : v->dims[3], keys = plim_attention_up_32(v->dims[2]);
  cut.keys = PLIM_FLASH_TILE_FLOATS / (head ? head : 1) / 32 * 32;
  cut.keys = cut.keys > PLIM_FLASH_KEYS_MAX ? PLIM_FLASH_KEYS_MAX : cut.keys;
  int64_t size = cut.keys < keys ? cut.keys : keys;
  cut.queries = PLIM_FLASH_QUERIES;
  while (cut.queries > PLIM_FLASH_QUERIES_MIN && plim_attention_units(q, cut.queries) < 32)
    cut.queries /= 2;
  cut.units = plim_attention_units(q, cut.queries);
  cut.max_queries =
      plim_ceil_divide(q->dims[2] < PLIM_FLASH_QUERIES ? q->dims[2] : PLIM_FLASH_QUERIES, PLIM_FLASH_ROWS) *
      PLIM_FLASH_ROWS;
  cut.keys_bytes = (uint64_t)(size * q->dims[3]) * sizeof(float);
  cut.values_bytes = (uint64_t)(size * plim_attention_up_32(v->dims[3])) * sizeof(float);
  cut.scores_bytes = (uint64_t)(PLIM_FLASH_ROWS * (size + PLIM_ATTENTION_ROW_PAD)) * sizeof(float);
  cut.sums_bytes = (uint64_t)(cut.max_queries * plim_attention_up_32(v->dims[3])) * sizeof(float);
  cut.rows_bytes = plim_round_up_64((uint64_t)(2 * cut.max_queries) * sizeof(float));
  return cut;
}

static inline plim_cost plim_cost_attention_flash(const plim_shape *const *shape, uint32_t operands,
                                                  const int64_t *attrs, const plim_machine *machine) {
  plim_flash_blocking cut = plim_flash_blocking_for(shape[0], shape[2]);
  plim_cost cost =
      plim_cost_rule(shape, operands, plim_attention_fast_flops(shape, attrs), 0.92, (double)cut.units, machine);
  cost.ns += plim_attention_pack_ns(shape[1], shape[2], (double)cut.units);
  cost.scratch_bytes = cut.keys_bytes + cut.values_bytes + cut.scores_bytes + cut.sums_bytes + cut.rows_bytes;
  return cost;
}

#ifdef __cplusplus
}
#endif
#endif
