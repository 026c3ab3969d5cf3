/*===- kernels/matmul/reference_cost.h - Cost of matmul.reference ------------*- C -*-===*/
#ifndef PLIM_KERNELS_MATMUL_REFERENCE_COST_H
#define PLIM_KERNELS_MATMUL_REFERENCE_COST_H

#include "kernels/cost.h"
#include "kernels/matmul/matmul.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Multiply-adds count 2. */
static inline double plim_matmul_flops(const plim_shape *const *shape, uint32_t operands) {
  const plim_shape *a = shape[0], *c = shape[operands - 1];
  return 2.0 * (double)plim_elements(c) * (double)a->dims[a->rank - 1];
}

/* About 8 GFLOP/s: 1/25 of the peak. A task computes whole blocks of 32 columns of a row. */
static inline plim_cost plim_cost_matmul_reference(const plim_shape *const *shape, uint32_t operands,
                                                   const int64_t *attrs, const plim_machine *machine) {
  const plim_shape *c = shape[operands - 1];
  int64_t n = c->dims[c->rank - 1];
  double units = n ? (double)plim_elements(c) / (double)n * (double)((n + 31) / 32) : 0.0;
  (void)attrs;
  return plim_cost_rule(shape, operands, plim_matmul_flops(shape, operands), 0.04, units, machine);
}

#ifdef __cplusplus
}
#endif
#endif
