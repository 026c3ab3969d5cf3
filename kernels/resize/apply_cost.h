/*===- kernels/resize/apply_cost.h - Cost of resize.apply --------------------*- C -*-===*/
#ifndef PLIM_KERNELS_RESIZE_APPLY_COST_H
#define PLIM_KERNELS_RESIZE_APPLY_COST_H

#include "kernels/cost.h"
#include "kernels/resize/apply.h"

#ifdef __cplusplus
extern "C" {
#endif

/* About 1 ns an element read; a nearest copy 2 ns an element, and memory speed where the last axis stays as it is. */
static inline plim_cost plim_cost_resize_apply(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                               const plim_machine *machine) {
  const plim_shape *x = shape[0], *y = shape[1];
  double elements = (double)plim_elements(y), reads = 1.0;
  int rowStays = y->rank && x->dims[y->rank - 1] == y->dims[y->rank - 1];
  for (uint32_t i = 0; i < y->rank; ++i)
    if (x->dims[i] != y->dims[i])
      reads *= attrs[PLIM_RESIZE_MODE] == PLIM_RESIZE_CUBIC ? 4.0 : 2.0;
  if (attrs[PLIM_RESIZE_MODE] == PLIM_RESIZE_NEAREST)
    reads = rowStays ? 0.0 : 2.0;
  plim_cost cost = plim_cost_rule(shape, operands, elements * reads, 0.005, elements, machine);
  if (y->rank)
    cost.scratch_bytes = plim_round_up_64((uint64_t)y->dims[y->rank - 1] * (uint64_t)PLIM_RESIZE_SCRATCH_PER_ELEMENT);
  return cost;
}

#ifdef __cplusplus
}
#endif
#endif
