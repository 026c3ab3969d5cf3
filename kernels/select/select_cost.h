/*===- kernels/select/select_cost.h - Cost of selections ---------------------*- C -*-===*/
#ifndef PLIM_KERNELS_SELECT_SELECT_COST_H
#define PLIM_KERNELS_SELECT_SELECT_COST_H

#include "kernels/cost.h"
#include "kernels/select/select.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Steps of a merge sort of n. */
static inline double plim_select_sort_steps(double n) {
  double steps = n;
  for (double run = 1.0; run < n; run *= 2.0)
    steps += n;
  return steps;
}

/* About 5 ns an element. */
static inline plim_cost plim_cost_select_nonzero(const plim_shape *const *shape, uint32_t operands,
                                                 const int64_t *attrs, const plim_machine *machine) {
  (void)attrs;
  return plim_cost_rule(shape, operands, (double)plim_elements(shape[0]), 0.001, 1.0, machine);
}

/* About 10 ns to compare two slices, and 5 for each element that they have. Two orders and one number a slice. */
static inline plim_cost plim_cost_select_unique(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                                const plim_machine *machine) {
  int64_t slices = shape[1]->dims[0];
  double elements = (double)plim_elements(shape[0]), each = slices ? elements / (double)slices : 1.0;
  (void)attrs;
  plim_cost cost =
      plim_cost_rule(shape, operands, plim_select_sort_steps((double)slices) * (each + 2.0), 0.001, 1.0, machine);
  cost.shared_bytes = plim_round_up_64((uint64_t)slices * 24);
  return cost;
}

/* Each box that is taken meets those that are left: an order of the boxes is kept, twice for sorting. */
static inline plim_cost plim_cost_select_non_max_suppression(const plim_shape *const *shape, uint32_t operands,
                                                             const int64_t *attrs, const plim_machine *machine) {
  double n = (double)shape[0]->dims[1], rows = (double)shape[5]->dims[0];
  double classes = (double)shape[1]->dims[0] * (double)shape[1]->dims[1];
  (void)attrs;
  plim_cost cost =
      plim_cost_rule(shape, operands, classes * plim_select_sort_steps(n) + rows * n * 2.0, 0.001, 1.0, machine);
  cost.shared_bytes = plim_round_up_64((uint64_t)shape[0]->dims[1] * 16);
  return cost;
}

#ifdef __cplusplus
}
#endif
#endif
