//===- kernels/conv/nhwc_transpose_x86.h - conv_transpose.nhwc ----------------------------===//
//
// With kernel = stride the windows of input pixels do not overlap in Y: a pixel of X times the [I, KH * KW * O] filter
// gives the KH x KW pixels of its window, which are then scattered.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_CONV_NHWC_TRANSPOSE_X86_H
#define PLIM_KERNELS_CONV_NHWC_TRANSPOSE_X86_H

#include "kernels/conv/nhwc_transpose_cost.h"
#include "kernels/conv/nhwc_x86.h"
#include "kernels/x86/activation.h"
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

/// Columns [column, column + count) of a panel are channels [channel, ...) of one tap.
struct ScatterPiece {
  int64_t column, count, channel, ky, kx;
};

PLIM_INLINE int64_t pieceOffset(const plim_shape *s, const Geometry &g, const ScatterPiece &piece, int64_t image,
                                int64_t iy, int64_t ix) {
  return image * s->strides[0] + (iy * g.kernelH + piece.ky) * s->strides[1] +
         (ix * g.kernelW + piece.kx) * s->strides[2] + piece.channel;
}

inline void scatterSums(const PanelBlock *block, const float *sums, int64_t run, int64_t row, int64_t rows,
                        int64_t panel) {
  const RowProductUnit &unit = *(const RowProductUnit *)block->context;
  const RowProduct &product = *unit.product;
  const ScatterTarget &target = *(const ScatterTarget *)product.finishContext;
  const Geometry &g = target.g;
  const Activation act = {product.activation, product.activationA, product.activationB};
  const int64_t first = (unit.panel + panel) * kPanel;
  const int64_t columns = product.n - first < kPanel ? product.n - first : kPanel;

  ScatterPiece pieces[kPanel];
  alignas(64) float bias[kPanel] = {};
  int64_t pieceCount = 0;
  for (int64_t column = 0; column < columns;) {
    const int64_t tap = (first + column) / g.outC, channel = (first + column) % g.outC;
    const int64_t left = g.outC - channel, count = left < columns - column ? left : columns - column;
    pieces[pieceCount++] = {column, count, channel, tap / g.kernelW, tap % g.kernelW};
    if (product.bias)
      memcpy(bias + column, product.bias + channel, (size_t)count * sizeof(float));
    column += count;
  }

  // Merging dims keeps their order, so the number of a row is that of its pixel.
  int64_t pixel = (unit.outer * product.space.runs + unit.run + run) * product.space.rows + unit.row + row;
  int64_t ix = pixel % g.inW, iy = pixel / g.inW % g.inH, image = pixel / g.inW / g.inH;
  for (int64_t i = 0; i < rows; ++i) {
    alignas(64) float values[kPanel] = {};
    if (product.residual)
      for (int64_t p = 0; p < pieceCount; ++p)
        memcpy(values + pieces[p].column, product.residual + pieceOffset(target.residual, g, pieces[p], image, iy, ix),
               (size_t)pieces[p].count * sizeof(float));
    for (int64_t column = 0; column < columns; column += kLanes) {
      const Vector x = load(sums + i * kPanel + column) + load(bias + column) + load(values + column);
      store(values + column, activate(x, act));
    }
    for (int64_t p = 0; p < pieceCount; ++p) {
      float *y = product.c + pieceOffset(target.y, g, pieces[p], image, iy, ix);
      if (pieces[p].count == 1)
        *y = values[pieces[p].column];
      else
        for (int64_t at = 0; at < pieces[p].count; at += kLanes) {
          const LaneMask lanes = firstLanes(pieces[p].count - at);
          store(y + at, load(values + pieces[p].column + at, lanes), lanes);
        }
    }
    if (++ix == g.inW) {
      ix = 0;
      if (++iy == g.inH)
        iy = 0, ++image;
    }
  }
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
