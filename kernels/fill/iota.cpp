//===- iota.cpp - fill.iota ------------------------------------------------------------------===//

#include "kernels/attrs.h"
#include "kernels/convert.h"
#include "kernels/fill/fill.h"
#include "kernels/status.h"
#include "kernels/strided.h"

using namespace plim::kernels;

static int32_t iota(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape &y = *launch->shape[0];
  int64_t axis = plim_attr_int(launch->attrs, PLIM_FILL_IOTA_AXIS);
  if (axis < -1 || axis >= y.rank || !isKnownDtype(y.dtype))
    return PLIM_KERNEL_UNSUPPORTED;
  int64_t size = 1, inner = 1; // elements between steps of the axis
  if (axis >= 0) {
    size = y.dims[axis];
    for (uint32_t i = uint32_t(axis) + 1; i < y.rank; ++i)
      inner *= y.dims[i];
  }
  Range range = taskRange(plim_elements(&y), launch, first, last);
  if (range.begin == range.end)
    return PLIM_KERNEL_OK;
  Cursor to(y);
  to.seek(range.begin);
  for (int64_t i = range.begin; i < range.end; ++i) {
    int64_t coordinate = i / inner % size;
    if (isFloatDtype(y.dtype))
      storeElement(launch->buf[0], y.dtype, to.run().offset,
                   plim_attr_double(launch->attrs, PLIM_FILL_IOTA_START) +
                       plim_attr_double(launch->attrs, PLIM_FILL_IOTA_DELTA) * double(coordinate));
    else
      storeElement(launch->buf[0], y.dtype, to.run().offset,
                   uint64_t(plim_attr_int(launch->attrs, PLIM_FILL_IOTA_START)) +
                       uint64_t(plim_attr_int(launch->attrs, PLIM_FILL_IOTA_DELTA)) * uint64_t(coordinate));
    to.advance(1);
  }
  return PLIM_KERNEL_OK;
}

extern "C" const plim_kernel plim_kernel_fill_iota = {"fill.iota", PLIM_KERNEL_ABI, 1, {iota, nullptr, nullptr}};
