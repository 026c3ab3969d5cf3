/*===- kernels/softmax/rows_cost.h - Cost of softmax.rows --------------------*- C -*-===*/
#ifndef PLIM_KERNELS_SOFTMAX_ROWS_COST_H
#define PLIM_KERNELS_SOFTMAX_ROWS_COST_H

#include "kernels/cost.h"
#include "kernels/softmax/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Two exponentials an element: about 7 ns. A task computes whole rows. */
static inline plim_cost plim_cost_softmax_rows(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                               const plim_machine *machine) {
  double elements = (double)plim_elements(shape[0]);
  int64_t row = shape[0]->dims[attrs[PLIM_SOFTMAX_ROWS_AXIS]];
  return plim_cost_rule(shape, operands, elements * 7.0, 0.005, row ? elements / (double)row : 0.0, machine);
}

#ifdef __cplusplus
}
#endif
#endif
