/*===- kernels/copy/concat_cost.h - Cost of copy.concat ----------------------*- C -*-===*/
#ifndef PLIM_KERNELS_COPY_CONCAT_COST_H
#define PLIM_KERNELS_COPY_CONCAT_COST_H

#include "kernels/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Rows move at memory speed. */
static inline plim_cost plim_cost_copy_concat(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                              const plim_machine *machine) {
  (void)attrs;
  return plim_cost_rule(shape, operands, 0.0, 1.0, (double)plim_elements(shape[operands - 1]), machine);
}

#ifdef __cplusplus
}
#endif
#endif
