//===- kernels/conv/nhwc_depthwise_x86.h - conv.nhwc_depthwise ----------------------------===//
//
// Lanes are channels. A block of rows and pixels of Y shares the loads of the input that the windows have in common, so
// that an input row comes from the second-level cache once for several rows of Y. Rows at the upper and lower border
// are computed alone; pixels at the left and right border, and those of kernels without a shape of their own, one by
// one, several vectors of channels at a time. Taps outside the image are skipped. A sum always takes its taps in the
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

/// Pixels of one row whose sums stay in registers, with the inputs and the weights of one kernel row.
constexpr int kPixelsLog2 = kLanes == 16 ? 3 : 2;
/// Rows and pixels of a block of several rows.
template <int Stride> constexpr int kBlockRows = kLanes == 16 && Stride == 1 ? 4 : 2;
constexpr int kBlockPixelsLog2 = 2;
/// With AVX-512 a masked load costs no more than another, so that one loop does for all channels.
constexpr bool kMasksAreFree = kLanes == 16;
/// Vectors of channels of a pixel that is computed alone: enough chains of fma to hide their latency.
constexpr int kChannelVectors = 4;

/// A row of Y, or the first of a block, and the input row of its first tap.
struct DepthwiseRow {
  Geometry g;
  const float *x = nullptr; // tap (0, 0) of output pixel 0; may lie outside
  int64_t xRow = 0, xPixel = 0;
  const float *w = nullptr;
  int64_t wRow = 0, wTap = 0;
  TapRange rows = {}; // taps in y that lie inside
  const float *bias = nullptr, *residual = nullptr;
  int64_t residualRow = 0, residualPixel = 0;
  float *y = nullptr;
  int64_t yRow = 0, yPixel = 0;
  Activation act = {};

  explicit DepthwiseRow(const plim_launch *launch) : g(launch) {}
};

/// The rest of the epilogue for activations that are too long to repeat for every pixel of a block.
__attribute__((noinline)) inline void finishLong(const DepthwiseRow &row, int64_t rows, int64_t pixel, int64_t pixels,
                                                 int64_t channel, LaneMask lanes) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < pixels; ++i) {
      float *y = row.y + r * row.yRow + (pixel + i) * row.yPixel + channel;
      store(y, activate(load(y, lanes), row.act), lanes);
    }
}

/// Epilogue of a block of sums. What to do is asked once a block, not once a pixel.
template <int Rows, int Count, bool Tail>
PLIM_INLINE void storeSums(const DepthwiseRow &row, Vector (&sum)[Rows][Count], int64_t pixel, int64_t channel,
                           LaneMask lanes) {
  const auto forAll = [&](auto function) __attribute__((always_inline)) {
#pragma clang loop unroll(full)
    for (int r = 0; r < Rows; ++r)
#pragma clang loop unroll(full)
      for (int i = 0; i < Count; ++i)
        function(r, i);
  };
  if (row.bias) {
    const Vector bias = Tail ? load(row.bias + channel, lanes) : load(row.bias + channel);
    forAll([&](int r, int i) __attribute__((always_inline)) { sum[r][i] = sum[r][i] + bias; });
  }
  if (row.residual) {
    const float *residual = row.residual + pixel * row.residualPixel + channel;
    const int64_t down = row.residualRow, right = row.residualPixel;
    forAll([&](int r, int i) __attribute__((always_inline)) {
      const float *p = residual + r * down + i * right;
      sum[r][i] = sum[r][i] + (Tail ? load(p, lanes) : load(p));
    });
  }
  const bool isHardSwish = row.act.kind == PLIM_ACT_HARD_SWISH, isLong = !isHardSwish && !isClamp(row.act.kind);
  if (isHardSwish) {
    forAll([&](int r, int i) __attribute__((always_inline)) { sum[r][i] = hardSwish(sum[r][i]); });
  } else if (!isLong) {
    const Vector lower = broadcast(clampLower(row.act)), upper = broadcast(clampUpper(row.act));
    forAll([&](int r, int i) __attribute__((always_inline)) { sum[r][i] = clamp(sum[r][i], lower, upper); });
  }
  float *y = row.y + pixel * row.yPixel + channel;
  const int64_t down = row.yRow, right = row.yPixel;
  forAll([&](int r, int i) __attribute__((always_inline)) {
    float *p = y + r * down + i * right;
    Tail ? store(p, sum[r][i], lanes) : store(p, sum[r][i]);
  });
  if (isLong)
    finishLong(row, Rows, pixel, Count, channel, lanes);
}

