/*===- kernels/elementwise/apply_cost.h - Cost of elementwise kernels --------*- C -*-===*/
#ifndef PLIM_KERNELS_ELEMENTWISE_APPLY_COST_H
#define PLIM_KERNELS_ELEMENTWISE_APPLY_COST_H

#include "kernels/cost.h"
#include "kernels/elementwise/apply.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Scalar operations that one element takes: about 6 where the C math library is called. */
static inline double plim_elementwise_flops(int64_t op) {
  if ((op >= PLIM_EW_EXP && op <= PLIM_EW_SIGMOID) || (op >= PLIM_EW_ELU && op <= PLIM_EW_CELU) ||
      (op >= PLIM_EW_SILU && op <= PLIM_EW_SOFTPLUS) || op == PLIM_EW_MISH || op == PLIM_EW_MOD || op == PLIM_EW_FMOD ||
      op == PLIM_EW_POW || op == PLIM_EW_ATAN2)
    return 6.0;
  return op == PLIM_EW_HARD_SIGMOID || op == PLIM_EW_HARD_SWISH ? 4.0 : 1.0;
}

static inline plim_cost plim_cost_elementwise_apply(const plim_shape *const *shape, uint32_t operands,
                                                    const int64_t *attrs, const plim_machine *machine) {
  double elements = (double)plim_elements(shape[operands - 1]);
  /* One scalar operation a nanosecond or so: 1/200 of the peak. */
  return plim_cost_rule(shape, operands, elements * plim_elementwise_flops(attrs[PLIM_ELEMENTWISE_OP]), 0.005, elements,
                        machine);
}

static inline plim_cost plim_cost_elementwise_cast(const plim_shape *const *shape, uint32_t operands,
                                                   const int64_t *attrs, const plim_machine *machine) {
  double elements = (double)plim_elements(shape[operands - 1]);
  (void)attrs;
  return plim_cost_rule(shape, operands, elements, 0.005, elements, machine);
}

#ifdef __cplusplus
}
#endif
#endif
