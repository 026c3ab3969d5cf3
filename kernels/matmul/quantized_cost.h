/*===- kernels/matmul/quantized_cost.h - Cost of products by quantised weights -*- C -*-===
 *
 * Up to PLIM_QUANTIZED_DIRECT_ROWS rows the weights become floats in registers, and reading them is what takes the
 * time. With more, each panel of a block of rows is converted once into scratch, a piece of its depth at a time.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_MATMUL_QUANTIZED_COST_H
#define PLIM_KERNELS_MATMUL_QUANTIZED_COST_H

#include "kernels/matmul/quantized.h"
#include "kernels/x86/panel_blocking.h"
#include "kernels/x86/row_space.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  PLIM_QUANTIZED_DIRECT_ROWS = 8,
  /* Up to so many rows a piece of the depth stays in the first-level cache, with more in the second. */
  PLIM_QUANTIZED_FLAT_ROWS = 28,
  PLIM_QUANTIZED_FLAT_DEPTH = 128
};

typedef struct plim_quantized_blocking {
  plim_row_space space;
  plim_panel_blocking cut;
  int direct;                          /* weights are converted in registers */
  int64_t depth, piece;                /* terms between two rests of all panels of a unit; terms converted at a time */
  uint64_t piece_bytes, partial_bytes; /* of scratch, in this order; neither falls when there are more rows */
} plim_quantized_blocking;

/* residual may be NULL. */
static inline plim_quantized_blocking plim_quantized_blocking_for(const plim_shape *a, const plim_shape *b,
                                                                  const plim_shape *residual, const plim_shape *c) {
  plim_quantized_blocking q;
  int64_t k = b->dims[0], n = b->dims[1], rows, flat;
  q.space = plim_row_space_merge(c->rank - 1u, c->dims, a->strides, (residual ? residual : c)->strides, c->strides);
  q.cut = plim_panel_blocking_for(q.space.outer, q.space.runs, q.space.rows, n, k);
  rows = q.space.outer * q.space.runs * q.space.rows;
  flat = rows <= PLIM_QUANTIZED_FLAT_ROWS;
  q.direct = q.space.outer * q.space.runs <= 1 && rows <= PLIM_QUANTIZED_DIRECT_ROWS;
  q.depth = q.piece = k;
  if (k > q.cut.depth && !flat)
    q.depth = q.piece = plim_ceil_divide(plim_ceil_divide(k, plim_ceil_divide(k, q.cut.depth)), 8) * 8;
  if (k > PLIM_QUANTIZED_FLAT_DEPTH && flat)
    q.piece = PLIM_QUANTIZED_FLAT_DEPTH;
  q.piece_bytes = q.partial_bytes = 0;
  if (!q.direct) {
    q.piece_bytes = (uint64_t)(q.piece * 32) * sizeof(float);
    q.partial_bytes = plim_panel_partial_bytes(k);
    if (k > PLIM_QUANTIZED_FLAT_DEPTH && q.partial_bytes == 0)
      q.partial_bytes = PLIM_QUANTIZED_FLAT_ROWS * 32 * sizeof(float);
  }
  return q;
}

static inline double plim_quantized_flops(const plim_shape *const *shape, uint32_t operands) {
  return 2.0 * (double)plim_elements(shape[operands - 1]) * (double)shape[1]->dims[0];
}

static inline plim_cost plim_cost_matmul_quantized_panel32(const plim_shape *const *shape, uint32_t operands,
                                                           const int64_t *attrs, const plim_machine *machine) {
  plim_quantized_operands o = plim_quantized_operands_of(attrs[PLIM_QUANTIZED_FLAGS]);
  plim_quantized_blocking q = plim_quantized_blocking_for(
      shape[0], shape[1], o.residual >= 0 ? shape[o.residual] : (const plim_shape *)0, shape[operands - 1]);
  plim_cost cost = plim_cost_rule(shape, operands, plim_quantized_flops(shape, operands), q.direct ? 0.9 : 0.8,
                                  (double)q.cut.units, machine);
  cost.scratch_bytes = plim_round_up_64(q.piece_bytes + q.partial_bytes);
  return cost;
}

/* A task computes whole blocks of 32 columns of a row. */
static inline plim_cost plim_cost_matmul_quantized_reference(const plim_shape *const *shape, uint32_t operands,
                                                             const int64_t *attrs, const plim_machine *machine) {
  const plim_shape *c = shape[operands - 1];
  int64_t n = c->dims[c->rank - 1];
  double units = n ? (double)plim_elements(c) / (double)n * (double)plim_ceil_divide(n, 32) : 0.0;
  (void)attrs;
  return plim_cost_rule(shape, operands, plim_quantized_flops(shape, operands), 0.03, units, machine);
}

#ifdef __cplusplus
}
#endif
#endif