/// Pixels [pixel, pixel + Count), whose windows lie inside in x, for one vector of channels.
template <int Kernel, int Stride, int Count, bool Tail>
PLIM_INLINE void sumPixels(const DepthwiseRow &row, int64_t pixel, int64_t channel, LaneMask lanes) {
  Vector sum[1][Count];
#pragma clang loop unroll(full)
  for (int i = 0; i < Count; ++i)
    sum[0][i] = zero();
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
          sum[0][(at - k) / Stride] = fma(value, w[k], sum[0][(at - k) / Stride]);
    }
  }
  storeSums<1, Count, Tail>(row, sum, pixel, channel, lanes);
}

/// The same rows further down.
PLIM_INLINE DepthwiseRow below(const DepthwiseRow &row, int64_t rows) {
  DepthwiseRow moved = row;
  moved.x += rows * row.g.strideH * row.xRow;
  moved.y += rows * row.yRow;
  if (row.residual)
    moved.residual += rows * row.residualRow;
  return moved;
}

/// As sumPixels, for Rows rows whose windows lie inside in y too; no dilation, strides equal.
template <int Kernel, int Stride, int Rows, int Count, bool Tail>
PLIM_INLINE void sumBlock(const DepthwiseRow &row, int64_t pixel, int64_t channel, LaneMask lanes) {
  Vector sum[Rows][Count];
#pragma clang loop unroll(full)
  for (int r = 0; r < Rows; ++r)
#pragma clang loop unroll(full)
    for (int i = 0; i < Count; ++i)
      sum[r][i] = zero();
  const int64_t xRow = row.xRow, xPixel = row.xPixel, wRow = row.wRow, wTap = row.wTap;
  const float *x = row.x + pixel * Stride * xPixel + channel;
  const float *w = row.w + channel;
#pragma clang loop unroll(full)
  for (int at = 0; at < (Rows - 1) * Stride + Kernel; ++at) {
    constexpr int Inputs = (Count - 1) * Stride + Kernel;
    Vector value[Inputs];
#pragma clang loop unroll(full)
    for (int i = 0; i < Inputs; ++i)
      value[i] = Tail ? load(x + i * xPixel, lanes) : load(x + i * xPixel);
    x += xRow;
#pragma clang loop unroll(full)
    for (int r = 0; r < Rows; ++r) {
      const int tap = at - r * Stride;
      if (tap < 0 || tap >= Kernel)
        continue;
      const float *p = w + tap * wRow;
#pragma clang loop unroll(full)
      for (int k = 0; k < Kernel; ++k) {
        const Vector weight = Tail ? load(p + k * wTap, lanes) : load(p + k * wTap);
#pragma clang loop unroll(full)
        for (int i = 0; i < Count; ++i)
          sum[r][i] = fma(value[i * Stride + k], weight, sum[r][i]);
      }
    }
  }
  storeSums<Rows, Count, Tail>(row, sum, pixel, channel, lanes);
}

/// `pieces` times Count pixels from `pixel` on.
template <int Kernel, int Stride, int Count>
void computeBlocks(const DepthwiseRow &given, int64_t pixel, int64_t pieces) {
  const DepthwiseRow row = given; // stores to Y could change `given`, for all that the compiler knows
  for (int64_t i = 0; i < pieces; ++i, pixel += Count) {
    int64_t channel = 0;
    if constexpr (!kMasksAreFree)
      for (; channel + kLanes <= row.g.outC; channel += kLanes)
        sumBlock<Kernel, Stride, kBlockRows<Stride>, Count, false>(row, pixel, channel, firstLanes(kLanes));
    for (; channel < row.g.outC; channel += kLanes)
      sumBlock<Kernel, Stride, kBlockRows<Stride>, Count, true>(row, pixel, channel, firstLanes(row.g.outC - channel));
  }
}

template <int Kernel, int Stride, int Count>
void computePixels(const DepthwiseRow &given, int64_t pixel, int64_t pieces) {
  const DepthwiseRow row = given;
  for (int64_t i = 0; i < pieces; ++i, pixel += Count) {
    int64_t channel = 0;
    if constexpr (!kMasksAreFree)
      for (; channel + kLanes <= row.g.outC; channel += kLanes)
        sumPixels<Kernel, Stride, Count, false>(row, pixel, channel, firstLanes(kLanes));
    for (; channel < row.g.outC; channel += kLanes)
      sumPixels<Kernel, Stride, Count, true>(row, pixel, channel, firstLanes(row.g.outC - channel));
  }
}

using PixelsFunction = void (*)(const DepthwiseRow &, int64_t pixel, int64_t pieces);

template <int Kernel, int Stride, int... Index>
PLIM_INLINE const PixelsFunction *rowFunctions(std::integer_sequence<int, Index...>) {
  static constexpr PixelsFunction functions[] = {computePixels<Kernel, Stride, 1 << Index>...};
  return functions;
}
template <int Kernel, int Stride, int... Index>
PLIM_INLINE const PixelsFunction *blockFunctions(std::integer_sequence<int, Index...>) {
  static constexpr PixelsFunction functions[] = {computeBlocks<Kernel, Stride, 1 << Index>...};
  return functions;
}

