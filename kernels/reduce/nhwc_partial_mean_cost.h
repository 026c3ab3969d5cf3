/*===- kernels/reduce/nhwc_partial_mean_cost.h - Cost of reduce.nhwc_partial_mean --*- C -*-===
 *
 * Rows [FIRST, FIRST + h) of what reduce.nhwc_spatial_mean takes as a whole, with the same additions in the same order.
 * Operands: X [N, h, W, C]; where FIRST > 0 the sums so far [N, 5, C]; Y: the sums [N, 5, C], or where the rows end at
 * ROWS the mean [N, 1, 1, C] or [N, C]. f32, channel stride 1. A task is some images and blocks of channels.
 *
 * Sums: of the pieces of the image that are complete, then the four of the piece that is not.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_REDUCE_NHWC_PARTIAL_MEAN_COST_H
#define PLIM_KERNELS_REDUCE_NHWC_PARTIAL_MEAN_COST_H

#include "kernels/reduce/nhwc_spatial_mean_cost.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PLIM_PARTIAL_MEAN_FIRST, PLIM_PARTIAL_MEAN_ROWS, PLIM_PARTIAL_MEAN_WORDS };
enum { PLIM_PARTIAL_MEAN_SUMS = 5, PLIM_PARTIAL_MEAN_CHANNELS = 16 };

static inline int64_t plim_partial_mean_units(const plim_shape *x) {
  return x->dims[0] * ((x->dims[3] + PLIM_PARTIAL_MEAN_CHANNELS - 1) / PLIM_PARTIAL_MEAN_CHANNELS);
}

static inline plim_cost plim_cost_reduce_nhwc_partial_mean(const plim_shape *const *shape, uint32_t operands,
                                                           const int64_t *attrs, const plim_machine *machine) {
  (void)attrs;
  return plim_cost_rule(shape, operands, (double)plim_elements(shape[0]), 0.2,
                        (double)plim_partial_mean_units(shape[0]), machine);
}

#ifdef __cplusplus
}
#endif
#endif
