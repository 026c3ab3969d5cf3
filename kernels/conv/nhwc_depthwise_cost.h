/*===- kernels/conv/nhwc_depthwise_cost.h - Cost of conv.nhwc_depthwise ------*- C -*-===*/
#ifndef PLIM_KERNELS_CONV_NHWC_DEPTHWISE_COST_H
#define PLIM_KERNELS_CONV_NHWC_DEPTHWISE_COST_H

#include "kernels/conv/conv.h"
#include "kernels/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A task computes whole rows of Y. No workspace. */
static inline plim_cost plim_cost_conv_nhwc_depthwise(const plim_shape *const *shape, uint32_t operands,
                                                      const int64_t *attrs, const plim_machine *machine) {
  const plim_shape *y = shape[operands - 1];
  double taps = (double)(attrs[PLIM_CONV_KERNEL] * attrs[PLIM_CONV_KERNEL + 1]);
  return plim_cost_rule(shape, operands, 2.0 * (double)plim_elements(y) * taps, 0.4, (double)(y->dims[0] * y->dims[1]),
                        machine);
}

#ifdef __cplusplus
}
#endif
#endif
