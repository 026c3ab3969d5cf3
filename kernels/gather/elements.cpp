//===- elements.cpp - gather.elements --------------------------------------------------------===//

#include "kernels/attrs.h"
#include "kernels/gather/gather.h"
#include "kernels/gather/index.h"
#include "kernels/status.h"

using namespace plim::kernels;

static int32_t gatherElements(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape &x = *launch->shape[0], &indices = *launch->shape[1], &y = *launch->shape[2];
  int64_t axis = plim_attr_int(launch->attrs, PLIM_GATHER_AXIS);
  if (axis < 0 || axis >= x.rank || indices.rank != x.rank || !sameDims(indices, y) || y.dtype != x.dtype ||
      !isKnownDtype(x.dtype) || !isIndexDtype(indices.dtype))
    return PLIM_KERNEL_UNSUPPORTED;
  // X walked with Y's dims; the axis itself is replaced by the index.
  Axes others;
  for (uint32_t i = 0; i < x.rank; ++i) {
    if (i != axis && y.dims[i] > x.dims[i])
      return PLIM_KERNEL_UNSUPPORTED;
    others.push(y.dims[i], i == axis ? 0 : x.strides[i]);
  }
  Range range = taskRange(plim_elements(&y), launch, first, last);
  if (range.begin == range.end)
    return PLIM_KERNEL_OK;
  uint32_t bytes = plim_dtype_bytes(x.dtype);
  Cursor at(indices), from = others.cursor(), to(y);
  at.seek(range.begin);
  from.seek(range.begin);
  to.seek(range.begin);
  for (int64_t i = range.begin; i < range.end; ++i) {
    int64_t position = loadElement<int64_t>(launch->buf[1], indices.dtype, at.run().offset);
    if (!resolveIndex(position, x.dims[axis]))
      return PLIM_KERNEL_BAD_INDEX;
    copyRun(launch->buf[2], to.run().offset, 0, launch->buf[0], from.run().offset + position * x.strides[axis], 0, 1,
            bytes);
    at.advance(1);
    from.advance(1);
    to.advance(1);
  }
  return PLIM_KERNEL_OK;
}

extern "C" const plim_kernel plim_kernel_gather_elements = {
    "gather.elements", PLIM_KERNEL_ABI, 1, {gatherElements, nullptr, nullptr}};
