//===- kernels/conv/nhwc_depthwise_x86.h - conv.nhwc_depthwise ----------------------------===//
//
// Lanes are channels. Along a row of Y a few pixels share the loads of the input pixels that their windows have in
// common; at the left and right border, and for kernels without a shape of their own, pixels are computed one by one,
// several vectors of channels at a time. Taps outside the image are skipped. Either way a sum takes its taps in the
// same order.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_CONV_NHWC_DEPTHWISE_X86_H
#define PLIM_KERNELS_CONV_NHWC_DEPTHWISE_X86_H

#include "kernels/conv/nhwc_depthwise_cost.h"
#include "kernels/conv/nhwc_x86.h"
#include "kernels/x86/activation.h"

#include <utility>

namespace plim {
namespace {

/// Pixels whose sums stay in registers, with the inputs and the weights of one kernel row.
constexpr int kPixels = kLanes == 16 ? 8 : 4;
/// Vectors of channels of a pixel that is computed alone: enough chains of fma to hide their latency.
constexpr int kChannelVectors = 4;

/// One row of Y, and of the input the row of the first tap.
struct DepthwiseRow {
  Geometry g;
  const float *x = nullptr; // tap (0, 0) of output pixel 0; may lie outside
  int64_t xRow = 0, xPixel = 0;
  const float *w = nullptr;
  int64_t wRow = 0, wTap = 0;
  TapRange rows = {}; // taps in y that lie inside
  const float *bias = nullptr, *residual = nullptr;
  int64_t residualPixel = 0;
  float *y = nullptr;
  int64_t yPixel = 0;
  Activation act = {};

