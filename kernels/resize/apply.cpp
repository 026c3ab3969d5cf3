//===- apply.cpp - resize.apply --------------------------------------------------------------===//
//
// A row of Y (its last axis) reads a fixed set of rows of X: the products of the taps of the other axes. Where the last
// axis stays as it is, rows are weighed as wholes.
//
//===----------------------------------------------------------------------------------------===//

#include "kernels/resize/apply.h"

#include "kernels/attrs.h"
#include "kernels/convert.h"
#include "kernels/resize/taps.h"
#include "kernels/status.h"
#include "kernels/strided.h"

using namespace plim::kernels;

namespace {

static_assert(sizeof(Taps) == PLIM_RESIZE_SCRATCH_PER_ELEMENT);

constexpr int64_t blockElements = 128;
constexpr int maxRows = 64; // 4 taps on each of 3 axes

struct Rows {
  int count = 1;
  int64_t offset[maxRows] = {0};
  double weight[maxRows] = {1.0};

  // Those of `outer` along one more axis.
  void setProduct(const Rows &outer, const Taps &taps, int64_t stride) {
    count = 0;
    for (int r = 0; r < outer.count; ++r)
      for (int64_t t = 0; t < taps.count; ++t) {
        offset[count] = outer.offset[r] + taps.index[t] * stride;
        weight[count++] = outer.weight[r] * taps.weight[t];
      }
  }
};

struct Problem {
  const plim_launch *launch;
  ResizeRule rule;
  ResizedAxis axes[PLIM_MAX_RANK];
  Taps *lastAxis; // of each coordinate of Y's last axis, in scratch

  const plim_shape &x() const { return *launch->shape[0]; }
  const plim_shape &y() const { return *launch->shape[1]; }

  // Elements [first, last) of a row whose last axis stays as it is.
  void blendRow(const Rows &rows, int64_t out, int64_t first, int64_t last) const {
    int64_t xStep = x().strides[x().rank - 1], yStep = y().strides[y().rank - 1];
    double acc[blockElements], in[blockElements];
    for (int64_t at = first; at < last; at += blockElements) {
      int64_t n = last - at < blockElements ? last - at : blockElements;
      for (int r = 0; r < rows.count; ++r) {
        loadRun(launch->buf[0], x().dtype, rows.offset[r] + at * xStep, xStep, n, in);
        for (int64_t i = 0; i < n; ++i)
          acc[i] = (r ? acc[i] : 0.0) + rows.weight[r] * in[i];
      }
      storeRun(launch->buf[1], y().dtype, out + at * yStep, yStep, n, acc);
    }
  }

  void interpolateRow(const Rows &rows, int64_t out, int64_t first, int64_t last) const {
    uint32_t axis = x().rank - 1;
    int64_t xStep = x().strides[axis], yStep = y().strides[axis];
    withType(x().dtype, [&](auto tag) {
      using T = typename decltype(tag)::Type;
      const T *in = static_cast<const T *>(launch->buf[0]);
      double acc[blockElements];
      for (int64_t at = first; at < last; at += blockElements) {
        int64_t n = last - at < blockElements ? last - at : blockElements;
        for (int64_t i = 0; i < n; ++i) {
          const Taps &taps = lastAxis[at + i];
          acc[i] = 0;
          for (int r = 0; r < rows.count; ++r)
            for (int64_t t = 0; t < taps.count; ++t)
              acc[i] += rows.weight[r] * taps.weight[t] * decode<double>(in[rows.offset[r] + taps.index[t] * xStep]);
        }
        storeRun(launch->buf[1], y().dtype, out + at * yStep, yStep, n, acc);
      }
    });
  }

