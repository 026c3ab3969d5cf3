//===- kernels/x86/finish_rows.h - The epilogue of finished sums in memory ----------------===//
#ifndef PLIM_KERNELS_X86_FINISH_ROWS_H
#define PLIM_KERNELS_X86_FINISH_ROWS_H

#include "kernels/x86/activation.h"
#include "kernels/x86/panel_block.h"

namespace plim {
namespace {

/// C = activation(sums + bias + residual) of `rows` rows of 32 from row `row` of run `run`, all of panel `panel`: where
/// the activation is too long to run on all accumulators of a tile at once. The sums lie in the first-level cache.
static inline void finishRows(const PanelBlock &block, const float *sums, int64_t run, int64_t row, int64_t rows,
                              int64_t panel) {
  const Activation act{block.activation, block.activationA, block.activationB};
  const int64_t columns = smaller(block.columns - panel * kPanel, kPanel);
  for (int64_t column = 0; column < columns; column += kLanes) {
    const LaneMask lanes = firstLanes(columns - column);
    const int64_t at = panel * kPanel + column;
    const Vector bias = block.bias ? load(block.bias + at, lanes) : zero();
    for (int64_t i = 0; i < rows; ++i) {
      Vector x = load(sums + i * kPanel + column) + bias;
      if (block.residual)
        x = x + load(block.residual + run * block.residualRun + (row + i) * block.residualRow + at, lanes);
      store(block.c + run * block.cRun + (row + i) * block.cRow + at, activate(x, act), lanes);
    }
  }
}

} // namespace
} // namespace plim

#endif
