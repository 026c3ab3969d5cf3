//===- kernels/x86/row_product.h - A row space times a packed matrix, unit by unit --------===//
//
// Matrix products by a constant, 1x1 convolutions and transposed convolutions: one sum of K contiguous floats a row.
// Panel blocks of one block of rows follow each other, so that its rows of A stay in the cache.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_X86_ROW_PRODUCT_H
#define PLIM_KERNELS_X86_ROW_PRODUCT_H

#include "kernels/attrs.h"
#include "kernels/x86/panel_block.h"
#include "kernels/x86/panel_blocking.h"
#include "kernels/x86/row_space.h"
#include "kernels/x86/vector.h"

namespace plim {
namespace {

struct RowProduct {
  plim_row_space space;
  int64_t k, n;
  const float *a, *b, *bias, *residual; // bias and residual may be null
  float *c;
  plim_activation activation;
  float activationA, activationB;
  /// As in PanelBlock, which then points to a RowProductUnit by `context`.
  void (*finish)(const PanelBlock *block, const float *sums, int64_t run, int64_t row, int64_t rows, int64_t panel);
  const void *finishContext;
};

/// The first run, row and panel of a unit.
struct RowUnit {
  int64_t outer, run, row, panel;

  RowUnit(const plim_panel_blocking &cut, int64_t unit) {
    panel = unit % cut.panel_blocks * cut.panels;
    unit /= cut.panel_blocks;
    row = unit % cut.row_blocks * cut.rows;
    unit /= cut.row_blocks;
    run = unit % cut.run_blocks * cut.runs;
    outer = unit / cut.run_blocks;
  }
};

/// Where a block lies in its product.
struct RowProductUnit {
  const RowProduct *product;
  RowUnit at;
};

/// Blocks of these rows, each the sum of one piece: strides and tap; the rest is 0.
inline PanelBlock blockOfRows(const plim_row_space &space) {
  static const Tap whole = {0, 0};
  const uint32_t runDim = space.rank - 2, rowDim = space.rank - 1;
  PanelBlock block = {};
  block.aRow = space.strides[PLIM_ROWS_A][rowDim];
  block.aRun = space.strides[PLIM_ROWS_A][runDim];
  block.cRow = space.strides[PLIM_ROWS_C][rowDim];
  block.cRun = space.strides[PLIM_ROWS_C][runDim];
  block.residualRow = space.strides[PLIM_ROWS_RESIDUAL][rowDim];
  block.residualRun = space.strides[PLIM_ROWS_RESIDUAL][runDim];
  block.taps = &whole;
  block.tapCount = 1;
  return block;
}

/// Operands that are there or not by the flags, and the activation. The words are the kernel's own.
inline void setEpilogue(RowProduct &product, const plim_launch *launch, int flagsWord, int activationWord, int aWord,
                        int bWord) {
  const int64_t flags = plim_attr_int(launch->attrs, flagsWord);
  const uint32_t residual = flags & PLIM_EPILOGUE_BIAS ? 3 : 2;
  product.bias = flags & PLIM_EPILOGUE_BIAS ? (const float *)launch->buf[2] : nullptr;
  product.residual = flags & PLIM_EPILOGUE_RESIDUAL ? (const float *)launch->buf[residual] : nullptr;
  product.activation = (plim_activation)plim_attr_int(launch->attrs, activationWord);
  product.activationA = (float)plim_attr_double(launch->attrs, aWord);
  product.activationB = (float)plim_attr_double(launch->attrs, bWord);
}

/// Tasks [first, last) of `tasks`. `partial`: plim_panel_partial_bytes(k).
inline void runRowProduct(const RowProduct &product, float *partial, uint32_t first, uint32_t last, uint32_t tasks) {
  const plim_row_space &space = product.space;
  const plim_panel_blocking cut = plim_panel_blocking_for(space.outer, space.runs, space.rows, product.n, product.k);

  PanelBlock block = blockOfRows(space);
  block.depth = product.k;
  block.depthBlock = cut.depth;
  block.bPanel = product.k * kPanel;
  block.activation = product.activation;
  block.activationA = product.activationA;
  block.activationB = product.activationB;
  block.partial = product.k > cut.depth ? partial : nullptr;
  block.finish = product.finish;

  const int64_t end = cut.units * last / tasks;
  for (int64_t unit = cut.units * first / tasks; unit < end; ++unit) {
    const RowUnit at(cut, unit);
    const RowProductUnit context = {&product, at};
    block.context = &context;
    const auto offset = [&](int operand) { return plim_row_space_offset(&space, operand, at.outer, at.run, at.row); };
    const int64_t column = at.panel * kPanel;
    block.runs = smaller(space.runs - at.run, cut.runs);
    block.rows = smaller(space.rows - at.row, cut.rows);
    block.panelCount = smaller(plim_ceil_divide(product.n, kPanel) - at.panel, cut.panels);
    block.columns = smaller(product.n - column, block.panelCount * kPanel);
    block.a = product.a + offset(PLIM_ROWS_A);
    block.b = product.b + at.panel * block.bPanel;
    block.c = product.c + offset(PLIM_ROWS_C) + column;
    block.bias = product.bias ? product.bias + column : nullptr;
    block.residual = product.residual ? product.residual + offset(PLIM_ROWS_RESIDUAL) + column : nullptr;
    PLIM_PANEL_BLOCK(&block);
  }
}

} // namespace
} // namespace plim

#endif