  explicit DepthwiseRow(const plim_launch *launch) : g(launch) {}
};

PLIM_INLINE Vector finishSum(const DepthwiseRow &row, Vector sum, int64_t pixel, int64_t channel, LaneMask lanes) {
  if (row.bias)
    sum = sum + load(row.bias + channel, lanes);
  if (row.residual)
    sum = sum + load(row.residual + pixel * row.residualPixel + channel, lanes);
  return sum;
}

/// The rest of the epilogue for activations that are too long to repeat for every pixel of a block.
__attribute__((noinline)) inline void finishLong(const DepthwiseRow &row, int64_t pixel, int64_t pixels,
                                                 int64_t channel, LaneMask lanes) {
  for (int64_t i = 0; i < pixels; ++i) {
    float *y = row.y + (pixel + i) * row.yPixel + channel;
    store(y, activate(load(y, lanes), row.act), lanes);
  }
}

template <int Count, bool Tail>
PLIM_INLINE void storeSums(const DepthwiseRow &row, const Vector (&sum)[Count], int64_t pixel, int64_t channel,
                           LaneMask lanes) {
  const bool isLong = !isClamp(row.act.kind) && row.act.kind != PLIM_ACT_HARD_SWISH;
  const Vector lower = broadcast(clampLower(row.act)), upper = broadcast(clampUpper(row.act));
#pragma clang loop unroll(full)
  for (int i = 0; i < Count; ++i) {
    Vector s = finishSum(row, sum[i], pixel + i, channel, lanes);
    s = row.act.kind == PLIM_ACT_HARD_SWISH ? hardSwish(s) : isLong ? s : clamp(s, lower, upper);
    float *y = row.y + (pixel + i) * row.yPixel + channel;
    Tail ? store(y, s, lanes) : store(y, s);
  }
  if (isLong)
    finishLong(row, pixel, Count, channel, lanes);
}

/// Pixels [pixel, pixel + Count), whose windows lie inside in x, for one vector of channels.
template <int Kernel, int Stride, int Count, bool Tail>
PLIM_INLINE void sumPixels(const DepthwiseRow &row, int64_t pixel, int64_t channel, LaneMask lanes) {
  Vector sum[Count];
#pragma clang loop unroll(full)
  for (int i = 0; i < Count; ++i)
    sum[i] = zero();
  const float *x = row.x + pixel * Stride * row.xPixel + channel;
  for (int64_t tap = row.rows.first; tap < row.rows.last; ++tap) {
    const float *xRow = x + tap * row.g.dilationH * row.xRow;
    const float *wRow = row.w + tap * row.wRow + channel;
    Vector w[Kernel];
#pragma clang loop unroll(full)
    for (int k = 0; k < Kernel; ++k)
      w[k] = Tail ? load(wRow + k * row.wTap, lanes) : load(wRow + k * row.wTap);
#pragma clang loop unroll(full)
    for (int at = 0; at < (Count - 1) * Stride + Kernel; ++at) {
      const Vector value = Tail ? load(xRow + at * row.xPixel, lanes) : load(xRow + at * row.xPixel);
#pragma clang loop unroll(full)
      for (int k = 0; k < Kernel; ++k)
        if ((at - k) % Stride == 0 && at >= k && (at - k) / Stride < Count)
          sum[(at - k) / Stride] = fma(value, w[k], sum[(at - k) / Stride]);
    }
  }
  storeSums<Count, Tail>(row, sum, pixel, channel, lanes);
}

template <int Kernel, int Stride, int Count> void computePixels(const DepthwiseRow &row, int64_t pixel) {
  int64_t channel = 0;
  for (; channel + kLanes <= row.g.outC; channel += kLanes)
    sumPixels<Kernel, Stride, Count, false>(row, pixel, channel, firstLanes(kLanes));
  if (channel < row.g.outC)
    sumPixels<Kernel, Stride, Count, true>(row, pixel, channel, firstLanes(row.g.outC - channel));
}

using PixelsFunction = void (*)(const DepthwiseRow &, int64_t pixel);
template <int Kernel, int Stride, int... Index>
PLIM_INLINE PixelsFunction pickOf(int64_t count, std::integer_sequence<int, Index...>) {
  static constexpr PixelsFunction functions[] = {computePixels<Kernel, Stride, Index + 1>...};
  return functions[count - 1];
}
template <int Kernel, int Stride> PixelsFunction pickPixels(int64_t count) {
  return pickOf<Kernel, Stride>(count, std::make_integer_sequence<int, kPixels>());
}

template <int Vectors, bool Tail>
PLIM_INLINE void sumPixel(const DepthwiseRow &row, const TapRange &columns, int64_t pixel, int64_t channel,
                          LaneMask lanes) {
  Vector sum[Vectors];
  for (Vector &s : sum)
    s = zero();
  const float *x = row.x + pixel * row.g.strideW * row.xPixel + channel;
  for (int64_t ky = row.rows.first; ky < row.rows.last; ++ky)
    for (int64_t kx = columns.first; kx < columns.last; ++kx) {
      const float *value = x + ky * row.g.dilationH * row.xRow + kx * row.g.dilationW * row.xPixel;
      const float *w = row.w + ky * row.wRow + kx * row.wTap + channel;
#pragma clang loop unroll(full)
      for (int v = 0; v < Vectors; ++v)
        sum[v] = Tail ? fma(load(value + v * kLanes, lanes), load(w + v * kLanes, lanes), sum[v])
                      : fma(load(value + v * kLanes), load(w + v * kLanes), sum[v]);
    }
  for (int v = 0; v < Vectors; ++v) {
    const Vector one[1] = {sum[v]};
    storeSums<1, Tail>(row, one, pixel, channel + v * kLanes, lanes);
  }
}

/// One pixel with whatever taps lie inside.
static inline void computePixel(const DepthwiseRow &row, int64_t pixel) {
  const Geometry &g = row.g;
  const TapRange columns = tapsInside(pixel * g.strideW - g.padW, g.kernelW, g.dilationW, g.inW);
  int64_t channel = 0;
  for (; channel + kChannelVectors * kLanes <= g.outC; channel += kChannelVectors * kLanes)
    sumPixel<kChannelVectors, false>(row, columns, pixel, channel, firstLanes(kLanes));
  for (; channel + kLanes <= g.outC; channel += kLanes)
    sumPixel<1, false>(row, columns, pixel, channel, firstLanes(kLanes));
  if (channel < g.outC)
    sumPixel<1, true>(row, columns, pixel, channel, firstLanes(g.outC - channel));
}

static inline void computeRow(const DepthwiseRow &row) {
  const Geometry &g = row.g;
  PixelsFunction (*pick)(int64_t) = nullptr;
  if (g.dilationW == 1 && g.kernelW == 3 && g.strideW <= 2)
    pick = g.strideW == 1 ? pickPixels<3, 1> : pickPixels<3, 2>;
  else if (g.dilationW == 1 && g.kernelW == 5 && g.strideW <= 2)
    pick = g.strideW == 1 ? pickPixels<5, 1> : pickPixels<5, 2>;

  // Pixels [begin, end) have all their taps in x inside.
  int64_t begin = 0, end = 0;
  if (pick) {
    const int64_t reach = g.inW + g.padW - (g.kernelW - 1);
    begin = (g.padW + g.strideW - 1) / g.strideW;
    begin = begin < g.outW ? begin : g.outW;
    end = reach <= 0 ? 0 : (reach + g.strideW - 1) / g.strideW;
    end = end < g.outW ? end : g.outW;
    if (end < begin)
      end = begin;
  }
  for (int64_t pixel = 0; pixel < begin; ++pixel)
    computePixel(row, pixel);
  const int64_t count = end - begin, blocks = (count + kPixels - 1) / kPixels;
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t from = begin + count * i / blocks, to = begin + count * (i + 1) / blocks;
    pick(to - from)(row, from);
  }
  for (int64_t pixel = end; pixel < g.outW; ++pixel)
    computePixel(row, pixel);
}

inline int32_t runConvDepthwise(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape *const *shape = launch->shape;
  const int64_t flags = plim_attr_int(launch->attrs, PLIM_CONV_FLAGS);
  const bool hasBias = flags & PLIM_EPILOGUE_BIAS, hasResidual = flags & PLIM_EPILOGUE_RESIDUAL;
  const uint32_t residual = 2 + hasBias, y = launch->operands - 1;
  if (!takesImages(launch, PLIM_CONV_FILTER_DEPTHWISE) || shape[0]->dims[3] != shape[y]->dims[3])
    return PLIM_KERNEL_UNSUPPORTED;
  const plim_shape *xs = shape[0], *ys = shape[y], *rs = hasResidual ? shape[residual] : ys;

  DepthwiseRow row(launch);
  const Geometry &g = row.g;
  row.xRow = xs->strides[1];
  row.xPixel = xs->strides[2];
  row.w = (const float *)launch->buf[1];
  row.wRow = shape[1]->strides[0];
  row.wTap = shape[1]->strides[1];
  row.bias = hasBias ? (const float *)launch->buf[2] : nullptr;
  row.residualPixel = rs->strides[2];
  row.yPixel = ys->strides[2];
  row.act = {(plim_activation)plim_attr_int(launch->attrs, PLIM_CONV_ACTIVATION),
             (float)plim_attr_double(launch->attrs, PLIM_CONV_ACT_A),
             (float)plim_attr_double(launch->attrs, PLIM_CONV_ACT_B)};
  const int64_t units = g.images * g.outH, end = units * last / launch->tasks;
  for (int64_t unit = units * first / launch->tasks; unit < end; ++unit) {
    const int64_t image = unit / g.outH, oy = unit % g.outH, iy = oy * g.strideH - g.padH;
    row.x = (const float *)launch->buf[0] + image * xs->strides[0] + iy * row.xRow - g.padW * row.xPixel;
    row.rows = tapsInside(iy, g.kernelH, g.dilationH, g.inH);
    row.y = (float *)launch->buf[y] + image * ys->strides[0] + oy * ys->strides[1];
    row.residual =
        hasResidual ? (const float *)launch->buf[residual] + image * rs->strides[0] + oy * rs->strides[1] : nullptr;
    computeRow(row);
  }
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
