//===- kernels/conv/nhwc_transpose_x86.h - conv_transpose.nhwc ----------------------------===//
//
// With kernel = stride the windows of input pixels do not overlap in Y: a pixel of X times the [I, KH * KW * O] filter
// gives the KH x KW pixels of its window. Where they cannot be stored as they come, they are scattered.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_CONV_NHWC_TRANSPOSE_X86_H
#define PLIM_KERNELS_CONV_NHWC_TRANSPOSE_X86_H

#include "kernels/conv/nhwc_transpose_rows_x86.h"
#include "kernels/x86/row_product.h"

#include <string.h>

namespace plim {
namespace {

/// Y and the residual, as far as scattering needs them.
struct ScatterTarget {
  Geometry g;
  const plim_shape *y, *residual;

  explicit ScatterTarget(const plim_launch *launch) : g(launch), y(nullptr), residual(nullptr) {}
};

/// Columns [column, column + count) of a panel lie side by side in Y: channels of one tap, or of neighbouring taps
/// where pixels adjoin. Offsets from the first pixel of a window.
struct ScatterPiece {
  int64_t column, count, y, residual;
};

/// The pieces of a panel whose first column is column `first` of the filter. Returns how many.
inline int64_t setPieces(const ScatterTarget &target, int64_t first, int64_t columns, ScatterPiece *pieces) {
  const Geometry &g = target.g;
  const plim_shape *y = target.y, *residual = target.residual ? target.residual : target.y;
  const int64_t tap = first / g.outC;
  int64_t channel = first % g.outC, ky = tap / g.kernelW, kx = tap % g.kernelW, count = 0;
  for (int64_t column = 0; column < columns;) {
    const int64_t left = g.outC - channel, length = left < columns - column ? left : columns - column;
    const ScatterPiece piece = {column, length, ky * y->strides[1] + kx * y->strides[2] + channel,
                                ky * residual->strides[1] + kx * residual->strides[2] + channel};
    ScatterPiece *before = count ? &pieces[count - 1] : nullptr;
    if (before && piece.y == before->y + before->count && piece.residual == before->residual + before->count)
      before->count += length;
    else
      pieces[count++] = piece;
    column += length;
    channel = 0;
    if (++kx == g.kernelW)
      kx = 0, ++ky;
  }
  return count;
}

PLIM_INLINE void copyFloats(float *to, const float *from, int64_t count) {
  if (count == 1)
    *to = *from;
  else if (count == 2)
    memcpy(to, from, 2 * sizeof(float));
  else
    for (int64_t at = 0; at < count; at += kLanes) {
      const LaneMask lanes = firstLanes(count - at);
      store(to + at, load(from + at, lanes), lanes);
    }
}

/// Calls function(i, offset) for `rows` pixels of X from number `pixel` on; their windows start at that offset of `s`.
template <typename Function>
PLIM_INLINE void forWindows(const Geometry &g, const plim_shape *s, int64_t pixel, int64_t rows, Function function) {
  int64_t ix = pixel % g.inW, line = pixel / g.inW;
  const int64_t step = g.kernelW * s->strides[2];
  for (int64_t i = 0; i < rows; ix = 0, ++line) {
    int64_t offset = line / g.inH * s->strides[0] + line % g.inH * g.kernelH * s->strides[1] + ix * step;
    for (; ix < g.inW && i < rows; ++ix, ++i, offset += step)
      function(i, offset);
  }
}

inline void scatterSums(const PanelBlock *block, const float *sums, int64_t run, int64_t row, int64_t rows,
                        int64_t panel) {
  const RowProductUnit &unit = *(const RowProductUnit *)block->context;
  const RowProduct &product = *unit.product;
  const ScatterTarget &target = *(const ScatterTarget *)product.finishContext;
  const Geometry &g = target.g;
  const Activation act = {product.activation, product.activationA, product.activationB};
  const int64_t first = (unit.at.panel + panel) * kPanel;
  const int64_t columns = product.n - first < kPanel ? product.n - first : kPanel;
  // Merging dims keeps their order, so the number of a row is that of its pixel.
  const int64_t pixel =
      (unit.at.outer * product.space.runs + unit.at.run + run) * product.space.rows + unit.at.row + row;
  ScatterPiece pieces[kPanel];
  const int64_t pieceCount = setPieces(target, first, columns, pieces);

  alignas(64) float bias[kPanel] = {};
  if (product.bias)
    for (int64_t column = 0, channel = first % g.outC; column < columns; ++column) {
      bias[column] = product.bias[channel];
      channel = channel + 1 == g.outC ? 0 : channel + 1;
    }

  // Rows of few columns are packed, so that the activation has full vectors; the store of a row overlaps the next ones.
  alignas(64) float values[(kTileRowsMax + 1) * kPanel];
  const int64_t pitch = columns <= kLanes / 2 ? columns : kPanel;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t column = 0; column < columns; column += kLanes)
      store(values + i * pitch + column, load(sums + i * kPanel + column) + load(bias + column));
  if (product.residual)
    forWindows(g, target.residual, pixel, rows, [&](int64_t i, int64_t offset) {
      for (int64_t p = 0; p < pieceCount; ++p)
        for (int64_t at = 0; at < pieces[p].count; ++at)
          values[i * pitch + pieces[p].column + at] += product.residual[offset + pieces[p].residual + at];
    });
  for (int64_t at = 0; at < rows * pitch; at += kLanes)
    store(values + at, activate(load(values + at), act));
  forWindows(g, target.y, pixel, rows, [&](int64_t i, int64_t offset) {
    for (int64_t p = 0; p < pieceCount; ++p)
      copyFloats(product.c + offset + pieces[p].y, values + i * pitch + pieces[p].column, pieces[p].count);
  });
}

inline int32_t runConvTranspose(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  const plim_shape *const *shape = launch->shape;
  const bool hasResidual = plim_attr_int(launch->attrs, PLIM_CONV_FLAGS) & PLIM_EPILOGUE_RESIDUAL;
  const uint32_t y = launch->operands - 1;
  ScatterTarget target(launch);
  const Geometry &g = target.g;
  if (!takesImages(launch, PLIM_CONV_FILTER_COLUMNS) || g.kernelH != g.strideH || g.kernelW != g.strideW ||
      g.dilationH != 1 || g.dilationW != 1 || g.padH || g.padW || g.outH != g.inH * g.kernelH ||
      g.outW != g.inW * g.kernelW)
    return PLIM_KERNEL_UNSUPPORTED;
  const TransposedRows rows(launch);
  const int64_t xRows = g.images * g.inH, begin = xRows * first / launch->tasks, end = xRows * last / launch->tasks;
  if (rows.pixelsAdjoin() && g.kernelH * rows.columns <= PLIM_TRANSPOSE_COLUMNS) {
    transposeByPixels(rows, begin, end);
    return PLIM_KERNEL_OK;
  }
  if (rows.pixelsAdjoin() && rows.columns % 16 == 0 && g.inC <= PLIM_PANEL_DEPTH_WHOLE) {
    transposeByPanels(rows, begin, end);
    return PLIM_KERNEL_OK;
  }
  target.y = shape[y];
  target.residual = hasResidual ? shape[y - 1] : nullptr;

  RowProduct product = {};
  product.space = plim_conv_transpose_rows(shape[0]);
  product.k = shape[1]->dims[0];
  product.n = shape[1]->dims[1];
  product.a = (const float *)launch->buf[0];
  product.b = (const float *)launch->buf[1];
  product.c = (float *)launch->buf[y];
  setEpilogue(product, launch, PLIM_CONV_FLAGS, PLIM_CONV_ACTIVATION, PLIM_CONV_ACT_A, PLIM_CONV_ACT_B);
  product.finish = scatterSums;
  product.finishContext = &target;
  runRowProduct(product, (float *)scratch, first, last, launch->tasks);
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
