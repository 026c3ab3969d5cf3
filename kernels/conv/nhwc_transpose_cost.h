/*===- kernels/conv/nhwc_transpose_cost.h - Cost of conv_transpose.nhwc ------*- C -*-===*/
#ifndef PLIM_KERNELS_CONV_NHWC_TRANSPOSE_COST_H
#define PLIM_KERNELS_CONV_NHWC_TRANSPOSE_COST_H

#include "kernels/conv/conv.h"
#include "kernels/x86/panel_blocking.h"
#include "kernels/x86/row_space.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  PLIM_TRANSPOSE_PIXELS = 448,  /* of X whose products by all of a filter follow each other */
  PLIM_TRANSPOSE_CHANNELS = 64, /* of pixels that lie transposed on the stack */
  PLIM_TRANSPOSE_COLUMNS = 16   /* of a filter, up to which lanes are pixels */
};

/* Pixels of X are rows. */
static inline plim_row_space plim_conv_transpose_rows(const plim_shape *x) {
  return plim_row_space_merge(3, x->dims, x->strides, x->strides, x->strides);
}

/* Scratch: sums that rest between depth blocks. */
static inline plim_cost plim_cost_conv_transpose_nhwc(const plim_shape *const *shape, uint32_t operands,
                                                      const int64_t *attrs, const plim_machine *machine) {
  (void)attrs;
  int64_t k = shape[1]->dims[0], n = shape[1]->dims[1];
  plim_row_space space = plim_conv_transpose_rows(shape[0]);
  plim_panel_blocking cut = plim_panel_blocking_for(space.outer, space.runs, space.rows, n, k);
  double flops = 2.0 * (double)plim_elements(shape[0]) * (double)n;
  plim_cost cost = plim_cost_rule(shape, operands, flops, 0.4, (double)cut.units, machine);
  cost.scratch_bytes = plim_panel_partial_bytes(k);
  return cost;
}

#ifdef __cplusplus
}
#endif
#endif
