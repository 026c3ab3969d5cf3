/*===- kernels/norm/norm_cost.h - Cost of normalizations ---------------------*- C -*-===*/
#ifndef PLIM_KERNELS_NORM_NORM_COST_H
#define PLIM_KERNELS_NORM_NORM_COST_H

#include "kernels/cost.h"
#include "kernels/norm/norm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Three passes, about 2 ns an element together; `units`: independent rows. */
static inline plim_cost plim_norm_cost(const plim_shape *const *shape, uint32_t operands, double units,
                                       const plim_machine *machine) {
  return plim_cost_rule(shape, operands, (double)plim_elements(shape[0]) * 2.0, 0.005, units, machine);
}

static inline double plim_norm_outer(const plim_shape *x, int64_t axis) {
  double n = 1.0;
  for (int64_t i = 0; i < axis; ++i)
    n *= (double)x->dims[i];
  return n;
}

static inline plim_cost plim_cost_norm_layer(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                             const plim_machine *machine) {
  return plim_norm_cost(shape, operands, plim_norm_outer(shape[0], attrs[PLIM_NORM_AXIS]), machine);
}

static inline plim_cost plim_cost_norm_rms(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                           const plim_machine *machine) {
  return plim_norm_cost(shape, operands, plim_norm_outer(shape[0], attrs[PLIM_NORM_AXIS]), machine);
}

static inline plim_cost plim_cost_norm_group(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                             const plim_machine *machine) {
  return plim_norm_cost(shape, operands, (double)(shape[0]->dims[0] * attrs[PLIM_NORM_GROUPS]), machine);
}

static inline plim_cost plim_cost_norm_batch(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs,
                                             const plim_machine *machine) {
  (void)attrs;
  return plim_norm_cost(shape, operands, (double)plim_elements(shape[0]), machine);
}

#ifdef __cplusplus
}
#endif
#endif
