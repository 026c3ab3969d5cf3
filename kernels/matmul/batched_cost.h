/*===- kernels/matmul/batched_cost.h - Cost of matmul.batched ----------------*- C -*-===
 *
 * A unit of work is a block of rows of one batch times a block of columns. For each block of depth it packs its part of
 * B (and of A, where its columns are strided) in scratch.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_MATMUL_BATCHED_COST_H
#define PLIM_KERNELS_MATMUL_BATCHED_COST_H

#include "kernels/matmul/matmul.h"
#include "kernels/x86/panel_blocking.h"
#include "kernels/x86/row_space.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  PLIM_BATCHED_DEPTH = 512, /* terms of a sum packed at a time */
  PLIM_BATCHED_PANELS = 4,
  PLIM_BATCHED_ROWS = 224,
  PLIM_BATCHED_ROWS_COPIED = 56, /* where A is copied too */
  PLIM_BATCHED_ROWS_MIN = 56
};

typedef struct plim_batched_blocking {
  int one_b; /* B is the same for all batches */
  int copies_a;
  plim_row_space space; /* of A, residual and C; outer and runs are batches */
  int64_t rows, panels; /* of a unit, at most */
  int64_t row_blocks, panel_blocks, units;
  uint64_t b_bytes, a_bytes, partial_bytes; /* of scratch, in this order */
} plim_batched_blocking;

/* residual may be NULL. */
static inline plim_batched_blocking plim_batched_blocking_for(const plim_shape *a, const plim_shape *b,
                                                              const plim_shape *residual, const plim_shape *c) {
  plim_batched_blocking cut;
  const plim_shape *r = residual ? residual : c;
  int64_t k = a->dims[a->rank - 1], n = c->dims[c->rank - 1], m = c->dims[c->rank - 2];
  int64_t depth = k < PLIM_BATCHED_DEPTH ? k : PLIM_BATCHED_DEPTH, panels = plim_ceil_divide(n, 32);
  cut.one_b = 1;
  for (uint32_t i = 0; i + 2 < b->rank; ++i)
    cut.one_b &= b->strides[i] == 0 || b->dims[i] == 1;
  cut.copies_a = k > 1 && a->strides[a->rank - 1] != 1;
  if (cut.one_b) {
    cut.space = plim_row_space_merge(c->rank - 1u, c->dims, a->strides, r->strides, c->strides);
  } else {
    /* Not merged: the number of a batch must lead to its B. */
    cut.space.rank = c->rank - 1u;
    cut.space.outer = 1;
    cut.space.runs = c->dims[c->rank - 3];
    cut.space.rows = m;
    for (uint32_t i = 0; i < cut.space.rank; ++i) {
      cut.space.dims[i] = c->dims[i];
      cut.space.strides[PLIM_ROWS_A][i] = a->strides[i];
      cut.space.strides[PLIM_ROWS_RESIDUAL][i] = r->strides[i];
      cut.space.strides[PLIM_ROWS_C][i] = c->strides[i];
      if (i + 2 < cut.space.rank)
        cut.space.outer *= c->dims[i];
    }
  }
  int64_t batches = cut.space.outer * cut.space.runs, rows = cut.space.rows;
  int64_t rows_max = cut.copies_a ? PLIM_BATCHED_ROWS_COPIED : PLIM_BATCHED_ROWS;
  cut.rows = rows < rows_max ? rows : rows_max;
  cut.panels = panels < PLIM_BATCHED_PANELS ? panels : PLIM_BATCHED_PANELS;
  cut.b_bytes = (uint64_t)(depth * cut.panels * 32) * sizeof(float);
  cut.a_bytes = cut.copies_a ? plim_round_up_64((uint64_t)(cut.rows * depth) * sizeof(float)) : 0;
  cut.partial_bytes = k > PLIM_BATCHED_DEPTH ? (uint64_t)(cut.rows * cut.panels * 32) * sizeof(float) : 0;
  for (;;) {
    cut.row_blocks = cut.rows ? plim_ceil_divide(rows, cut.rows) : 0;
    cut.panel_blocks = cut.panels ? plim_ceil_divide(panels, cut.panels) : 0;
    cut.units = batches * cut.row_blocks * cut.panel_blocks;
    if (cut.units == 0 || cut.units >= 32 || cut.rows <= PLIM_BATCHED_ROWS_MIN)
      return cut;
    cut.rows = (cut.rows + 1) / 2;
  }
}

/* Scratch: packed B, copied A, sums that rest between depth blocks. */
static inline plim_cost plim_cost_matmul_batched(const plim_shape *const *shape, uint32_t operands,
                                                 const int64_t *attrs, const plim_machine *machine) {
  int has_residual = (attrs[PLIM_MATMUL_FLAGS] & PLIM_EPILOGUE_RESIDUAL) != 0;
  const plim_shape *a = shape[0], *c = shape[operands - 1];
  plim_batched_blocking cut = plim_batched_blocking_for(a, shape[1], has_residual ? shape[operands - 2] : NULL, c);
  double flops = 2.0 * (double)plim_elements(c) * (double)a->dims[a->rank - 1];
  plim_cost cost = plim_cost_rule(shape, operands, flops, cut.rows < 28 ? 0.2 : 0.7, (double)cut.units, machine);
  /* Packing B, again for each block of rows: columns that are contiguous are transposed. */
  const plim_shape *b = shape[1];
  double elements = (double)(cut.space.outer * cut.space.runs * cut.row_blocks) * (double)a->dims[a->rank - 1] *
                    (double)c->dims[c->rank - 1];
  cost.ns += (b->strides[b->rank - 2] == 1 && b->strides[b->rank - 1] != 1 ? 0.1 : 0.03) * elements;
  cost.tasks = plim_cost_tasks(cost.ns, (double)cut.units);
  cost.scratch_bytes = cut.b_bytes + cut.a_bytes + cut.partial_bytes;
  return cost;
}

#ifdef __cplusplus
}
#endif
#endif
