/*===- kernels/fill/fill_cost.h - Cost of fills ------------------------------*- C -*-===*/
#ifndef PLIM_KERNELS_FILL_FILL_COST_H
#define PLIM_KERNELS_FILL_FILL_COST_H

#include "kernels/cost.h"
#include "kernels/fill/fill.h"

#ifdef __cplusplus
extern "C" {
#endif

/* About 5 ns an element. */
static inline plim_cost plim_cost_fill_iota(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                            const plim_machine *machine) {
  double elements = (double)plim_elements(shape[operands - 1]);
  (void)attrs;
  return plim_cost_rule(shape, operands, elements, 0.001, elements, machine);
}

static inline plim_cost plim_cost_fill_one_hot(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                               const plim_machine *machine) {
  return plim_cost_fill_iota(shape, operands, attrs, machine);
}

static inline plim_cost plim_cost_fill_range(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                             const plim_machine *machine) {
  return plim_cost_fill_iota(shape, operands, attrs, machine);
}

static inline plim_cost plim_cost_fill_scalars(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                               const plim_machine *machine) {
  plim_cost cost = plim_cost_fill_iota(shape, operands, attrs, machine);
  cost.tasks = 1;
  return cost;
}

#ifdef __cplusplus
}
#endif
#endif
