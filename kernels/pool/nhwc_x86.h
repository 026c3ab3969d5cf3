//===- kernels/pool/nhwc_x86.h - pool.nhwc_max and pool.nhwc_average ----------------------===//
//
// Lanes are channels; a pixel takes a few vectors of channels at a time through its window. Averages add their taps in
// row-major order, in float.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_POOL_NHWC_X86_H
#define PLIM_KERNELS_POOL_NHWC_X86_H

#include "kernels/conv/nhwc_x86.h"
#include "kernels/pool/nhwc_cost.h"
#include "kernels/x86/vector.h"

namespace plim {
namespace {

/// Vectors of channels in flight: enough to hide the latency of an add.
constexpr int kPoolVectors = 4;

/// What one pixel of Y reads.
struct PoolWindow {
  const float *x; // tap (0, 0); may lie outside
  int64_t xTapRow, xTapColumn;
  TapRange rows, columns;
  float divisor; // of an average
};

template <bool Average, int Vectors, bool Tail>
PLIM_INLINE void poolChannels(const PoolWindow &window, float *y, int64_t channel, LaneMask lanes) {
  Vector result[Vectors];
  for (Vector &r : result)
    r = broadcast(Average ? 0.0f : -__builtin_inff());
  for (int64_t ky = window.rows.first; ky < window.rows.last; ++ky)
    for (int64_t kx = window.columns.first; kx < window.columns.last; ++kx) {
      const float *x = window.x + ky * window.xTapRow + kx * window.xTapColumn + channel;
#pragma clang loop unroll(full)
      for (int v = 0; v < Vectors; ++v) {
        const Vector value = Tail ? load(x + v * kLanes, lanes) : load(x + v * kLanes);
        result[v] = Average ? result[v] + value : maxOrNan(result[v], value);
      }
    }
#pragma clang loop unroll(full)
  for (int v = 0; v < Vectors; ++v) {
    const Vector r = Average ? result[v] / broadcast(window.divisor) : result[v];
    Tail ? store(y + channel + v * kLanes, r, lanes) : store(y + channel + v * kLanes, r);
  }
}

template <bool Average> PLIM_INLINE void poolPixel(const PoolWindow &window, float *y, int64_t channels) {
  int64_t channel = 0;
  for (; channel + kPoolVectors * kLanes <= channels; channel += kPoolVectors * kLanes)
    poolChannels<Average, kPoolVectors, false>(window, y, channel, firstLanes(kLanes));
  for (; channel + kLanes <= channels; channel += kLanes)
    poolChannels<Average, 1, false>(window, y, channel, firstLanes(kLanes));
  if (channel < channels)
    poolChannels<Average, 1, true>(window, y, channel, firstLanes(channels - channel));
}

/// Taps of a window that lie inside the image or its padding, which ends `padEnd` after the image.
inline int64_t tapsInPadding(int64_t start, int64_t kernel, int64_t dilation, int64_t size, int64_t padEnd) {
  const int64_t room = size + padEnd - start;
  const int64_t taps = room <= 0 ? 0 : (room - 1) / dilation + 1;
  return taps < kernel ? taps : kernel;
}

template <bool Average> inline int32_t runPool(const plim_launch *launch, uint32_t first, uint32_t last) {
  const plim_shape *xs = launch->shape[0], *ys = launch->shape[1];
  if (launch->operands != 2 || xs->rank != 4 || xs->dims[3] != ys->dims[3] || !areDenseFloats(launch, UINT32_MAX) ||
      plim_attr_int(launch->attrs, PLIM_POOL_LAYOUT) != PLIM_CONV_NHWC)
    return PLIM_KERNEL_UNSUPPORTED;
  const Geometry g(launch, PLIM_POOL_KERNEL, PLIM_POOL_STRIDE, PLIM_POOL_DILATION, PLIM_POOL_PAD);
  const bool countPad = plim_attr_int(launch->attrs, PLIM_POOL_COUNT_INCLUDE_PAD) != 0;
  const int64_t padEndH = plim_attr_int(launch->attrs, PLIM_POOL_PAD_END);
  const int64_t padEndW = plim_attr_int(launch->attrs, PLIM_POOL_PAD_END + 1);
  PoolWindow window = {};
  window.xTapRow = g.dilationH * xs->strides[1];
  window.xTapColumn = g.dilationW * xs->strides[2];

  const int64_t units = g.images * g.outH, end = units * last / launch->tasks;
  for (int64_t unit = units * first / launch->tasks; unit < end; ++unit) {
    const int64_t image = unit / g.outH, oy = unit % g.outH, iy = oy * g.strideH - g.padH;
    const float *x = (const float *)launch->buf[0] + image * xs->strides[0] + iy * xs->strides[1];
    float *y = (float *)launch->buf[1] + image * ys->strides[0] + oy * ys->strides[1];
    window.rows = tapsInside(iy, g.kernelH, g.dilationH, g.inH);
    const int64_t countH =
        countPad ? tapsInPadding(iy, g.kernelH, g.dilationH, g.inH, padEndH) : window.rows.last - window.rows.first;
    for (int64_t ox = 0; ox < g.outW; ++ox) {
      const int64_t ix = ox * g.strideW - g.padW;
      window.x = x + ix * xs->strides[2];
      window.columns = tapsInside(ix, g.kernelW, g.dilationW, g.inW);
      const int64_t countW = countPad ? tapsInPadding(ix, g.kernelW, g.dilationW, g.inW, padEndW)
                                      : window.columns.last - window.columns.first;
      window.divisor = countH * countW > 0 ? (float)(countH * countW) : 1.0f;
      poolPixel<Average>(window, y + ox * ys->strides[2], g.outC);
    }
  }
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
