/*===- kernels/conv/nhwc_pointwise_cost.h - Cost of conv.nhwc_pointwise ------*- C -*-===*/
#ifndef PLIM_KERNELS_CONV_NHWC_POINTWISE_COST_H
#define PLIM_KERNELS_CONV_NHWC_POINTWISE_COST_H

#include "kernels/conv/conv.h"
#include "kernels/x86/panel_blocking.h"
#include "kernels/x86/row_space.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pixels of Y are rows; those of X that a stride leaves out are stepped over. */
static inline plim_row_space plim_conv_pointwise_rows(const plim_shape *x, const plim_shape *residual,
                                                      const plim_shape *y, const int64_t *attrs) {
  int64_t x_strides[3] = {x->strides[0], x->strides[1] * attrs[PLIM_CONV_STRIDE],
                          x->strides[2] * attrs[PLIM_CONV_STRIDE + 1]};
  return plim_row_space_merge(3, y->dims, x_strides, (residual ? residual : y)->strides, y->strides);
}

/* Scratch: sums that rest between depth blocks. */
static inline plim_cost plim_cost_conv_nhwc_pointwise(const plim_shape *const *shape, uint32_t operands,
                                                      const int64_t *attrs, const plim_machine *machine) {
  const plim_shape *y = shape[operands - 1];
  int has_residual = (attrs[PLIM_CONV_FLAGS] & PLIM_EPILOGUE_RESIDUAL) != 0;
  int64_t k = shape[1]->dims[0], n = shape[1]->dims[1];
  plim_row_space space = plim_conv_pointwise_rows(shape[0], has_residual ? shape[operands - 2] : NULL, y, attrs);
  plim_panel_blocking cut = plim_panel_blocking_for(space.outer, space.runs, space.rows, n, k);
  double flops = 2.0 * (double)plim_elements(y) * (double)k;
  plim_cost cost = plim_cost_rule(shape, operands, flops, k < 64 ? 0.6 : 0.85, (double)cut.units, machine);
  cost.scratch_bytes = plim_panel_partial_bytes(k);
  return cost;
}

#ifdef __cplusplus
}
#endif
#endif
