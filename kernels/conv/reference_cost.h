/*===- kernels/conv/reference_cost.h - Cost of the reference convolutions ----*- C -*-===*/
#ifndef PLIM_KERNELS_CONV_REFERENCE_COST_H
#define PLIM_KERNELS_CONV_REFERENCE_COST_H

#include "kernels/conv/conv.h"
#include "kernels/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline int64_t plim_conv_channels(const plim_shape *s, const int64_t *attrs) {
  return attrs[PLIM_CONV_LAYOUT] == PLIM_CONV_NHWC ? s->dims[s->rank - 1] : s->dims[1];
}

static inline double plim_conv_taps(const plim_shape *x, const int64_t *attrs) {
  double taps = 1.0;
  for (uint32_t i = 0; i + 2 < x->rank; ++i)
    taps *= (double)attrs[PLIM_CONV_KERNEL + i];
  return taps;
}

/* Multiply-adds count 2; padding counts as if it were data. */
static inline double plim_conv_flops(const plim_shape *const *shape, uint32_t operands, const int64_t *attrs) {
  double inputs = (double)(plim_conv_channels(shape[0], attrs) / attrs[PLIM_CONV_GROUPS]);
  return 2.0 * (double)plim_elements(shape[operands - 1]) * inputs * plim_conv_taps(shape[0], attrs);
}

/* Each input element meets each tap and each output channel of its group. */
static inline double plim_conv_transpose_flops(const plim_shape *const *shape, uint32_t operands,
                                               const int64_t *attrs) {
  double outputs = (double)(plim_conv_channels(shape[operands - 1], attrs) / attrs[PLIM_CONV_GROUPS]);
  return 2.0 * (double)plim_elements(shape[0]) * outputs * plim_conv_taps(shape[0], attrs);
}

/* Blocks of 32 output channels of a pixel: what a task has whole. */
static inline double plim_conv_reference_units(const plim_shape *y, const int64_t *attrs) {
  int64_t channels = plim_conv_channels(y, attrs);
  return channels ? (double)plim_elements(y) / (double)channels * (double)((channels + 31) / 32) : 0.0;
}

/* About 2 GFLOP/s: 1/100 of the peak. */
static inline plim_cost plim_cost_conv_reference(const plim_shape *const *shape, uint32_t operands,
                                                 const int64_t *attrs, const plim_machine *machine) {
  return plim_cost_rule(shape, operands, plim_conv_flops(shape, operands, attrs), 0.01,
                        plim_conv_reference_units(shape[operands - 1], attrs), machine);
}

static inline plim_cost plim_cost_conv_transpose_reference(const plim_shape *const *shape, uint32_t operands,
                                                           const int64_t *attrs, const plim_machine *machine) {
  return plim_cost_rule(shape, operands, plim_conv_transpose_flops(shape, operands, attrs), 0.01,
                        plim_conv_reference_units(shape[operands - 1], attrs), machine);
}

#ifdef __cplusplus
}
#endif
#endif
