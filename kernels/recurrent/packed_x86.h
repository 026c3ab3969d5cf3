//===- kernels/recurrent/packed_x86.h - recurrent.packed at the level a file is compiled for --===//
#ifndef PLIM_KERNELS_RECURRENT_PACKED_X86_H
#define PLIM_KERNELS_RECURRENT_PACKED_X86_H

#include "kernels/recurrent/steps_x86.h"
#include "kernels/status.h"
#include "kernels/x86/panel_block.h"

namespace plim {
namespace {

inline void runPackedRows(Steps &s) {
  const int64_t size = s.net.size;
  // The columns of the first product, and of the second where there is one.
  const int64_t columns[2] = {s.splits() ? 2 * size : s.net.gates * size, size};
  const int64_t panels[2] = {(columns[0] + kPanel - 1) / kPanel, (columns[1] + kPanel - 1) / kPanel};
  const float *weights = (const float *)s.net.recurrent.data + s.direction * s.row.columns * size;
  const Tap tap = {0, 0};

  PanelBlock block = {};
  block.runs = 1;
  block.rows = s.rows;
  block.aRow = s.row.state;
  block.taps = &tap;
  block.tapCount = 1;
  block.depth = size;
  block.depthBlock = size ? size : 1;
  block.bPanel = size * kPanel;
  block.cRow = s.row.columns;
  block.activation = PLIM_ACT_NONE;
  runSteps(s, [&](int64_t, int product, const float *states) {
    block.a = states;
    block.b = weights + product * panels[0] * block.bPanel;
    block.c = s.products + product * panels[0] * kPanel;
    block.panelCount = panels[product];
    block.columns = columns[product];
    PLIM_PANEL_BLOCK(&block);
  });
}

inline int32_t runPacked(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  Net net;
  if (!readNet(launch, net) || net.scale || !isFastNet(launch, net) || net.recurrent.shape->dtype != PLIM_F32)
    return PLIM_KERNEL_UNSUPPORTED;
  if (!areLengthsValid(net, 0, net.sequences))
    return PLIM_KERNEL_BAD_INDEX;
  const int64_t all = net.directions * net.sequences;
  const int64_t end = all * last / launch->tasks;
  for (int64_t at = all * first / launch->tasks; at < end;) {
    const int64_t direction = at / net.sequences, begin = at % net.sequences;
    int64_t rows = net.sequences - begin < end - at ? net.sequences - begin : end - at;
    rows = rows < PLIM_RECURRENT_ROWS ? rows : PLIM_RECURRENT_ROWS;
    Steps steps(net, direction, begin, rows, (float *)scratch);
    runPackedRows(steps);
    at += rows;
  }
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
