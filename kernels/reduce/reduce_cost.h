/*===- kernels/reduce/reduce_cost.h - Cost of reductions ---------------------*- C -*-===*/
#ifndef PLIM_KERNELS_REDUCE_REDUCE_COST_H
#define PLIM_KERNELS_REDUCE_REDUCE_COST_H

#include "kernels/cost.h"
#include "kernels/reduce/reduce.h"

#ifdef __cplusplus
extern "C" {
#endif

/* About one element a nanosecond: 1/200 of the peak. A task computes whole outputs. */
static inline plim_cost plim_cost_reduce_apply(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                               const plim_machine *machine) {
  double elements = (double)plim_elements(shape[0]);
  double each = attrs[PLIM_REDUCE_OP] == PLIM_REDUCE_LOG_SUM_EXP ? 8.0 : 1.0;
  return plim_cost_rule(shape, operands, elements * each, 0.005, (double)plim_elements(shape[1]), machine);
}

static inline plim_cost plim_cost_reduce_arg(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                             const plim_machine *machine) {
  (void)attrs;
  return plim_cost_rule(shape, operands, (double)plim_elements(shape[0]), 0.005, (double)plim_elements(shape[1]),
                        machine);
}

#ifdef __cplusplus
}
#endif
#endif