/// Functions for 1, 2, 4, ... pixels; null for kernels without a shape of their own.
struct DepthwiseShape {
  const PixelsFunction *row = nullptr, *block = nullptr;
  int64_t blockRows = 1;
};

template <int Kernel, int Stride> inline DepthwiseShape shapeOf() {
  return {rowFunctions<Kernel, Stride>(std::make_integer_sequence<int, kPixelsLog2 + 1>()),
          blockFunctions<Kernel, Stride>(std::make_integer_sequence<int, kBlockPixelsLog2 + 1>()), kBlockRows<Stride>};
}

inline DepthwiseShape pickShape(const Geometry &g) {
  DepthwiseShape shape;
  if (g.dilationW == 1 && g.strideW <= 2 && g.kernelW == 3)
    shape = g.strideW == 1 ? shapeOf<3, 1>() : shapeOf<3, 2>();
  if (g.dilationW == 1 && g.strideW <= 2 && g.kernelW == 5)
    shape = g.strideW == 1 ? shapeOf<5, 1>() : shapeOf<5, 2>();
  if (g.dilationH != 1 || g.strideH != g.strideW || g.kernelH != g.kernelW)
    shape.block = nullptr;
  return shape;
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
    Vector one[1][1] = {{sum[v]}};
    storeSums<1, 1, Tail>(row, one, pixel, channel + v * kLanes, lanes);
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

/// `rows` rows: one, or as many as the shape's block has.
static inline void computeRows(const DepthwiseRow &row, const DepthwiseShape &shape, int64_t rows) {
  const Geometry &g = row.g;
  // Pixels [begin, end) have all their taps in x inside.
  int64_t begin = 0, end = 0;
  if (shape.row) {
    const int64_t reach = g.inW + g.padW - (g.kernelW - 1);
    begin = (g.padW + g.strideW - 1) / g.strideW;
    begin = begin < g.outW ? begin : g.outW;
    end = reach <= 0 ? 0 : (reach + g.strideW - 1) / g.strideW;
    end = end < g.outW ? end : g.outW;
    end = end < begin ? begin : end;
  }
  for (int64_t r = 0; r < rows; ++r) {
    const DepthwiseRow line = below(row, r);
    for (int64_t pixel = 0; pixel < begin; ++pixel)
      computePixel(line, pixel);
    for (int64_t pixel = end; pixel < g.outW; ++pixel)
      computePixel(line, pixel);
  }
  const PixelsFunction *functions = rows > 1 ? shape.block : shape.row;
  for (int log2 = rows > 1 ? kBlockPixelsLog2 : kPixelsLog2; begin < end; --log2) {
    const int64_t pieces = (end - begin) >> log2;
    if (pieces)
      functions[log2](row, begin, pieces);
    begin += pieces << log2;
  }
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
  row.residualRow = rs->strides[1];
  row.residualPixel = rs->strides[2];
  row.yRow = ys->strides[1];
  row.yPixel = ys->strides[2];
  row.act = {(plim_activation)plim_attr_int(launch->attrs, PLIM_CONV_ACTIVATION),
             (float)plim_attr_double(launch->attrs, PLIM_CONV_ACT_A),
             (float)plim_attr_double(launch->attrs, PLIM_CONV_ACT_B)};
  const DepthwiseShape tuned = pickShape(g);
  const int64_t units = g.images * g.outH, end = units * last / launch->tasks;
  for (int64_t unit = units * first / launch->tasks; unit < end;) {
    const int64_t image = unit / g.outH, oy = unit % g.outH, iy = oy * g.strideH - g.padH;
    row.x = (const float *)launch->buf[0] + image * xs->strides[0] + iy * row.xRow - g.padW * row.xPixel;
    row.rows = tapsInside(iy, g.kernelH, g.dilationH, g.inH);
    row.y = (float *)launch->buf[y] + image * ys->strides[0] + oy * ys->strides[1];
    row.residual =
        hasResidual ? (const float *)launch->buf[residual] + image * rs->strides[0] + oy * rs->strides[1] : nullptr;
    const int64_t windowsEnd = iy + (tuned.blockRows - 1) * g.strideH + g.kernelH;
    const bool isBlock = tuned.block && unit + tuned.blockRows <= end && oy + tuned.blockRows <= g.outH && iy >= 0 &&
                         windowsEnd <= g.inH;
    const int64_t rows = isBlock ? tuned.blockRows : 1;
    computeRows(row, tuned, rows);
    unit += rows;
  }
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
