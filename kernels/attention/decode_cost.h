/*===- kernels/attention/decode_cost.h - Cost of attention.decode ------------*- C -*-===
 *
 * Phase 0, a unit a block of keys of one key head: for each query row of its heads the largest score, the sum of the
 * weights and the unscaled sum of the values. Phase 1, a unit a query row: these parts combined in the order of the
 * blocks. Blocks are of one size whatever the length, so that results depend on neither tasks nor threads.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_ATTENTION_DECODE_COST_H
#define PLIM_KERNELS_ATTENTION_DECODE_COST_H

#include "kernels/attention/fast_cost.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  PLIM_DECODE_QUERIES_MAX = 16, /* more are faster where keys and values are packed */
  PLIM_DECODE_KEYS = 256        /* of a block */
};

typedef struct plim_decode_blocking {
  int64_t rows;   /* query rows that read one key head */
  int64_t blocks; /* of keys */
  int64_t part;   /* floats of one part: values, then the largest score and the sum of weights */
  uint64_t shared_bytes, scratch_bytes;
} plim_decode_blocking;

static inline plim_decode_blocking plim_decode_blocking_for(const plim_shape *q, const plim_shape *k,
                                                            const plim_shape *v) {
  plim_decode_blocking cut;
  cut.rows = k->dims[1] ? q->dims[2] * (q->dims[1] / k->dims[1]) : 0;
  cut.blocks = plim_ceil_divide(k->dims[2], PLIM_DECODE_KEYS);
  cut.part = (v->dims[3] + 15) / 16 * 16 + 16;
  cut.shared_bytes = (uint64_t)(q->dims[0] * q->dims[1] * q->dims[2] * cut.blocks * cut.part) * sizeof(float);
  /* Scores of a block, and the keys of one vector transposed. */
  cut.scratch_bytes = (uint64_t)(cut.rows * PLIM_DECODE_KEYS + 16 * plim_attention_up_32(q->dims[3])) * sizeof(float);
  return cut;
}

static inline plim_cost plim_cost_attention_decode(const plim_shape *const *shape, uint32_t operands,
                                                   const int64_t *attrs, const plim_machine *machine) {
  const plim_shape *q = shape[0], *k = shape[1], *v = shape[2];
  plim_decode_blocking cut = plim_decode_blocking_for(q, k, v);
  double units = (double)(q->dims[0] * k->dims[1] * cut.blocks);
  plim_cost cost = plim_cost_rule(shape, operands, plim_attention_flops(shape, attrs), 1.0, units, machine);
  /* Measured for each float of K and V: to transpose or load it, and to meet it with a query row; 3 rows at least. */
  double floats = (double)(q->dims[0] * k->dims[1] * k->dims[2] * (k->dims[3] + v->dims[3]));
  double work = floats * (0.034 + 0.0125 * (double)(cut.rows < 3 ? 3 : cut.rows)) * 200.0 / machine->flops_per_ns;
  cost.ns = cost.ns > work ? cost.ns : work;
  cost.tasks = plim_cost_tasks(cost.ns, units);
  cost.shared_bytes = cut.shared_bytes;
  cost.scratch_bytes = cut.scratch_bytes;
  return cost;
}

#ifdef __cplusplus
}
#endif
#endif
