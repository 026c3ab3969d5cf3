//===- kernels/matmul/quantized_tile.h - Panels of narrow weights as floats ---------------===//
//
// Weights become floats either in a buffer, from where the tiles of kernels/x86/panel_block.h read them, or in the
// registers of a tile of few rows. Both subtract the zero and, where there are several groups, multiply by the scale in
// the same way, and both sum in the order of depth: so the bits of a row do not depend on how many there are.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_MATMUL_QUANTIZED_TILE_H
#define PLIM_KERNELS_MATMUL_QUANTIZED_TILE_H

#include "kernels/matmul/quantized_cost.h"
#include "kernels/x86/activation.h"
#include "kernels/x86/constant.h"
#include "kernels/x86/narrow.h"
#include "kernels/x86/panel_block.h"

namespace plim {
namespace {

constexpr int kPanelVectors = kPanel / kLanes;

/// B in panels, and what turns its elements into weights.
template <typename T> struct Weights {
  const T *b;
  const T *zero;      // [groups, n] or null
  const float *scale; // [groups, n] or null; of the weights, so null where it is applied to the sum
  int64_t k, n, groupRows;
  bool isPlain() const { return !zero && !scale; }
};

/// What is done to finished sums. Pointers are to the first column.
struct Epilogue {
  const float *scale, *bias; // either may be null
  Activation act;

