//===- kernels/conv/nhwc_transpose_rows_x86.h - Transposed convolution as products of rows -===//
//
// With kernel = stride, the KW * O floats that a pixel of X gives to one row of Y follow those of the pixel before it:
// for each kernel row, a row of X times KW * O columns of the filter is a row of Y, stored where it belongs.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_CONV_NHWC_TRANSPOSE_ROWS_X86_H
#define PLIM_KERNELS_CONV_NHWC_TRANSPOSE_ROWS_X86_H

#include "kernels/conv/nhwc_transpose_cost.h"
#include "kernels/conv/nhwc_x86.h"
#include "kernels/x86/activation.h"
#include "kernels/x86/pack_panels.h"
#include "kernels/x86/panel_block.h"

namespace plim {
namespace {

struct TransposedRows {
  Geometry g;
  const plim_shape *x, *y, *r;                   // r: the residual, or y
  const float *xData, *filter, *bias, *residual; // bias and residual may be null
  float *yData;
  Activation act;
  int64_t columns; // that one kernel row has

  explicit TransposedRows(const plim_launch *launch) : g(launch) {
    const int64_t flags = plim_attr_int(launch->attrs, PLIM_CONV_FLAGS);
    const uint32_t at = flags & PLIM_EPILOGUE_BIAS ? 3 : 2, last = launch->operands - 1;
    x = launch->shape[0];
    y = launch->shape[last];
    r = flags & PLIM_EPILOGUE_RESIDUAL ? launch->shape[at] : y;
    xData = (const float *)launch->buf[0];
    filter = (const float *)launch->buf[1];
    bias = flags & PLIM_EPILOGUE_BIAS ? (const float *)launch->buf[2] : nullptr;
    residual = flags & PLIM_EPILOGUE_RESIDUAL ? (const float *)launch->buf[at] : nullptr;
    yData = (float *)launch->buf[last];
    act = {(plim_activation)plim_attr_int(launch->attrs, PLIM_CONV_ACTIVATION),
           (float)plim_attr_double(launch->attrs, PLIM_CONV_ACT_A),
           (float)plim_attr_double(launch->attrs, PLIM_CONV_ACT_B)};
    columns = g.kernelW * g.outC;
  }
  /// Whether the pixels of Y and of the residual adjoin.
  bool pixelsAdjoin() const { return y->strides[2] == g.outC && r->strides[2] == g.outC; }
  /// Offset of the window of pixel (iy, ix) in kernel row ky, in Y or the residual.
  int64_t at(const plim_shape *s, int64_t image, int64_t iy, int64_t ky, int64_t ix) const {
    return image * s->strides[0] + (iy * g.kernelH + ky) * s->strides[1] + ix * g.kernelW * s->strides[2];
  }
};

/// Columns [first, first + count) of kernel row ky, all of one panel and a whole number of vectors from its start.
inline void multiplyColumns(const TransposedRows &t, PanelBlock &block, int64_t image, int64_t iy, int64_t ky,
                            int64_t ix, int64_t first, int64_t count) {
  alignas(64) float bias[kPanel];
  const int64_t column = ky * t.columns + first;
  if (t.bias)
    for (int64_t i = 0; i < count; ++i)
      bias[i] = t.bias[(first + i) % t.g.outC];
  block.bias = t.bias ? bias : nullptr;
  block.b = t.filter + column / kPanel * block.bPanel + column % kPanel;
  block.columns = count;
  block.c = t.yData + t.at(t.y, image, iy, ky, ix) + first;
  block.residual = t.residual ? t.residual + t.at(t.r, image, iy, ky, ix) + first : nullptr;
  PLIM_PANEL_BLOCK(&block);
}

/// Rows [first, last) of X, counted over all images, where columns is a multiple of 16.
inline void transposeByPanels(const TransposedRows &t, int64_t first, int64_t last) {
  const Geometry &g = t.g;
  const Tap tap = {0, 0};
  PanelBlock block = {};
  block.aRow = t.x->strides[2];
  block.runs = 1;
  block.taps = &tap;
  block.tapCount = 1;
  block.depth = block.depthBlock = g.inC;
  block.bPanel = g.inC * kPanel;
  block.panelCount = 1;
  block.cRow = g.kernelW * t.y->strides[2];
  block.residualRow = g.kernelW * t.r->strides[2];
  block.activation = t.act.kind;
  block.activationA = t.act.a;
  block.activationB = t.act.b;
  for (int64_t row = first; row < last; ++row) {
    const int64_t image = row / g.inH, iy = row % g.inH;
    for (int64_t ix = 0; ix < g.inW; ix += PLIM_TRANSPOSE_PIXELS) {
      block.rows = g.inW - ix < PLIM_TRANSPOSE_PIXELS ? g.inW - ix : PLIM_TRANSPOSE_PIXELS;
      block.a = t.xData + image * t.x->strides[0] + iy * t.x->strides[1] + ix * t.x->strides[2];
      for (int64_t ky = 0; ky < g.kernelH; ++ky)
        for (int64_t column = 0; column < t.columns;) {
          const int64_t room = kPanel - (ky * t.columns + column) % kPanel, left = t.columns - column;
          const int64_t count = left < room ? left : room;
          multiplyColumns(t, block, image, iy, ky, ix, column, count);
          column += count;
        }
    }
  }
}

/// sums[column][pixel] += x[pixel][channel] * filter[channel][column] for kLanes pixels and `columns` columns.
PLIM_INLINE void addChannels(float *sums, const float *x, int64_t xPixel, int64_t pixels, const float *filter,
                             int64_t channels, int64_t columns) {
  constexpr int kTogether = 4; // columns
  alignas(64) float transposed[PLIM_TRANSPOSE_CHANNELS * kLanes];
  for (int64_t channel = 0; channel < channels; channel += kLanes) {
    for (int64_t pixel = 2 * kLanes; pixel < 3 * kLanes; ++pixel) // of the block after next
      _mm_prefetch((const char *)(x + pixel * xPixel + channel), _MM_HINT_T0);
    if (pixels == kLanes && channel + kLanes <= channels) {
      transposeSquare(transposed + channel * kLanes, kLanes, x + channel, xPixel);
      continue;
    }
    if (pixels == kLanes) {
      transposeSquare<true>(transposed + channel * kLanes, kLanes, x + channel, xPixel, firstLanes(channels - channel));
      continue;
    }
    for (int64_t i = channel; i < channel + kLanes && i < channels; ++i)
      for (int64_t pixel = 0; pixel < kLanes; ++pixel)
        transposed[i * kLanes + pixel] = pixel < pixels ? x[pixel * xPixel + i] : 0.0f;
  }
  for (int64_t column = 0; column < columns; column += kTogether) {
    Vector sum[kTogether];
#pragma clang loop unroll(full)
    for (int c = 0; c < kTogether; ++c)
      sum[c] = load(sums + (column + c) * kLanes);
    for (int64_t i = 0; i < channels; ++i) {
      const Vector value = load(transposed + i * kLanes);
#pragma clang loop unroll(full)
      for (int c = 0; c < kTogether; ++c)
        sum[c] = fma(value, broadcast(filter[i * kPanel + column + c]), sum[c]);
    }
#pragma clang loop unroll(full)
    for (int c = 0; c < kTogether; ++c)
      store(sums + (column + c) * kLanes, sum[c]);
  }
}

/// Rows [first, last) of X where one panel holds the whole filter: lanes are pixels, so that none stands idle.
inline void transposeByPixels(const TransposedRows &t, int64_t first, int64_t last) {
  const Geometry &g = t.g;
  const int64_t columns = g.kernelH * t.columns;
  alignas(64) float sums[kPanel * kLanes];
  for (int64_t row = first; row < last; ++row) {
    const int64_t image = row / g.inH, iy = row % g.inH;
    for (int64_t ix = 0; ix < g.inW; ix += kLanes) {
      const int64_t pixels = g.inW - ix < kLanes ? g.inW - ix : kLanes;
      const float *x = t.xData + image * t.x->strides[0] + iy * t.x->strides[1] + ix * t.x->strides[2];
      memset(sums, 0, sizeof sums);
      for (int64_t channel = 0; channel < g.inC; channel += PLIM_TRANSPOSE_CHANNELS) {
        const int64_t left = g.inC - channel;
        addChannels(sums, x + channel, t.x->strides[2], pixels, t.filter + channel * kPanel,
                    left < PLIM_TRANSPOSE_CHANNELS ? left : PLIM_TRANSPOSE_CHANNELS, columns);
      }
      for (int64_t column = 0; column < columns; ++column) {
        float *sum = sums + column * kLanes;
        const Vector biased = load(sum) + broadcast(t.bias ? t.bias[column % g.outC] : 0.0f);
        store(sum, t.residual ? biased : activate(biased, t.act));
      }
      for (int64_t ky = 0; t.residual && ky < g.kernelH; ++ky) {
        const float *from = t.residual + t.at(t.r, image, iy, ky, ix);
        for (int64_t column = 0; column < t.columns; ++column) {
          float *sum = sums + (ky * t.columns + column) * kLanes;
          for (int64_t pixel = 0; pixel < pixels; ++pixel)
            sum[pixel] += from[pixel * t.columns + column];
          store(sum, activate(load(sum), t.act));
        }
      }
      for (int64_t ky = 0; ky < g.kernelH; ++ky) {
        float *to = t.yData + t.at(t.y, image, iy, ky, ix);
        const float *sum = sums + ky * t.columns * kLanes;
        for (int64_t pixel = 0; pixel < pixels; ++pixel)
          for (int64_t column = 0; column < t.columns; ++column)
            to[pixel * t.columns + column] = sum[column * kLanes + pixel];
      }
    }
  }
}

} // namespace
} // namespace plim

#endif
