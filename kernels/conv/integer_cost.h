/*===- kernels/conv/integer_cost.h - Cost of convolutions of 8-bit integers --*- C -*-===
 *
 * conv.integer_nhwc gathers the terms of a block of pixels as rows of 16-bit integers in scratch and multiplies them by
 * panels of the filter, as matmul.integer_panel32 does. A unit of conv.integer_nhwc_depthwise is a row of pixels.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_CONV_INTEGER_COST_H
#define PLIM_KERNELS_CONV_INTEGER_COST_H

#include "kernels/conv/integer.h"
#include "kernels/matmul/integer_cost.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Channels of a block of conv.integer_nhwc_depthwise. */
enum { PLIM_INTEGER_DEPTHWISE_CHANNELS = 64 };

static inline double plim_integer_conv_operations(const plim_shape *const *shape, uint32_t operands,
                                                  const int64_t *attrs) {
  const plim_shape *x = shape[0], *y = shape[operands - 1];
  double taps = 1.0;
  for (uint32_t i = 0; i + 2 < x->rank && i < 3; ++i)
    taps *= (double)attrs[PLIM_CONV_KERNEL + i];
  int64_t channels = x->dims[attrs[PLIM_CONV_LAYOUT] == PLIM_CONV_NHWC ? x->rank - 1 : 1];
  return 2.0 * (double)plim_elements(y) * taps * (double)channels / (double)attrs[PLIM_CONV_GROUPS];
}

static inline plim_integer_blocking plim_integer_conv_blocking(const plim_shape *w, const plim_shape *y) {
  int64_t pixels = 1;
  for (uint32_t i = 0; i + 1 < y->rank; ++i)
    pixels *= y->dims[i];
  return plim_integer_blocking_of(pixels, w->dims[1], w->dims[0]);
}

static inline plim_cost plim_cost_conv_integer_nhwc(const plim_shape *const *shape, uint32_t operands,
                                                    const int64_t *attrs, const plim_machine *machine) {
  plim_integer_blocking cut = plim_integer_conv_blocking(shape[1], shape[operands - 1]);
  plim_cost cost = plim_cost_rule(shape, operands, plim_integer_conv_operations(shape, operands, attrs),
                                  cut.rows < 12 ? 0.2 : 0.5, (double)cut.units, machine);
  cost.scratch_bytes = cut.a_bytes + cut.b_bytes;
  return cost;
}

static inline plim_cost plim_cost_conv_integer_nhwc_depthwise(const plim_shape *const *shape, uint32_t operands,
                                                              const int64_t *attrs, const plim_machine *machine) {
  const plim_shape *y = shape[operands - 1];
  double units = (double)plim_elements(y) / (double)(y->dims[y->rank - 1] ? y->dims[y->rank - 1] : 1);
  return plim_cost_rule(shape, operands, plim_integer_conv_operations(shape, operands, attrs), 0.1, units, machine);
}

static inline plim_cost plim_cost_conv_integer_reference(const plim_shape *const *shape, uint32_t operands,
                                                         const int64_t *attrs, const plim_machine *machine) {
  return plim_cost_rule(shape, operands, plim_integer_conv_operations(shape, operands, attrs), 0.005,
                        (double)plim_elements(shape[operands - 1]), machine);
}

#ifdef __cplusplus
}
#endif
#endif
