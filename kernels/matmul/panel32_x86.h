//===- kernels/matmul/panel32_x86.h - matmul.panel32 at the level a file is compiled for --===//
//
// A task takes units of kernels/x86/panel_blocking.h: panel blocks of one block of rows follow each other, so that its
// rows of A stay in the cache.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_MATMUL_PANEL32_X86_H
#define PLIM_KERNELS_MATMUL_PANEL32_X86_H

#include "kernels/attrs.h"
#include "kernels/matmul/panel32_cost.h"
#include "kernels/x86/panel_block.h"

namespace plim {
namespace {

inline int32_t runMatmulPanel32(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  const int64_t flags = plim_attr_int(launch->attrs, PLIM_MATMUL_FLAGS);
  const bool hasBias = flags & PLIM_EPILOGUE_BIAS, hasResidual = flags & PLIM_EPILOGUE_RESIDUAL;
  const uint32_t residual = 2 + hasBias, c = residual + hasResidual;
  const plim_shape *const *shape = launch->shape;
  const int64_t k = shape[1]->dims[0], n = shape[1]->dims[1];
  const plim_row_space space = plim_row_space_of(shape[0], hasResidual ? shape[residual] : nullptr, shape[c]);
  const int64_t runs = space.dims[space.rank - 2], rows = space.dims[space.rank - 1];
  const plim_panel_blocking cut = plim_panel_blocking_for(space.outer, runs, rows, n, k);
  const uint32_t runDim = space.rank - 2, rowDim = space.rank - 1;
  const auto &strides = space.strides;
  const Tap tap = {0, 0};

  PanelBlock block = {};
  block.aRow = strides[PLIM_ROW_SPACE_A][rowDim];
  block.aRun = strides[PLIM_ROW_SPACE_A][runDim];
  block.taps = &tap;
  block.tapCount = 1;
  block.depth = k;
  block.depthBlock = cut.depth;
  block.bPanel = k * kPanel;
  block.cRow = strides[PLIM_ROW_SPACE_C][rowDim];
  block.cRun = strides[PLIM_ROW_SPACE_C][runDim];
  block.residualRow = strides[PLIM_ROW_SPACE_RESIDUAL][rowDim];
  block.residualRun = strides[PLIM_ROW_SPACE_RESIDUAL][runDim];
  block.activation = (plim_activation)plim_attr_int(launch->attrs, PLIM_MATMUL_ACTIVATION);
  block.activationA = (float)plim_attr_double(launch->attrs, PLIM_MATMUL_ACT_A);
  block.activationB = (float)plim_attr_double(launch->attrs, PLIM_MATMUL_ACT_B);
  block.partial = k > cut.depth ? (float *)scratch : nullptr;

  const int64_t end = cut.units * last / launch->tasks;
  for (int64_t unit = cut.units * first / launch->tasks; unit < end; ++unit) {
    int64_t index = unit;
    const int64_t panel = index % cut.panel_blocks * cut.panels;
    index /= cut.panel_blocks;
    const int64_t row = index % cut.row_blocks * cut.rows;
    index /= cut.row_blocks;
    const int64_t run = index % cut.run_blocks * cut.runs;
    const int64_t outer = index / cut.run_blocks;
    const auto at = [&](int operand) {
      return plim_row_space_offset(&space, operand, outer) + run * strides[operand][runDim] +
             row * strides[operand][rowDim];
    };
    const int64_t panelsLeft = plim_ceil_divide(n, kPanel) - panel;
    block.runs = runs - run < cut.runs ? runs - run : cut.runs;
    block.rows = rows - row < cut.rows ? rows - row : cut.rows;
    block.panelCount = panelsLeft < cut.panels ? panelsLeft : cut.panels;
    block.columns = n - panel * kPanel < block.panelCount * kPanel ? n - panel * kPanel : block.panelCount * kPanel;
    block.a = (const float *)launch->buf[0] + at(PLIM_ROW_SPACE_A);
    block.b = (const float *)launch->buf[1] + panel * block.bPanel;
    block.c = (float *)launch->buf[c] + at(PLIM_ROW_SPACE_C) + panel * kPanel;
    block.bias = hasBias ? (const float *)launch->buf[2] + panel * kPanel : nullptr;
    block.residual =
        hasResidual ? (const float *)launch->buf[residual] + at(PLIM_ROW_SPACE_RESIDUAL) + panel * kPanel : nullptr;
    PLIM_PANEL_BLOCK(&block);
  }
  return 0;
}

} // namespace
} // namespace plim

#endif
