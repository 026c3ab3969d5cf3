/*===- kernels/reduce/nhwc_spatial_mean_cost.h - Cost of reduce.nhwc_spatial_mean -*- C -*-===
 *
 * Mean over H and W. Operands: X [N, H, W, C], Y [N, 1, 1, C] or [N, C]; f32, channel stride 1. No attributes. Phase 0
 * sums pieces of an image, phase 1 adds the pieces.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_REDUCE_NHWC_SPATIAL_MEAN_COST_H
#define PLIM_KERNELS_REDUCE_NHWC_SPATIAL_MEAN_COST_H

#include "kernels/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PLIM_SPATIAL_MEAN_WORDS = 0, PLIM_SPATIAL_MEAN_PIXELS = 64, PLIM_SPATIAL_MEAN_PIECES = 64 };

/* Pieces of an image: of 64 pixels or more, at most 64. */
static inline int64_t plim_spatial_mean_pieces(const plim_shape *x) {
  int64_t pieces = (x->dims[1] * x->dims[2] + PLIM_SPATIAL_MEAN_PIXELS - 1) / PLIM_SPATIAL_MEAN_PIXELS;
  return pieces < PLIM_SPATIAL_MEAN_PIECES ? pieces : PLIM_SPATIAL_MEAN_PIECES;
}

/* Shared: the sum of each piece. */
static inline plim_cost plim_cost_reduce_nhwc_spatial_mean(const plim_shape *const *shape, uint32_t operands,
                                                           const int64_t *attrs, const plim_machine *machine) {
  (void)attrs;
  const plim_shape *x = shape[0];
  int64_t pieces = plim_spatial_mean_pieces(x);
  plim_cost cost =
      plim_cost_rule(shape, operands, (double)plim_elements(x), 0.2, (double)(x->dims[0] * pieces), machine);
  cost.shared_bytes = plim_round_up_64((uint64_t)(x->dims[0] * pieces * x->dims[3]) * sizeof(float));
  return cost;
}

#ifdef __cplusplus
}
#endif
#endif
