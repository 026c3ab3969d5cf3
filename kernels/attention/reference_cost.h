/*===- kernels/attention/reference_cost.h - Cost of attention.reference ------*- C -*-===*/
#ifndef PLIM_KERNELS_ATTENTION_REFERENCE_COST_H
#define PLIM_KERNELS_ATTENTION_REFERENCE_COST_H

#include "kernels/attention/attention.h"
#include "kernels/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both products; a causal launch computes the keys that are seen. */
static inline double plim_attention_flops(const plim_shape *const *shape, const int64_t *attrs) {
  const plim_shape *q = shape[0], *v = shape[2];
  double queries = (double)q->dims[2], keys = (double)v->dims[2], pairs = queries * keys;
  if (attrs[PLIM_ATTENTION_FLAGS] & PLIM_ATTENTION_CAUSAL) {
    int64_t last =
        plim_attention_offset(attrs[PLIM_ATTENTION_FLAGS], attrs[PLIM_ATTENTION_OFFSET], q->dims[2], v->dims[2]);
    double offset = (double)last, seen = queries * (offset + (queries + 1.0) / 2.0);
    pairs = seen < 0.0 ? 0.0 : seen < pairs ? seen : pairs;
  }
  return 2.0 * (double)(q->dims[0] * q->dims[1]) * pairs * (double)(q->dims[3] + v->dims[3]);
}

/* About 2 GFLOP/s. A task computes whole query rows; scratch holds the scores of one. */
static inline plim_cost plim_cost_attention_reference(const plim_shape *const *shape, uint32_t operands,
                                                      const int64_t *attrs, const plim_machine *machine) {
  const plim_shape *q = shape[0];
  double rows = (double)q->dims[0] * (double)q->dims[1] * (double)q->dims[2];
  plim_cost cost = plim_cost_rule(shape, operands, plim_attention_flops(shape, attrs), 0.01, rows, machine);
  cost.scratch_bytes = plim_round_up_64((uint64_t)shape[1]->dims[2] * sizeof(double));
  return cost;
}

#ifdef __cplusplus
}
#endif
#endif
