/*===- kernels/pad/apply_cost.h - Cost of pad.apply --------------------------*- C -*-===*/
#ifndef PLIM_KERNELS_PAD_APPLY_COST_H
#define PLIM_KERNELS_PAD_APPLY_COST_H

#include "kernels/cost.h"
#include "kernels/pad/apply.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory speed, and about 20 ns a row. */
static inline plim_cost plim_cost_pad_apply(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                            const plim_machine *machine) {
  const plim_shape *y = shape[1];
  double elements = (double)plim_elements(y);
  int64_t row = y->rank ? y->dims[y->rank - 1] : 1;
  plim_cost cost = plim_cost_rule(shape, operands, 0.0, 1.0, elements, machine);
  (void)attrs;
  cost.ns += row ? 20.0 * elements / (double)row : 0.0;
  cost.tasks = plim_cost_tasks(cost.ns, elements);
  return cost;
}

#ifdef __cplusplus
}
#endif
#endif
