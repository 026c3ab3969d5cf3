//===- one_hot.cpp - fill.one_hot ------------------------------------------------------------===//

#include "kernels/attrs.h"
#include "kernels/fill/fill.h"
#include "kernels/gather/index.h"
#include "kernels/status.h"

using namespace plim::kernels;

static int32_t oneHot(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape &indices = *launch->shape[0], &y = *launch->shape[1];
  int64_t axis = plim_attr_int(launch->attrs, PLIM_FILL_ONE_HOT_AXIS);
  if (axis < 0 || axis >= y.rank || indices.rank + 1 != y.rank || !isIndexDtype(indices.dtype) ||
      !isKnownDtype(y.dtype))
    return PLIM_KERNEL_UNSUPPORTED;
  // The indices with Y's dims, repeated along the axis.
  Axes repeated;
  for (uint32_t i = 0; i < y.rank; ++i) {
    uint32_t from = i - (i > axis);
    if (i != axis && indices.dims[from] != y.dims[i])
      return PLIM_KERNEL_UNSUPPORTED;
    repeated.push(y.dims[i], i == axis ? 0 : indices.strides[from]);
  }
  int64_t inner = 1, depth = y.dims[axis];
  for (uint32_t i = uint32_t(axis) + 1; i < y.rank; ++i)
    inner *= y.dims[i];
  Range range = taskRange(plim_elements(&y), launch, first, last);
  if (range.begin == range.end)
    return PLIM_KERNEL_OK;
  double on = plim_attr_double(launch->attrs, PLIM_FILL_ONE_HOT_ON);
  double off = plim_attr_double(launch->attrs, PLIM_FILL_ONE_HOT_OFF);
  Cursor from = repeated.cursor(), to(y);
  from.seek(range.begin);
  to.seek(range.begin);
  for (int64_t i = range.begin; i < range.end; ++i) {
    int64_t index = loadElement<int64_t>(launch->buf[0], indices.dtype, from.run().offset);
    bool hit = resolveIndex(index, depth) && index == i / inner % depth;
    storeElement(launch->buf[1], y.dtype, to.run().offset, hit ? on : off);
    from.advance(1);
    to.advance(1);
  }
  return PLIM_KERNEL_OK;
}

extern "C" const plim_kernel plim_kernel_fill_one_hot = {
    "fill.one_hot", PLIM_KERNEL_ABI, 1, {oneHot, nullptr, nullptr}};
