/*===- kernels/sort/top_k_cost.h - Cost of sort.top_k ------------------------*- C -*-===*/
#ifndef PLIM_KERNELS_SORT_TOP_K_COST_H
#define PLIM_KERNELS_SORT_TOP_K_COST_H

#include "kernels/cost.h"
#include "kernels/sort/top_k.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each element meets the worst so far; k log(n / k) of them, in random order, move up to k. About 5 ns a step. */
static inline plim_cost plim_cost_sort_top_k(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                             const plim_machine *machine) {
  int64_t axis = attrs[PLIM_SORT_TOP_K_AXIS], n = shape[0]->dims[axis], k = shape[1]->dims[axis];
  double rows = n ? (double)plim_elements(shape[0]) / (double)n : 0.0, logarithm = 1.0;
  double ratio = k ? (double)n / (double)k : 1.0;
  while (ratio > 2.0) {
    ratio /= 2.0;
    logarithm += 0.7;
  }
  double steps = (double)n + (double)k * logarithm * (double)k / 2.0;
  return plim_cost_rule(shape, operands, rows * steps, 0.001, rows, machine);
}

#ifdef __cplusplus
}
#endif
#endif
