//===- kernels/x86/panel_block.h - A block of rows times panels of 32 columns -------------===//
//
// The arithmetic of matrix products, convolutions and attention: C = finish(A B) for one block of rows and some panels
// of B. B lies in panels of 32 columns, k-major (PLIM_PANEL32).
//
// Rows of A come in `runs` of `rows` rows, each with one stride. The terms of a row's sum lie in `tapCount` pieces of
// `depth` contiguous floats: one piece for a matrix, one per kernel row for a convolution.
//
// The sum of one element of C is one chain of fma in the order of taps and depth, whatever the block, the tile or the
// width of a vector: so results do not depend on how work is cut, and both instruction sets give the same bits. Between
// blocks of depth the sums rest in `partial`, not in C: C is written once, and the residual may be the same bytes as C.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_X86_PANEL_BLOCK_H
#define PLIM_KERNELS_X86_PANEL_BLOCK_H

#include "kernels/epilogue/epilogue.h"

#include <stdint.h>

namespace plim {

/// Where a piece of the sum starts: floats from the row of A, and from the panel of B.
struct Tap {
  int64_t a, b;
};

/// Rows of a tile at most, at the widest instruction set; and columns of a panel.
constexpr int kTileRowsMax = 14;
constexpr int kPanel = 32;

struct PanelBlock {
  const float *a;
  int64_t aRow, aRun; // strides in floats, as all below
  int64_t runs, rows;

  const Tap *taps;
  int64_t tapCount, depth;
  int64_t depthBlock; // terms of the sum between two rests in `partial`, at least 1

  const float *b; // the first panel of the block
  int64_t bPanel; // from panel to panel
  int64_t panelCount;
  int64_t columns; // of these panels that are columns of C: up to 32 * panelCount

  float *c; // first column of the block
  int64_t cRow, cRun;
  const float *bias; // as c; null for none
  const float *residual;
  int64_t residualRow, residualRun;
  plim_activation activation;
  float activationA, activationB;

  /// [panelCount][runs][rows][32]; may be null where one depth block covers the sum and neither flag below is set.
  float *partial;
  bool resume; // sums start from partial
  bool keep;   // sums end in partial; C, bias, residual and activation are not used

  /// Takes over what would happen to finished sums; null for C = activation(sum + bias + residual). `sums` holds `rows`
  /// rows of 32 from row `row` of run `run`, all of panel `panel`.
  void (*finish)(const PanelBlock *block, const float *sums, int64_t run, int64_t row, int64_t rows, int64_t panel);
  const void *context; // of finish
};

} // namespace plim

extern "C" {
__attribute__((visibility("hidden"))) void plim_panel_block_v3(const plim::PanelBlock *block);
__attribute__((visibility("hidden"))) void plim_panel_block_v4(const plim::PanelBlock *block);
}

#if defined(__AVX512F__)
#define PLIM_PANEL_BLOCK plim_panel_block_v4
#else
#define PLIM_PANEL_BLOCK plim_panel_block_v3
#endif

#endif
