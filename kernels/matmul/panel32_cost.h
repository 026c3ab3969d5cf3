/*===- kernels/matmul/panel32_cost.h - Cost of matmul.panel32 ----------------*- C -*-===*/
#ifndef PLIM_KERNELS_MATMUL_PANEL32_COST_H
#define PLIM_KERNELS_MATMUL_PANEL32_COST_H

#include "kernels/matmul/matmul.h"
#include "kernels/x86/panel_blocking.h"
#include "kernels/x86/row_space.h"

#ifdef __cplusplus
extern "C" {
#endif

/* residual may be NULL. */
static inline plim_row_space plim_matmul_panel32_rows(const plim_shape *a, const plim_shape *residual,
                                                      const plim_shape *c) {
  return plim_row_space_merge(c->rank - 1u, c->dims, a->strides, (residual ? residual : c)->strides, c->strides);
}

/* Scratch: sums that rest between depth blocks. */
static inline plim_cost plim_cost_matmul_panel32(const plim_shape *const *shape, uint32_t operands,
                                                 const int64_t *attrs, const plim_machine *machine) {
  const plim_shape *c = shape[operands - 1];
  int has_residual = (attrs[PLIM_MATMUL_FLAGS] & PLIM_EPILOGUE_RESIDUAL) != 0;
  int64_t k = shape[1]->dims[0], n = shape[1]->dims[1];
  plim_row_space space = plim_matmul_panel32_rows(shape[0], has_residual ? shape[operands - 2] : NULL, c);
  plim_panel_blocking cut = plim_panel_blocking_for(space.outer, space.runs, space.rows, n, k);
  double flops = 2.0 * (double)plim_elements(c) * (double)k;
  plim_cost cost = plim_cost_rule(shape, operands, flops, k < 64 ? 0.6 : 0.85, (double)cut.units, machine);
  cost.scratch_bytes = plim_panel_partial_bytes(k);
  return cost;
}

#ifdef __cplusplus
}
#endif
#endif
