//===- kernels/x86/panel_block_loops.h - The loops of kernels/x86/panel_block.h -----------===//
//
// Depth block, then panel, then tile: the rows of a panel and of A that one depth block needs stay in the second-level
// cache, from where all tiles read them.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_X86_PANEL_BLOCK_LOOPS_H
#define PLIM_KERNELS_X86_PANEL_BLOCK_LOOPS_H

#include "kernels/x86/finish_rows.h"
#include "kernels/x86/panel_tile.h"

namespace plim {
namespace {

/// With so few rows, a tile of one panel has too few chains of fma to hide their latency and too few streams to keep
/// memory busy; then several panels share a tile.
constexpr int kFewRows = kLanes == 16 ? 6 : 3; // what the registers hold of two panels
constexpr int kFewRowsPanels = 2;
constexpr int kOneRowPanels = 4;
/// Rows of A a multiple of 4 KiB apart meet in one set of the first-level cache, which holds 8 to 12 lines.
constexpr int64_t kSetStride = 1024;
constexpr int64_t kTileRowsOneSet = 8;

/// Terms [offset, offset + depth) of taps [tap, tap + tapCount).
struct DepthBlock {
  int64_t tap, tapCount, offset, depth;
  bool first, last;
};

PLIM_INLINE int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// `count` tiles of `rows` rows from row `row` of a run on, times panels [panel, panel + panels), for one depth block.
static inline void computeRows(const PanelBlock &block, const DepthBlock &depth, int64_t run, int64_t row, int64_t rows,
                               int64_t count, int64_t panel, int64_t panels) {
  alignas(64) float sums[kTileRowsMax * kPanel];
  static_assert(kFewRows * kFewRowsPanels <= kTileRowsMax && kOneRowPanels <= kTileRowsMax);
  const bool rest = !depth.last || block.keep;
  const bool outlined = !rest && (block.finish || !finishesInRegisters(block.activation));
  if (outlined && count > 1) { // `sums` holds one tile
    for (int64_t i = 0; i < count; ++i)
      computeRows(block, depth, run, row + i * rows, rows, 1, panel, panels);
    return;
  }
  float *partial = nullptr;
  if (block.partial)
    partial = block.partial + ((panel * block.runs + run) * block.rows + row) * kPanel;

  Tile tile;
  tile.count = count;
  tile.a = block.a + run * block.aRun + row * block.aRow + depth.offset;
  tile.aRow = block.aRow;
  tile.bPanel = block.bPanel;
  tile.taps = block.taps + depth.tap;
  tile.tapCount = depth.tapCount;
  tile.depth = depth.depth;
  tile.cRow = block.cRow;
  tile.residualRow = block.residualRow;
  tile.act = {block.activation, block.activationA, block.activationB};
  tile.partialPanel = outlined ? rows * kPanel : block.runs * block.rows * kPanel;

  const int64_t columns = panels > 1 ? kPanel : smaller(block.columns - panel * kPanel, kPanel);
  for (int64_t column = 0; column < columns; column += kTileColumns) {
    const int64_t left = columns - column;
    const int vectors = left > kLanes ? 2 : 1;
    const int64_t at = panel * kPanel + column;
    tile.b = block.b ? block.b + panel * block.bPanel + column + depth.offset * kPanel : nullptr; // sums may be empty
    tile.lastLanes = firstLanes(left - (vectors - 1) * kLanes);
    float *resting = partial ? partial + column : nullptr;
    tile.resume = depth.first && !block.resume ? nullptr : resting;
    tile.keep = rest ? resting : outlined ? sums + column : nullptr;
    tile.c = block.keep ? nullptr : block.c + run * block.cRun + row * block.cRow + at;
    tile.bias = block.bias ? block.bias + at : nullptr;
    tile.residual = block.residual ? block.residual + run * block.residualRun + row * block.residualRow + at : nullptr;
    if (panels == kOneRowPanels)
      pickTile<1, 2, kOneRowPanels>(rows)(tile);
    else if (panels == kFewRowsPanels)
      pickTile<kFewRows, 2, kFewRowsPanels>(rows)(tile);
    else if (vectors == 2)
      pickTile<kTileRows, 2, 1>(rows)(tile);
    else
      pickTile<kTileRows, 1, 1>(rows)(tile);
  }
  if (outlined)
    for (int64_t i = 0; i < panels; ++i) {
      if (block.finish)
        block.finish(&block, sums + i * rows * kPanel, run, row, rows, panel + i);
      else
        finishRows(block, sums + i * rows * kPanel, run, row, rows, panel + i);
    }
}

static inline void computeDepth(const PanelBlock &block, const DepthBlock &depth) {
  const bool oneSet = block.aRow % kSetStride == 0;
  const int64_t tiles = ceilDivide(block.rows, oneSet ? smaller(kTileRowsOneSet, kTileRows) : kTileRows);
  // Tiles of nearly equal height, `longer` of them with one row more: one of 1 row after one of 14 would run at a
  // quarter of the speed.
  const int64_t length = tiles ? block.rows / tiles : 0, longer = tiles ? block.rows % tiles : 0;
  const int64_t shared = block.rows == 1 ? kOneRowPanels : block.rows <= kFewRows ? kFewRowsPanels : 1;
  for (int64_t panel = 0; panel < block.panelCount;) {
    const int64_t panels = block.columns - panel * kPanel >= shared * kPanel ? shared : 1;
    for (int64_t run = 0; run < block.runs; ++run) {
      if (longer)
        computeRows(block, depth, run, 0, length + 1, longer, panel, panels);
      if (length)
        computeRows(block, depth, run, longer * (length + 1), length, tiles - longer, panel, panels);
    }
    panel += panels;
  }
}

static inline void computeBlock(const PanelBlock &block) {
  if (block.tapCount == 0 || block.depth == 0) {
    computeDepth(block, {0, 0, 0, 0, true, true});
    return;
  }
  if (block.depth > block.depthBlock) {
    const int64_t pieces = ceilDivide(block.depth, block.depthBlock);
    const int64_t size = ceilDivide(ceilDivide(block.depth, pieces), 8) * 8;
    for (int64_t tap = 0; tap < block.tapCount; ++tap)
      for (int64_t offset = 0; offset < block.depth; offset += size)
        computeDepth(block, {tap, 1, offset, smaller(size, block.depth - offset), tap == 0 && offset == 0,
                             tap == block.tapCount - 1 && offset + size >= block.depth});
    return;
  }
  const int64_t most = block.depthBlock / block.depth;
  const int64_t pieces = ceilDivide(block.tapCount, most), taps = ceilDivide(block.tapCount, pieces);
  for (int64_t tap = 0; tap < block.tapCount; tap += taps)
    computeDepth(block,
                 {tap, smaller(taps, block.tapCount - tap), 0, block.depth, tap == 0, tap + taps >= block.tapCount});
}

} // namespace
} // namespace plim

#endif
