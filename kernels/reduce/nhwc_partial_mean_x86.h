//===- kernels/reduce/nhwc_partial_mean_x86.h - reduce.nhwc_partial_mean ------------------===//
#ifndef PLIM_KERNELS_REDUCE_NHWC_PARTIAL_MEAN_X86_H
#define PLIM_KERNELS_REDUCE_NHWC_PARTIAL_MEAN_X86_H

#include "kernels/attrs.h"
#include "kernels/reduce/nhwc_partial_mean_cost.h"
#include "kernels/reduce/nhwc_spatial_mean_x86.h"

namespace plim {
namespace {

/// Rows of one image, for channels that share a vector.
struct PartialMean {
  const plim_shape *x;
  int64_t first, rows, pieces; // pieces of the whole image, as reduce.nhwc_spatial_mean cuts it
  Vector total, part[kSideBySide];

  int64_t pixels() const { return rows * x->dims[2]; }
  int64_t startOf(int64_t piece) const { return pixels() * piece / pieces; }

  /// Adds pixels [pixel, end), which lie in the piece [from, to).
  __attribute__((always_inline)) inline void addWithin(const float *at, int64_t pixel, int64_t end, int64_t from,
                                                       int64_t to, LaneMask lanes) {
    const int64_t width = x->dims[2], evenEnd = from + (to - from) / kSideBySide * kSideBySide;
    int64_t row = pixel / width - first, column = pixel % width;
    for (; pixel < end; ++pixel) {
      Vector v = load(at + row * x->strides[1] + column * x->strides[2], lanes);
      const int64_t turn = pixel < evenEnd ? (pixel - from) % kSideBySide : 0;
#pragma clang loop unroll(full)
      for (int i = 0; i < kSideBySide; ++i)
        if (turn == i)
          part[i] = part[i] + v;
      if (++column == width)
        column = 0, ++row;
    }
  }

  __attribute__((always_inline)) inline void add(const float *at, LaneMask lanes) {
    int64_t pixel = first * x->dims[2];
    const int64_t end = pixel + x->dims[1] * x->dims[2];
    int64_t piece = pixel * pieces / pixels();
    while (startOf(piece + 1) <= pixel && piece < pieces)
      ++piece;
    while (pixel < end) {
      const int64_t from = startOf(piece), to = startOf(piece + 1), stop = smaller(end, to);
      addWithin(at, pixel, stop, from, to, lanes);
      pixel = stop;
      if (stop < to)
        return;
      total = total + ((part[0] + part[2]) + (part[1] + part[3]));
      for (Vector &p : part)
        p = zero();
      ++piece;
    }
  }
};

inline int32_t runPartialMean(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape *xs = launch->shape[0];
  const int64_t row = plim_attr_int(launch->attrs, PLIM_PARTIAL_MEAN_FIRST);
  const int64_t rows = plim_attr_int(launch->attrs, PLIM_PARTIAL_MEAN_ROWS);
  const uint32_t out = launch->operands - 1;
  if (launch->operands != (row > 0 ? 3u : 2u) || xs->rank != 4 || row + xs->dims[1] > rows ||
      !areDenseFloats(launch, UINT32_MAX))
    return PLIM_KERNEL_UNSUPPORTED;
  const plim_shape *ys = launch->shape[out], *ss = launch->shape[1]; // ss: of the sums so far, where there are any
  const bool isLast = row + xs->dims[1] == rows;
  plim_shape whole = *xs;
  whole.dims[1] = rows;
  const Vector count = broadcast((float)(rows * xs->dims[2]));
  const int64_t channels = xs->dims[3], units = plim_partial_mean_units(xs), end = units * last / launch->tasks;
  const int64_t blocks = xs->dims[0] ? units / xs->dims[0] : 0;
  for (int64_t unit = units * first / launch->tasks; unit < end; ++unit) {
    const int64_t image = unit / blocks, start = unit % blocks * PLIM_PARTIAL_MEAN_CHANNELS;
    const float *x = (const float *)launch->buf[0] + image * xs->strides[0];
    const float *sums = row > 0 ? (const float *)launch->buf[1] + image * ss->strides[0] : nullptr;
    float *y = (float *)launch->buf[out] + image * ys->strides[0];
    for (int64_t c = start; c < smaller(channels, start + PLIM_PARTIAL_MEAN_CHANNELS); c += kLanes) {
      const LaneMask lanes = firstLanes(channels - c);
      PartialMean mean = {xs, row, rows, plim_spatial_mean_pieces(&whole), {}, {}};
      mean.total = sums ? load(sums + c, lanes) : zero();
      for (int i = 0; i < kSideBySide; ++i)
        mean.part[i] = sums ? load(sums + (i + 1) * ss->strides[1] + c, lanes) : zero();
      mean.add(x + c, lanes);
      if (isLast) {
        store(y + c, mean.total / count, lanes);
        continue;
      }
      store(y + c, mean.total, lanes);
      for (int i = 0; i < kSideBySide; ++i)
        store(y + (i + 1) * ys->strides[1] + c, mean.part[i], lanes);
    }
  }
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