  Epilogue from(int64_t column) const {
    return {scale ? scale + column : nullptr, bias ? bias + column : nullptr, act};
  }
};

/// `rows` rows of sums, up to 32 columns of one panel.
__attribute__((noinline)) static void finishSums(const Epilogue &e, const float *sums, int64_t sumsRow, int64_t rows,
                                                 int64_t columns, float *c, int64_t cRow, const float *residual,
                                                 int64_t residualRow) {
  for (int64_t column = 0; column < columns; column += kLanes) {
    const LaneMask lanes = firstLanes(columns - column);
    const Vector bias = e.bias ? load(e.bias + column, lanes) : zero();
    const Vector scale = e.scale ? load(e.scale + column, lanes) : broadcast(1.0f);
    for (int64_t i = 0; i < rows; ++i) {
      Vector x = fma(load(sums + i * sumsRow + column), scale, bias);
      if (residual)
        x = x + load(residual + i * residualRow + column, lanes);
      store(c + i * cRow + column, activate(x, e.act), lanes);
    }
  }
}

/// Zeros and scales of one group and panel as vectors; columns past the last have 0 and 0.
template <typename T> struct GroupVectors {
  Vector zero[kPanelVectors], scale[kPanelVectors];

  __attribute__((always_inline)) void read(const Weights<T> &w, int64_t group, int64_t panel) {
    const int64_t first = panel * kPanel, width = w.n - first < kPanel ? w.n - first : kPanel;
    T zeros[kPanel] = {};
    float scales[kPanel] = {};
    for (int64_t j = 0; j < width; ++j) {
      if (w.zero)
        zeros[j] = w.zero[group * w.n + first + j];
      scales[j] = w.scale ? w.scale[group * w.n + first + j] : 1.0f;
    }
    for (int v = 0; v < kPanelVectors; ++v) {
      zero[v] = widen(zeros + v * kLanes);
      scale[v] = load(scales + v * kLanes);
    }
  }
};

/// Rows [first, first + depth) of a panel as floats.
template <typename T>
static inline void widenPanel(const Weights<T> &w, int64_t panel, int64_t first, int64_t depth, float *to) {
  const T *from = w.b + (panel * w.k + first) * kPanel;
  if (w.isPlain()) {
    for (int64_t i = 0; i < depth * kPanel; i += kLanes)
      store(to + i, widen(from + i));
    return;
  }
  for (int64_t row = first; row < first + depth;) {
    const int64_t group = row / w.groupRows, groupEnd = (group + 1) * w.groupRows;
    const int64_t end = groupEnd < first + depth ? groupEnd : first + depth;
    GroupVectors<T> g;
    g.read(w, group, panel);
    for (; row < end; ++row, from += kPanel, to += kPanel)
#pragma clang loop unroll(full)
      for (int v = 0; v < kPanelVectors; ++v)
        store(to + v * kLanes, (widen(from + v * kLanes) - g.zero[v]) * g.scale[v]);
  }
}

//===----------------------------------------------------------------------===//
// Few rows
//===----------------------------------------------------------------------===//

struct DirectRows {
  const float *a;
  int64_t aRow;
  float *c;
  int64_t cRow;
  const float *residual; // null for none
  int64_t residualRow;
};

/// Accumulators of a row: as many streams of weights as the registers hold, to keep memory busy.
constexpr int directVectors(int rows) {
  return kLanes == 16 ? (rows <= 6 ? 4 : 2) : (rows == 1 ? 8 : rows <= 3 ? 4 : rows <= 6 ? 2 : 1);
}

/// How far ahead of their use weights are fetched, in bytes.
constexpr int64_t kDirectPrefetch = 4096;

/// `Rows` rows times `Vectors` vectors of columns, the first of them vector `at` of `panel`.
template <typename T, bool Plain, int Rows, int Vectors>
static inline void multiplyTile(const Weights<T> &w, const Epilogue &e, const DirectRows &r, int64_t panel, int at) {
  constexpr int panels = Vectors > kPanelVectors ? Vectors / kPanelVectors : 1;
  constexpr int each = Vectors / panels; // vectors of a panel
  Vector sum[Rows][Vectors];
#pragma clang loop unroll(full)
  for (int i = 0; i < Rows; ++i)
#pragma clang loop unroll(full)
    for (int v = 0; v < Vectors; ++v)
      sum[i][v] = zero();
  const T *b = w.b + panel * w.k * kPanel + at * kLanes;
  const int64_t bPanel = w.k * kPanel;
  const float *a = r.a;
  for (int64_t first = 0; first < w.k; first += w.groupRows) {
    GroupVectors<T> groups[Plain ? 1 : panels];
    if (!Plain)
      for (int p = 0; p < panels; ++p)
        groups[p].read(w, first / w.groupRows, panel + p);
    for (int64_t k = first; k < first + w.groupRows; ++k) {
#pragma clang loop unroll(full)
      for (int v = 0; v < Vectors; ++v) {
        const T *p = b + v / each * bPanel + v % each * kLanes;
        if (v % each == 0)
          _mm_prefetch((const char *)p + kDirectPrefetch, _MM_HINT_T0);
        Vector x = widen(p);
        if (!Plain)
          x = (x - groups[v / each].zero[at + v % each]) * groups[v / each].scale[at + v % each];
#pragma clang loop unroll(full)
        for (int i = 0; i < Rows; ++i)
          sum[i][v] = fma(broadcast(a[i * r.aRow + k]), x, sum[i][v]);
      }
      b += kPanel;
    }
  }
  alignas(64) float sums[Rows * kPanel];
  // Unrolled: an accumulator whose number is not known then would lie in memory all the time.
#pragma clang loop unroll(full)
  for (int p = 0; p < panels; ++p) {
#pragma clang loop unroll(full)
    for (int i = 0; i < Rows; ++i)
#pragma clang loop unroll(full)
      for (int v = 0; v < each; ++v)
        store(sums + i * kPanel + v * kLanes, sum[i][p * each + v]);
    const int64_t column = (panel + p) * kPanel + at * kLanes, left = w.n - column;
    finishSums(e.from(column), sums, kPanel, Rows, left < each * kLanes ? left : each * kLanes, r.c + column, r.cRow,
               r.residual ? r.residual + column : nullptr, r.residualRow);
  }
}

template <typename T, bool Plain, int Rows>
static inline void multiplyRows(const Weights<T> &w, const Epilogue &e, const DirectRows &r, int64_t panel,
                                int64_t panels) {
  constexpr int most = directVectors(Rows), step = most < kPanelVectors ? most : kPanelVectors;
  constexpr int64_t together = most / step * step / kPanelVectors;
  const int64_t end = panel + panels;
  if constexpr (together > 1)
    for (; end - panel >= together; panel += together)
      multiplyTile<T, Plain, Rows, most>(w, e, r, panel, 0);
  for (; panel < end; ++panel)
    for (int at = 0; at < kPanelVectors && panel * kPanel + at * kLanes < w.n; at += step)
      multiplyTile<T, Plain, Rows, step>(w, e, r, panel, at);
}

template <typename T, bool Plain>
static inline void multiplyDirect(const Weights<T> &w, const Epilogue &e, const DirectRows &r, int64_t rows,
                                  int64_t panel, int64_t panels) {
  withConstant<PLIM_QUANTIZED_DIRECT_ROWS>(
      rows, [&](auto n) __attribute__((always_inline)) { multiplyRows<T, Plain, n.value>(w, e, r, panel, panels); });
}

} // namespace
} // namespace plim

#endif
