/*===- kernels/pool/nhwc_cost.h - Cost of pool.nhwc_max and pool.nhwc_average -*- C -*-===*/
#ifndef PLIM_KERNELS_POOL_NHWC_COST_H
#define PLIM_KERNELS_POOL_NHWC_COST_H

#include "kernels/cost.h"
#include "kernels/pool/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A task computes whole rows of Y. No workspace. */
static inline plim_cost plim_cost_pool_nhwc_max(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                                const plim_machine *machine) {
  const plim_shape *y = shape[1];
  double taps = (double)(attrs[PLIM_POOL_KERNEL] * attrs[PLIM_POOL_KERNEL + 1]);
  return plim_cost_rule(shape, operands, (double)plim_elements(y) * taps, 0.1, (double)(y->dims[0] * y->dims[1]),
                        machine);
}

static inline plim_cost plim_cost_pool_nhwc_average(const plim_shape *const *shape, uint32_t operands,
                                                    const int64_t *attrs, const plim_machine *machine) {
  return plim_cost_pool_nhwc_max(shape, operands, attrs, machine);
}

#ifdef __cplusplus
}
#endif
#endif
