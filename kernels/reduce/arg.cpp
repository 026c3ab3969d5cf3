//===- arg.cpp - reduce.arg ------------------------------------------------------------------===//

#include "kernels/attrs.h"
#include "kernels/convert.h"
#include "kernels/reduce/axes.h"
#include "kernels/reduce/reduce.h"
#include "kernels/status.h"

using namespace plim::kernels;

namespace {

constexpr int64_t blockElements = 256;

// Whether x takes the place of best.
template <class C> bool wins(C x, C best, bool largest, bool last) {
  if (x != x || best != best)
    return x != x && (best == best || last);
  return (largest ? x > best : x < best) || (last && x == best);
}

template <class C> void runOutputs(const plim_launch *launch, const ReducedAxes &axes, Range range) {
  const plim_shape &x = *launch->shape[0], &y = *launch->shape[1];
  bool largest = plim_attr_int(launch->attrs, PLIM_REDUCE_ARG_LARGEST) != 0;
  bool last = plim_attr_int(launch->attrs, PLIM_REDUCE_ARG_LAST) != 0;
  int64_t n = axes.reduced.dims[0], stride = axes.reduced.strides[0];
  C block[blockElements];
  for (int64_t out = range.begin; out < range.end; ++out) {
    int64_t offset = axes.kept.offsetOf(out), position = 0;
    C best = 0;
    for (int64_t at = 0; at < n; at += blockElements) {
      int64_t count = n - at < blockElements ? n - at : blockElements;
      loadRun(launch->buf[0], x.dtype, offset + at * stride, stride, count, block);
      for (int64_t i = 0; i < count; ++i)
        if (at + i == 0 || wins(block[i], best, largest, last)) {
          best = block[i];
          position = at + i;
        }
    }
    storeElement(launch->buf[1], y.dtype, axes.result.offsetOf(out), position);
  }
}

int32_t arg(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape &x = *launch->shape[0], &y = *launch->shape[1];
  int64_t axis = plim_attr_int(launch->attrs, PLIM_REDUCE_ARG_AXIS);
  ReducedAxes axes;
  if (axis < 0 || axis >= x.rank || !isKnownDtype(x.dtype) || (y.dtype != PLIM_I64 && y.dtype != PLIM_I32) ||
      !axes.split(x, y, uint64_t(1) << axis) || (x.dims[axis] == 0 && axes.kept.elements() != 0))
    return PLIM_KERNEL_UNSUPPORTED;
  Range range = taskRange(axes.kept.elements(), launch, first, last);
  if (isFloatDtype(x.dtype))
    runOutputs<double>(launch, axes, range);
  else if (isUnsignedDtype(x.dtype) || x.dtype == PLIM_BOOL)
    runOutputs<uint64_t>(launch, axes, range);
  else
    runOutputs<int64_t>(launch, axes, range);
  return PLIM_KERNEL_OK;
}

} // namespace

extern "C" const plim_kernel plim_kernel_reduce_arg = {"reduce.arg", PLIM_KERNEL_ABI, 1, {arg, nullptr, nullptr}};
