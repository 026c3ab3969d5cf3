//===- kernels/matmul/integer_x86.h - matmul.integer_panel32 at the level of a file -------===//
#ifndef PLIM_KERNELS_MATMUL_INTEGER_X86_H
#define PLIM_KERNELS_MATMUL_INTEGER_X86_H

#include "kernels/attrs.h"
#include "kernels/matmul/integer_cost.h"
#include "kernels/status.h"
#include "kernels/x86/integer_tile.h"

namespace plim {
namespace {

/// Where a row lies, counted over all of outer, runs and rows.
inline int64_t rowOffset(const plim_row_space &space, int operand, int64_t row) {
  return plim_row_space_offset(&space, operand, row / space.rows / space.runs, row / space.rows % space.runs,
                               row % space.rows);
}

/// Zeros of the columns of a panel; those past the last column are 0, as the panel is.
template <typename T>
inline void readZeros(const T *zero, int64_t stride, int64_t first, int64_t n, int16_t (&zeros)[kPanel]) {
  for (int64_t j = 0; j < kPanel; ++j)
    zeros[j] = zero && first + j < n ? zero[(first + j) * stride] : 0;
}

template <typename A, typename B>
inline void runInteger(const plim_launch *launch, const plim_integer_operands &o, void *scratch, uint32_t first,
                       uint32_t last) {
  const plim_shape *const *shape = launch->shape;
  const plim_integer_blocking cut =
      plim_integer_blocking_for(shape[0], shape[1], o.a_zero >= 0 ? shape[o.a_zero] : nullptr, shape[o.c]);
  const plim_row_space &space = cut.space;
  const int64_t k = shape[1]->dims[0], n = shape[1]->dims[1], rowsOfAll = space.outer * space.runs * space.rows;
  const int64_t aStep = shape[0]->strides[shape[0]->rank - 1];
  const A *a = (const A *)launch->buf[0], *aZero = o.a_zero >= 0 ? (const A *)launch->buf[o.a_zero] : nullptr;
  const B *b = (const B *)launch->buf[1], *bZero = o.b_zero >= 0 ? (const B *)launch->buf[o.b_zero] : nullptr;
  const int64_t bZeroStep = bZero ? shape[o.b_zero]->strides[1] : 0;
  int32_t *c = (int32_t *)launch->buf[o.c];
  int16_t *aPairs = (int16_t *)scratch;
  int32_t *bPairs = (int32_t *)((char *)scratch + cut.a_bytes);

  const int64_t end = cut.units * last / launch->tasks;
  for (int64_t unit = cut.units * first / launch->tasks; unit < end; ++unit) {
    const int64_t row = unit / cut.panel_blocks * cut.rows, rows = smaller(rowsOfAll - row, cut.rows);
    const int64_t panel = unit % cut.panel_blocks * cut.panels;
    const int64_t panelEnd = panel + smaller(plim_ceil_divide(n, kPanel) - panel, cut.panels);
    int64_t depth = 0;
    do {
      const int64_t terms = smaller(k - depth, cut.depth), pairs = (terms + 1) / 2;
      for (int64_t i = 0; i < rows; ++i) {
        const int64_t at = rowOffset(space, PLIM_ROWS_A, row + i);
        const int16_t zero = aZero ? aZero[rowOffset(space, PLIM_ROWS_RESIDUAL, row + i)] : 0;
        widenRow(a + at + depth * aStep, aStep, terms, zero, aPairs + i * 2 * pairs);
        if (terms % 2)
          aPairs[i * 2 * pairs + terms] = 0;
      }
      for (int64_t p = panel; p < panelEnd; ++p) {
        int16_t zeros[kPanel];
        readZeros(bZero, bZeroStep, p * kPanel, n, zeros);
        pairPanel(b + p * k * kPanel, depth, terms, zeros, bPairs);
        // Rows that follow each other evenly in C are one block of tiles.
        for (int64_t i = 0; i < rows;) {
          const int64_t run = smaller(space.rows - (row + i) % space.rows, rows - i);
          multiplyIntegers((const int32_t *)aPairs + i * pairs, pairs, run, bPairs, pairs,
                           c + rowOffset(space, PLIM_ROWS_C, row + i) + p * kPanel,
                           space.strides[PLIM_ROWS_C][space.rank - 1], smaller(n - p * kPanel, kPanel), depth > 0);
          i += run;
        }
      }
      depth += terms;
    } while (depth < k);
  }
}

inline int32_t runMatmulIntegerPanel32(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  const plim_integer_operands o = plim_integer_operands_of(plim_attr_int(launch->attrs, PLIM_INTEGER_MATMUL_FLAGS));
  const plim_shape *const *shape = launch->shape;
  if (!plim_integer_matmul_fits(shape, launch->operands, o) || shape[1]->layout != PLIM_PANEL32)
    return PLIM_KERNEL_UNSUPPORTED;
  const plim_shape &c = *shape[o.c];
  if (c.dims[c.rank - 1] > 1 && c.strides[c.rank - 1] != 1)
    return PLIM_KERNEL_UNSUPPORTED;
  withByteTypes(launch, [&](auto a, auto b) { runInteger<decltype(a), decltype(b)>(launch, o, scratch, first, last); });
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
