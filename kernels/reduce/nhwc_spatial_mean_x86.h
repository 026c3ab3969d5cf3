//===- kernels/reduce/nhwc_spatial_mean_x86.h - reduce.nhwc_spatial_mean ------------------===//
#ifndef PLIM_KERNELS_REDUCE_NHWC_SPATIAL_MEAN_X86_H
#define PLIM_KERNELS_REDUCE_NHWC_SPATIAL_MEAN_X86_H

#include "kernels/reduce/nhwc_spatial_mean_cost.h"
#include "kernels/status.h"
#include "kernels/x86/operands.h"
#include "kernels/x86/vector.h"

namespace plim {
namespace {

/// Sums of one channel that go on side by side, to hide the latency of an add: pixel p of a piece goes to sum p % 4.
constexpr int kSideBySide = 4;

template <bool Tail>
PLIM_INLINE void sumPiece(const plim_shape *shape, const float *x, int64_t pixel, int64_t end, float *sum,
                          LaneMask lanes) {
  const int64_t width = shape->dims[2], xRow = shape->strides[1], xPixel = shape->strides[2];
  Vector part[kSideBySide];
  for (Vector &p : part)
    p = zero();
  int64_t row = pixel / width, column = pixel % width;
  const auto next = [&]() __attribute__((always_inline)) {
    const float *at = x + row * xRow + column * xPixel;
    if (++column == width)
      column = 0, ++row;
    return Tail ? load(at, lanes) : load(at);
  };
  for (; pixel + kSideBySide <= end; pixel += kSideBySide)
#pragma clang loop unroll(full)
    for (int i = 0; i < kSideBySide; ++i)
      part[i] = part[i] + next();
  for (; pixel < end; ++pixel)
    part[0] = part[0] + next();
  store(sum, (part[0] + part[2]) + (part[1] + part[3]), lanes);
}

inline void sumPieces(const plim_launch *launch, int64_t pieces, uint32_t first, uint32_t last) {
  const plim_shape *xs = launch->shape[0];
  const int64_t pixels = xs->dims[1] * xs->dims[2], channels = xs->dims[3];
  const int64_t units = xs->dims[0] * pieces, end = units * last / launch->tasks;
  for (int64_t unit = units * first / launch->tasks; unit < end; ++unit) {
    const int64_t piece = unit % pieces, from = pixels * piece / pieces, to = pixels * (piece + 1) / pieces;
    const float *x = (const float *)launch->buf[0] + unit / pieces * xs->strides[0];
    float *sums = (float *)launch->shared + unit * channels;
    int64_t channel = 0;
    for (; channel + kLanes <= channels; channel += kLanes)
      sumPiece<false>(xs, x + channel, from, to, sums + channel, firstLanes(kLanes));
    if (channel < channels)
      sumPiece<true>(xs, x + channel, from, to, sums + channel, firstLanes(channels - channel));
  }
}

inline int32_t runSpatialMean(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape *xs = launch->shape[0], *ys = launch->shape[1];
  if (launch->operands != 2 || xs->rank != 4 || (ys->rank != 2 && ys->rank != 4) ||
      ys->dims[ys->rank - 1] != xs->dims[3] || !areDenseFloats(launch, UINT32_MAX))
    return PLIM_KERNEL_UNSUPPORTED;
  const int64_t pieces = plim_spatial_mean_pieces(xs), channels = xs->dims[3];
  if (launch->phase == 0) {
    sumPieces(launch, pieces, first, last);
    return PLIM_KERNEL_OK;
  }
  // A mean of nothing is 0 / 0, NaN.
  const Vector count = broadcast((float)(xs->dims[1] * xs->dims[2]));
  const int64_t images = xs->dims[0], end = images * last / launch->tasks;
  for (int64_t image = images * first / launch->tasks; image < end; ++image) {
    const float *sums = (const float *)launch->shared + image * pieces * channels;
    float *y = (float *)launch->buf[1] + image * ys->strides[0];
    for (int64_t channel = 0; channel < channels; channel += kLanes) {
      const LaneMask lanes = firstLanes(channels - channel);
      Vector sum = zero();
      for (int64_t piece = 0; piece < pieces; ++piece)
        sum = sum + load(sums + piece * channels + channel, lanes);
      store(y + channel, sum / count, lanes);
    }
  }
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
