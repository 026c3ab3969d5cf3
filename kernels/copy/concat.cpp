//===- concat.cpp - copy.concat --------------------------------------------------------------===//

#include "kernels/copy/concat.h"

#include "kernels/attrs.h"
#include "kernels/convert.h"
#include "kernels/status.h"
#include "kernels/strided.h"

using namespace plim::kernels;

// Y in row-major order is a sequence of rows, one an index before the axis; a row is X1's part, then X2's, and so on.
// The tasks cut that sequence of elements evenly, wherever the cuts fall.
static int32_t copyConcat(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const uint32_t pieces = launch->operands - 1;
  const plim_shape &y = *launch->shape[pieces];
  const int64_t axis = plim_attr_int(launch->attrs, PLIM_CONCAT_AXIS);
  if (axis < 0 || axis >= y.rank || !isKnownDtype(y.dtype))
    return PLIM_KERNEL_UNSUPPORTED;
  int64_t inner = 1, sum = 0;
  for (uint32_t d = uint32_t(axis) + 1; d < y.rank; ++d)
    inner *= y.dims[d];
  for (uint32_t p = 0; p < pieces; ++p) {
    const plim_shape &x = *launch->shape[p];
    if (x.dtype != y.dtype || x.rank != y.rank)
      return PLIM_KERNEL_UNSUPPORTED;
    for (uint32_t d = 0; d < y.rank; ++d)
      if (d != axis && x.dims[d] != y.dims[d])
        return PLIM_KERNEL_UNSUPPORTED;
    sum += x.dims[axis];
  }
  if (sum != y.dims[axis])
    return PLIM_KERNEL_UNSUPPORTED;
  Range range = taskRange(plim_elements(&y), launch, first, last);
  if (range.begin == range.end)
    return PLIM_KERNEL_OK;

  const uint32_t bytes = plim_dtype_bytes(y.dtype);
  const int64_t row = inner * y.dims[axis];
  Cursor to(y);
  to.seek(range.begin);
  for (int64_t at = range.begin; at < range.end;) {
    int64_t outer = at / row, within = at % row;
    uint32_t p = 0;
    while (within >= launch->shape[p]->dims[axis] * inner)
      within -= launch->shape[p++]->dims[axis] * inner;
    const int64_t part = launch->shape[p]->dims[axis] * inner;
    Cursor from(*launch->shape[p]);
    from.seek(outer * part + within);
    int64_t left = part - within < range.end - at ? part - within : range.end - at;
    for (at += left; left > 0;) {
      Run src = from.run(), dst = to.run();
      int64_t count = src.count < dst.count ? src.count : dst.count;
      count = count < left ? count : left;
      copyRun(launch->buf[pieces], dst.offset, dst.stride, launch->buf[p], src.offset, src.stride, count, bytes);
      from.advance(count);
      to.advance(count);
      left -= count;
    }
  }
  return PLIM_KERNEL_OK;
}

extern "C" const plim_kernel plim_kernel_copy_concat = {
    "copy.concat", PLIM_KERNEL_ABI, 1, {copyConcat, nullptr, nullptr}};
