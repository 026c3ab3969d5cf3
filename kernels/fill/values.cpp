//===- values.cpp - fill.scalars and fill.range ----------------------------------------------===//

#include "kernels/convert.h"
#include "kernels/fill/fill.h"
#include "kernels/status.h"
#include "kernels/strided.h"

using namespace plim::kernels;

namespace {

int32_t scalars(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape &y = *launch->shape[0];
  Range range = taskRange(plim_elements(&y), launch, first, last);
  if (!isKnownDtype(y.dtype) || isFloatDtype(y.dtype) || (range.begin != range.end && !launch->scalar))
    return PLIM_KERNEL_UNSUPPORTED;
  if (range.begin == range.end)
    return PLIM_KERNEL_OK;
  Cursor to(y);
  to.seek(range.begin);
  for (int64_t i = range.begin; i < range.end; ++i) {
    storeElement(launch->buf[0], y.dtype, to.run().offset, launch->scalar[i]);
    to.advance(1);
  }
  return PLIM_KERNEL_OK;
}

int32_t range(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape &start = *launch->shape[0], &step = *launch->shape[1], &y = *launch->shape[2];
  if (plim_elements(&start) != 1 || plim_elements(&step) != 1 || start.dtype != y.dtype || step.dtype != y.dtype ||
      y.rank != 1 || !isKnownDtype(y.dtype))
    return PLIM_KERNEL_UNSUPPORTED;
  Range part = taskRange(y.dims[0], launch, first, last);
  if (isFloatDtype(y.dtype)) {
    double from = loadElement<double>(launch->buf[0], y.dtype, 0), by = loadElement<double>(launch->buf[1], y.dtype, 0);
    for (int64_t i = part.begin; i < part.end; ++i)
      storeElement(launch->buf[2], y.dtype, i * y.strides[0], from + by * double(i));
    return PLIM_KERNEL_OK;
  }
  // Wraps as the element type does.
  uint64_t from = loadElement<uint64_t>(launch->buf[0], y.dtype, 0),
           by = loadElement<uint64_t>(launch->buf[1], y.dtype, 0);
  for (int64_t i = part.begin; i < part.end; ++i)
    storeElement(launch->buf[2], y.dtype, i * y.strides[0], from + by * uint64_t(i));
  return PLIM_KERNEL_OK;
}

} // namespace

extern "C" const plim_kernel plim_kernel_fill_scalars = {
    "fill.scalars", PLIM_KERNEL_ABI, 1, {scalars, nullptr, nullptr}};
extern "C" const plim_kernel plim_kernel_fill_range = {"fill.range", PLIM_KERNEL_ABI, 1, {range, nullptr, nullptr}};
