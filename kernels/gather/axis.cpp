//===- axis.cpp - gather.axis ----------------------------------------------------------------===//

#include "kernels/attrs.h"
#include "kernels/gather/gather.h"
#include "kernels/gather/index.h"
#include "kernels/status.h"

using namespace plim::kernels;

namespace {

int32_t gatherAxis(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape &x = *launch->shape[0], &indices = *launch->shape[1], &y = *launch->shape[2];
  int64_t axis = plim_attr_int(launch->attrs, PLIM_GATHER_AXIS);
  if (!gatherFits(x, indices, y, axis))
    return PLIM_KERNEL_UNSUPPORTED;
  Range range = taskRange(plim_elements(&y), launch, first, last);
  if (range.begin == range.end)
    return PLIM_KERNEL_OK;
  uint64_t before = (uint64_t(1) << axis) - 1, through = (uint64_t(2) << axis) - 1;
  Axes outer = axesIn(x, before), inner = axesIn(x, ~through), index = axesIn(indices, ~uint64_t(0));
  int64_t size = inner.elements(), count = index.elements();
  uint32_t bytes = plim_dtype_bytes(x.dtype);
  Cursor to(y), from = inner.cursor();
  to.seek(range.begin);
  // Slice s is the part of Y that one index gives for one position before the axis.
  for (int64_t at = range.begin; at < range.end;) {
    int64_t slice = at / size, offset = at % size, n = size - offset;
    n = n < range.end - at ? n : range.end - at;
    int64_t position = loadElement<int64_t>(launch->buf[1], indices.dtype, index.offsetOf(slice % count));
    if (!resolveIndex(position, x.dims[axis]))
      return PLIM_KERNEL_BAD_INDEX;
    int64_t base = outer.offsetOf(slice / count) + position * x.strides[axis];
    from.seek(offset);
    copyBlock(launch->buf[2], to, static_cast<const char *>(launch->buf[0]) + base * int64_t(bytes), from, n, bytes);
    at += n;
  }
  return PLIM_KERNEL_OK;
}

} // namespace

extern "C" const plim_kernel plim_kernel_gather_axis = {
    "gather.axis", PLIM_KERNEL_ABI, 1, {gatherAxis, nullptr, nullptr}};
