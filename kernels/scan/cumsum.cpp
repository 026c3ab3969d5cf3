//===- cumsum.cpp - scan.cumsum --------------------------------------------------------------===//

#include "kernels/scan/cumsum.h"

#include "kernels/attrs.h"
#include "kernels/convert.h"
#include "kernels/status.h"
#include "kernels/strided.h"

using namespace plim::kernels;

namespace {

// C is double, or uint64_t for integers: it wraps, and its low bits are those of the signed result.
template <class C> void runRow(const plim_launch *launch, int64_t from, int64_t to, int64_t axis) {
  const plim_shape &x = *launch->shape[0], &y = *launch->shape[1];
  bool exclusive = plim_attr_int(launch->attrs, PLIM_SCAN_CUMSUM_EXCLUSIVE) != 0;
  bool reverse = plim_attr_int(launch->attrs, PLIM_SCAN_CUMSUM_REVERSE) != 0;
  C sum = 0;
  for (int64_t i = 0, n = x.dims[axis]; i < n; ++i) {
    int64_t at = reverse ? n - 1 - i : i;
    C before = sum;
    sum += loadElement<C>(launch->buf[0], x.dtype, from + at * x.strides[axis]);
    storeElement(launch->buf[1], y.dtype, to + at * y.strides[axis], exclusive ? before : sum);
  }
}

int32_t cumsum(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape &x = *launch->shape[0], &y = *launch->shape[1];
  int64_t axis = plim_attr_int(launch->attrs, PLIM_SCAN_CUMSUM_AXIS);
  if (axis < 0 || axis >= x.rank || !sameDims(x, y) || !isKnownDtype(x.dtype) || !isKnownDtype(y.dtype))
    return PLIM_KERNEL_UNSUPPORTED;
  uint64_t others = ~(uint64_t(1) << axis);
  Axes from = axesIn(x, others), to = axesIn(y, others);
  Range rows = taskRange(x.dims[axis] ? from.elements() : 0, launch, first, last);
  for (int64_t row = rows.begin; row < rows.end; ++row)
    if (isFloatDtype(x.dtype))
      runRow<double>(launch, from.offsetOf(row), to.offsetOf(row), axis);
    else
      runRow<uint64_t>(launch, from.offsetOf(row), to.offsetOf(row), axis);
  return PLIM_KERNEL_OK;
}

} // namespace

extern "C" const plim_kernel plim_kernel_scan_cumsum = {"scan.cumsum", PLIM_KERNEL_ABI, 1, {cumsum, nullptr, nullptr}};
