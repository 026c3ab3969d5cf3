//===- kernels/matmul/batched_x86.h - matmul.batched: a product by a B that is not packed -===//
#ifndef PLIM_KERNELS_MATMUL_BATCHED_X86_H
#define PLIM_KERNELS_MATMUL_BATCHED_X86_H

#include "kernels/attrs.h"
#include "kernels/matmul/batched_cost.h"
#include "kernels/matmul/batched_few_x86.h"
#include "kernels/status.h"
#include "kernels/x86/pack_panels.h"

namespace plim {
namespace {

/// f32; stride 1 in the last dim of C, residual and bias.
inline bool takesBatched(const plim_launch *launch) {
  for (uint32_t i = 0; i < launch->operands; ++i) {
    const plim_shape *s = launch->shape[i];
    if (s->dtype != PLIM_F32 || s->layout != PLIM_ROW || (i != 2 && s->rank < 2) ||
        (i >= 2 && s->dims[s->rank - 1] > 1 && s->strides[s->rank - 1] != 1))
      return false;
  }
  return true;
}

/// Offset of the matrix of batch number `batch` in row-major order of C's batch dims.
inline int64_t batchOffset(const plim_shape *b, const plim_shape *c, int64_t batch) {
  int64_t offset = 0;
  for (uint32_t i = c->rank - 2u; i-- > 0;) {
    offset += batch % c->dims[i] * b->strides[i];
    batch /= c->dims[i];
  }
  return offset;
}

inline int32_t runMatmulBatched(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  if (!takesBatched(launch))
    return PLIM_KERNEL_UNSUPPORTED;
  const int64_t flags = plim_attr_int(launch->attrs, PLIM_MATMUL_FLAGS);
  const bool hasBias = flags & PLIM_EPILOGUE_BIAS, hasResidual = flags & PLIM_EPILOGUE_RESIDUAL;
  const uint32_t residual = 2 + hasBias, c = residual + hasResidual;
  const plim_shape *as = launch->shape[0], *bs = launch->shape[1], *cs = launch->shape[c];
  const plim_batched_blocking cut =
      plim_batched_blocking_for(as, bs, hasResidual ? launch->shape[residual] : nullptr, cs);
  const plim_row_space &space = cut.space;
  const uint32_t rowDim = space.rank - 1;
  const int64_t k = as->dims[as->rank - 1], n = cs->dims[cs->rank - 1];
  const int64_t aColumn = as->strides[as->rank - 1];
  const int64_t bRow = bs->strides[bs->rank - 2], bColumn = bs->strides[bs->rank - 1];
  const int64_t depthMost = k < PLIM_BATCHED_DEPTH ? k : PLIM_BATCHED_DEPTH;
  float *panels = (float *)scratch, *rowsOfA = (float *)((char *)scratch + cut.b_bytes);
  const Tap tap = {0, 0};

  PanelBlock block = {};
  block.runs = 1;
  block.taps = &tap;
  block.tapCount = 1;
  block.depthBlock = PLIM_BATCHED_DEPTH;
  block.cRow = space.strides[PLIM_ROWS_C][rowDim];
  block.residualRow = space.strides[PLIM_ROWS_RESIDUAL][rowDim];
  block.activation = (plim_activation)plim_attr_int(launch->attrs, PLIM_MATMUL_ACTIVATION);
  block.activationA = (float)plim_attr_double(launch->attrs, PLIM_MATMUL_ACT_A);
  block.activationB = (float)plim_attr_double(launch->attrs, PLIM_MATMUL_ACT_B);
  block.partial = cut.partial_bytes ? (float *)((char *)rowsOfA + cut.a_bytes) : nullptr;

  const int64_t end = cut.units * last / launch->tasks;
  for (int64_t unit = cut.units * first / launch->tasks; unit < end; ++unit) {
    int64_t index = unit;
    const int64_t panel = index % cut.panel_blocks * cut.panels, column = panel * kPanel;
    index /= cut.panel_blocks;
    const int64_t row = index % cut.row_blocks * cut.rows, batch = index / cut.row_blocks;
    const int64_t outer = batch / space.runs, run = batch % space.runs;
    const auto at = [&](int operand) { return plim_row_space_offset(&space, operand, outer, run, row); };
    block.rows = smaller(space.rows - row, cut.rows);
    block.columns = smaller(n - column, cut.panels * kPanel);
    block.panelCount = plim_ceil_divide(block.columns, kPanel);
    block.c = (float *)launch->buf[c] + at(PLIM_ROWS_C) + column;
    block.bias = hasBias ? (const float *)launch->buf[2] + column : nullptr;
    block.residual = hasResidual ? (const float *)launch->buf[residual] + at(PLIM_ROWS_RESIDUAL) + column : nullptr;
    const float *a = (const float *)launch->buf[0] + at(PLIM_ROWS_A);
    const float *b = (const float *)launch->buf[1] + (cut.one_b ? 0 : batchOffset(bs, cs, batch)) + column * bColumn;
    if (block.rows <= kFewRowsMost && bRow == 1) {
      block.a = a;
      block.aRow = space.strides[PLIM_ROWS_A][rowDim];
      multiplyFewRows(block, aColumn, b, bColumn, k);
      continue;
    }
    int64_t depth = 0;
    do {
      block.depth = smaller(k - depth, depthMost);
      block.bPanel = block.depth * kPanel;
      for (int64_t p = 0; p < block.panelCount; ++p)
        packPanel(panels + p * block.bPanel, b + depth * bRow + p * kPanel * bColumn, bRow, bColumn, block.depth,
                  smaller(block.columns - p * kPanel, kPanel));
      block.a = a + depth * aColumn;
      block.aRow = space.strides[PLIM_ROWS_A][rowDim];
      if (cut.copies_a) {
        for (int64_t t = 0; t < block.depth; ++t)
          for (int64_t i = 0; i < block.rows; ++i)
            rowsOfA[i * block.depth + t] = block.a[i * block.aRow + t * aColumn];
        block.a = rowsOfA;
        block.aRow = block.depth;
      }
      block.b = panels;
      block.resume = depth > 0;
      depth += block.depth;
      block.keep = depth < k;
      PLIM_PANEL_BLOCK(&block);
    } while (depth < k);
  }
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