  void nearestRow(int64_t in, int64_t out, int64_t first, int64_t last) const {
    uint32_t axis = x().rank - 1, bytes = plim_dtype_bytes(x().dtype);
    int64_t xStep = x().strides[axis], yStep = y().strides[axis];
    if (axes[axis].isIdentity()) {
      copyRun(launch->buf[1], out + first * yStep, yStep, launch->buf[0], in + first * xStep, xStep, last - first,
              bytes);
      return;
    }
    auto copy = [&](auto *to, const auto *from) {
      for (int64_t i = first; i < last; ++i)
        to[out + i * yStep] = from[in + lastAxis[i].index[0] * xStep];
    };
    switch (bytes) {
    case 1:
      return copy(static_cast<uint8_t *>(launch->buf[1]), static_cast<const uint8_t *>(launch->buf[0]));
    case 2:
      return copy(static_cast<uint16_t *>(launch->buf[1]), static_cast<const uint16_t *>(launch->buf[0]));
    case 4:
      return copy(static_cast<uint32_t *>(launch->buf[1]), static_cast<const uint32_t *>(launch->buf[0]));
    default:
      return copy(static_cast<uint64_t *>(launch->buf[1]), static_cast<const uint64_t *>(launch->buf[0]));
    }
  }
};

int32_t resize(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  const plim_shape &x = *launch->shape[0], &y = *launch->shape[1];
  Problem p = {launch, ResizeRule(launch->attrs), {}, static_cast<Taps *>(scratch)};
  if (!p.rule.isValid() || x.rank != y.rank || x.rank == 0 || x.dtype != y.dtype || !isKnownDtype(x.dtype) ||
      (p.rule.mode != PLIM_RESIZE_NEAREST && x.dtype == PLIM_BOOL))
    return PLIM_KERNEL_UNSUPPORTED;
  int resized = 0;
  for (uint32_t i = 0; i < x.rank; ++i) {
    p.axes[i] = {x.dims[i], y.dims[i], float(plim_attr_double(launch->attrs, PLIM_RESIZE_SCALE + int(i)))};
    resized += !p.axes[i].isIdentity();
    if (!(p.axes[i].scale > 0) || (x.dims[i] == 0 && y.dims[i] != 0))
      return PLIM_KERNEL_UNSUPPORTED;
  }
  bool nearest = p.rule.mode == PLIM_RESIZE_NEAREST;
  if (!nearest && resized > 3)
    return PLIM_KERNEL_UNSUPPORTED;
  int64_t rowSize = y.dims[y.rank - 1];
  Range range = taskRange(plim_elements(&y), launch, first, last);
  if (range.begin == range.end)
    return PLIM_KERNEL_OK;
  for (int64_t i = 0; i < rowSize; ++i)
    p.lastAxis[i] = p.rule.tapsOf(p.axes[y.rank - 1], i);
  // What the axes before the last two read is the same for all rows of a line.
  uint32_t lastAxes = y.rank < 2 ? 1 : 2, lineAxis = y.rank - lastAxes;
  int64_t lineRows = lastAxes == 2 ? y.dims[lineAxis] : 1, line = -1, lineOut = 0;
  Rows outer, rows;
  for (int64_t at = range.begin; at < range.end;) {
    int64_t start = at % rowSize, row = at / rowSize, end = start + (range.end - at);
    end = end < rowSize ? end : rowSize;
    if (row / lineRows != line) {
      int64_t rest = line = row / lineRows;
      outer.count = 1, outer.offset[0] = 0, outer.weight[0] = 1.0, lineOut = 0;
      for (uint32_t axis = lineAxis; axis-- > 0;) {
        int64_t i = rest % y.dims[axis];
        rest /= y.dims[axis];
        lineOut += i * y.strides[axis];
        rows.setProduct(outer, p.rule.tapsOf(p.axes[axis], i), x.strides[axis]);
        outer = rows;
      }
    }
    int64_t out = lineOut;
    if (lastAxes == 2) {
      out += row % lineRows * y.strides[lineAxis];
      rows.setProduct(outer, p.rule.tapsOf(p.axes[lineAxis], row % lineRows), x.strides[lineAxis]);
    } else {
      rows = outer;
    }
    if (nearest)
      p.nearestRow(rows.offset[0], out, start, end);
    else if (p.axes[y.rank - 1].isIdentity())
      p.blendRow(rows, out, start, end);
    else
      p.interpolateRow(rows, out, start, end);
    at += end - start;
  }
  return PLIM_KERNEL_OK;
}

} // namespace

extern "C" const plim_kernel plim_kernel_resize_apply = {
    "resize.apply", PLIM_KERNEL_ABI, 1, {resize, nullptr, nullptr}};
