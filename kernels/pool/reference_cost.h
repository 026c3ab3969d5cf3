/*===- kernels/pool/reference_cost.h - Cost of pool.reference ----------------*- C -*-===*/
#ifndef PLIM_KERNELS_POOL_REFERENCE_COST_H
#define PLIM_KERNELS_POOL_REFERENCE_COST_H

#include "kernels/cost.h"
#include "kernels/pool/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline double plim_pool_flops(const plim_shape *const *shape, const int64_t *attrs) {
  double flops = (double)plim_elements(shape[1]);
  for (uint32_t i = 0; i + 2 < shape[0]->rank; ++i)
    flops *= (double)attrs[PLIM_POOL_KERNEL + i];
  return flops;
}

/* About 4 ns a tap: 1/800 of the peak. */
static inline plim_cost plim_cost_pool_reference(const plim_shape *const *shape, uint32_t operands,
                                                 const int64_t *attrs, const plim_machine *machine) {
  const plim_shape *y = shape[1];
  int64_t channels = attrs[PLIM_POOL_LAYOUT] == PLIM_CONV_NHWC ? y->dims[y->rank - 1] : y->dims[1];
  double units = channels ? (double)plim_elements(y) / (double)channels * (double)((channels + 31) / 32) : 0.0;
  return plim_cost_rule(shape, operands, plim_pool_flops(shape, attrs), 0.00125, units, machine);
}

#ifdef __cplusplus
}
#endif
#endif
