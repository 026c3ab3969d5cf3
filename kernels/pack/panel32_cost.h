/*===- kernels/pack/panel32_cost.h - Cost of pack.panel32 --------------------*- C -*-===*/
#ifndef PLIM_KERNELS_PACK_PANEL32_COST_H
#define PLIM_KERNELS_PACK_PANEL32_COST_H

#include "kernels/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A task packs whole panels. Strided sources cost about 1 ns an element. */
static inline plim_cost plim_cost_pack_panel32(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                               const plim_machine *machine) {
  (void)attrs;
  const plim_shape *x = shape[0];
  double elements = (double)plim_elements(x), panels = (double)((shape[1]->dims[1] + 31) / 32);
  plim_cost cost = plim_cost_rule(shape, operands, 0.0, 1.0, panels, machine);
  if (x->rank && x->strides[x->rank - 1] != 1 && cost.ns < elements)
    cost.ns = elements;
  cost.tasks = plim_cost_tasks(cost.ns, panels);
  return cost;
}

#ifdef __cplusplus
}
#endif
#endif
