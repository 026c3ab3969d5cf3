/*===- kernels/scatter/scatter_cost.h - Cost of scatters ---------------------*- C -*-===*/
#ifndef PLIM_KERNELS_SCATTER_SCATTER_COST_H
#define PLIM_KERNELS_SCATTER_SCATTER_COST_H

#include "kernels/cost.h"
#include "kernels/scatter/scatter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A copy, and about 20 ns an update. */
static inline plim_cost plim_cost_scatter_elements(const plim_shape *const *shape, uint32_t operands,
                                                   const int64_t *attrs, const plim_machine *machine) {
  plim_cost cost = plim_cost_rule(shape, operands, 0.0, 1.0, (double)plim_elements(shape[3]), machine);
  (void)attrs;
  cost.ns += 20.0 * (double)plim_elements(shape[2]);
  return cost;
}

static inline plim_cost plim_cost_scatter_nd(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                             const plim_machine *machine) {
  return plim_cost_scatter_elements(shape, operands, attrs, machine);
}

#ifdef __cplusplus
}
#endif
#endif
