/*===- kernels/matmul/integer_cost.h - Cost of products of 8-bit integers ----*- C -*-===
 *
 * A unit is a block of rows times a block of panels. A piece of the depth of both is widened to 16 bits in scratch.
 *
 *===-----------------------------------------------------------------------------------===*/
#ifndef PLIM_KERNELS_MATMUL_INTEGER_COST_H
#define PLIM_KERNELS_MATMUL_INTEGER_COST_H

#include "kernels/matmul/integer.h"
#include "kernels/x86/panel_blocking.h"
#include "kernels/x86/row_space.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PLIM_INTEGER_DEPTH = 768, PLIM_INTEGER_ROWS = 132, PLIM_INTEGER_PANELS = 16 };

typedef struct plim_integer_blocking {
  plim_row_space space; /* of A, its zero (as residual) and C */
  int64_t rows, panels; /* of a unit, at most; rows are counted over all of outer, runs and rows */
  int64_t row_blocks, panel_blocks, units;
  int64_t depth;             /* of a piece, even */
  uint64_t a_bytes, b_bytes; /* of scratch, in this order; neither falls when there are more rows */
} plim_integer_blocking;

/* Units of `rows` x n columns in sums of k. */
static inline plim_integer_blocking plim_integer_blocking_of(int64_t rows, int64_t n, int64_t k) {
  plim_integer_blocking cut;
  int64_t panels = plim_ceil_divide(n, 32), pieces = plim_ceil_divide(k, PLIM_INTEGER_DEPTH);
  cut.depth = pieces ? plim_ceil_divide(plim_ceil_divide(k, pieces), 2) * 2 : 2;
  cut.rows = rows < PLIM_INTEGER_ROWS ? rows : PLIM_INTEGER_ROWS;
  cut.a_bytes = plim_round_up_64((uint64_t)(cut.rows * cut.depth) * 2);
  cut.b_bytes = (uint64_t)(cut.depth * 32) * 2;
  cut.panels = panels < PLIM_INTEGER_PANELS ? panels : PLIM_INTEGER_PANELS;
  for (;;) {
    cut.row_blocks = cut.rows ? plim_ceil_divide(rows, cut.rows) : 0;
    cut.panel_blocks = cut.panels ? plim_ceil_divide(panels, cut.panels) : 0;
    cut.units = cut.row_blocks * cut.panel_blocks;
    /* Enough units for many workers, but none below about 20 us. */
    double ns = (double)(cut.panels * k) * (double)(cut.rows < 20 ? 20 : cut.rows) * 64.0 / 200.0;
    if (cut.units == 0 || cut.units >= 64 || ns < 40000.0)
      return cut;
    if (cut.panels > 2)
      cut.panels = (cut.panels + 1) / 2;
    else if (cut.rows > 24)
      cut.rows = (cut.rows + 1) / 2;
    else
      return cut;
  }
}

/* a_zero may be NULL. */
static inline plim_integer_blocking plim_integer_blocking_for(const plim_shape *a, const plim_shape *b,
                                                              const plim_shape *a_zero, const plim_shape *c) {
  plim_row_space space =
      plim_row_space_merge(c->rank - 1u, c->dims, a->strides, (a_zero ? a_zero : c)->strides, c->strides);
  plim_integer_blocking cut = plim_integer_blocking_of(space.outer * space.runs * space.rows, b->dims[1], b->dims[0]);
  cut.space = space;
  return cut;
}

static inline double plim_integer_matmul_operations(const plim_shape *const *shape, uint32_t operands) {
  return 2.0 * (double)plim_elements(shape[operands - 1]) * (double)shape[0]->dims[shape[0]->rank - 1];
}

static inline plim_cost plim_cost_matmul_integer_panel32(const plim_shape *const *shape, uint32_t operands,
                                                         const int64_t *attrs, const plim_machine *machine) {
  plim_integer_operands o = plim_integer_operands_of(attrs[PLIM_INTEGER_MATMUL_FLAGS]);
  plim_integer_blocking cut = plim_integer_blocking_for(
      shape[0], shape[1], o.a_zero >= 0 ? shape[o.a_zero] : (const plim_shape *)0, shape[operands - 1]);
  plim_cost cost = plim_cost_rule(shape, operands, plim_integer_matmul_operations(shape, operands),
                                  cut.rows < 12 ? 0.2 : 0.7, (double)cut.units, machine);
  cost.scratch_bytes = cut.a_bytes + cut.b_bytes;
  return cost;
}

static inline plim_cost plim_cost_matmul_integer_reference(const plim_shape *const *shape, uint32_t operands,
                                                           const int64_t *attrs, const plim_machine *machine) {
  (void)attrs;
  return plim_cost_rule(shape, operands, plim_integer_matmul_operations(shape, operands), 0.02,
                        (double)plim_elements(shape[operands - 1]), machine);
}

#ifdef __cplusplus
}
#endif
#endif
