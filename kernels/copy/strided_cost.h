/*===- kernels/copy/strided_cost.h - Cost of copy.strided --------------------*- C -*-===*/
#ifndef PLIM_KERNELS_COPY_STRIDED_COST_H
#define PLIM_KERNELS_COPY_STRIDED_COST_H

#include "kernels/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows move at memory speed; where one side steps over its innermost dim, single elements take about 1.5 ns. */
static inline plim_cost plim_cost_copy_strided(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                               const plim_machine *machine) {
  (void)attrs;
  double elements = (double)plim_elements(shape[1]);
  plim_cost cost = plim_cost_rule(shape, operands, 0.0, 1.0, elements, machine);
  for (uint32_t i = 0; i < 2; ++i) {
    const plim_shape *s = shape[i];
    if (s->rank && s->dims[s->rank - 1] > 1 && s->strides[s->rank - 1] != 1 && cost.ns < 1.5 * elements)
      cost.ns = 1.5 * elements;
  }
  cost.tasks = plim_cost_tasks(cost.ns, elements);
  return cost;
}

#ifdef __cplusplus
}
#endif
#endif
