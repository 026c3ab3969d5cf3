//===- rows.cpp - softmax.rows ---------------------------------------------------------------===//

#include "kernels/softmax/rows.h"

#include "kernels/attrs.h"
#include "kernels/convert.h"
#include "kernels/status.h"
#include "kernels/strided.h"

#include <cmath>

using namespace plim::kernels;

namespace {

constexpr int64_t blockElements = 256;

struct Row {
  const void *base;
  uint8_t dtype;
  int64_t offset, stride, n;

  template <class F> void forBlocks(F f) const {
    double block[blockElements];
    for (int64_t at = 0; at < n; at += blockElements) {
      int64_t count = n - at < blockElements ? n - at : blockElements;
      loadRun(base, dtype, offset + at * stride, stride, count, block);
      f(block, at, count);
    }
  }
};

int32_t rows(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape &x = *launch->shape[0], &y = *launch->shape[1];
  int64_t axis = plim_attr_int(launch->attrs, PLIM_SOFTMAX_ROWS_AXIS);
  if (axis < 0 || axis >= x.rank || !sameDims(x, y) || !isFloatDtype(x.dtype) || !isFloatDtype(y.dtype))
    return PLIM_KERNEL_UNSUPPORTED;
  bool logarithm = plim_attr_int(launch->attrs, PLIM_SOFTMAX_ROWS_LOG) != 0;
  uint64_t others = ~(uint64_t(1) << axis);
  Axes from = axesIn(x, others), to = axesIn(y, others);
  Range range = taskRange(x.dims[axis] ? from.elements() : 0, launch, first, last);
  for (int64_t i = range.begin; i < range.end; ++i) {
    Row row = {launch->buf[0], x.dtype, from.offsetOf(i), x.strides[axis], x.dims[axis]};
    int64_t out = to.offsetOf(i), step = y.strides[axis];
    double top = -INFINITY, sum = 0;
    row.forBlocks([&](const double *v, int64_t, int64_t n) {
      for (int64_t j = 0; j < n; ++j)
        top = top != top || top > v[j] ? top : v[j];
    });
    row.forBlocks([&](const double *v, int64_t, int64_t n) {
      for (int64_t j = 0; j < n; ++j)
        sum += std::exp(v[j] - top);
    });
    double logSum = std::log(sum);
    row.forBlocks([&](double *v, int64_t at, int64_t n) {
      for (int64_t j = 0; j < n; ++j)
        v[j] = logarithm ? v[j] - top - logSum : std::exp(v[j] - top) / sum;
      storeRun(launch->buf[1], y.dtype, out + at * step, step, n, v);
    });
  }
  return PLIM_KERNEL_OK;
}

} // namespace

extern "C" const plim_kernel plim_kernel_softmax_rows = {"softmax.rows", PLIM_KERNEL_ABI, 1, {rows, nullptr, nullptr}};
