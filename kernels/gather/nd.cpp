//===- nd.cpp - gather.nd --------------------------------------------------------------------===//

#include "kernels/gather/nd.h"

#include "kernels/attrs.h"
#include "kernels/gather/gather.h"
#include "kernels/status.h"

using namespace plim::kernels;

static int32_t gatherNd(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape &x = *launch->shape[0], &y = *launch->shape[2];
  SlicesNd slices;
  if (!slices.prepare(x, *launch->shape[1], launch->buf[1], plim_attr_int(launch->attrs, PLIM_GATHER_AXIS), y))
    return PLIM_KERNEL_UNSUPPORTED;
  Range range = taskRange(plim_elements(&y), launch, first, last);
  if (range.begin == range.end)
    return PLIM_KERNEL_OK;
  int64_t size = slices.inner.elements();
  uint32_t bytes = plim_dtype_bytes(x.dtype);
  Cursor to(y), from = slices.inner.cursor();
  to.seek(range.begin);
  for (int64_t at = range.begin; at < range.end;) {
    int64_t offset = at % size, n = size - offset, base;
    n = n < range.end - at ? n : range.end - at;
    if (!slices.locate(at / size, base))
      return PLIM_KERNEL_BAD_INDEX;
    from.seek(offset);
    copyBlock(launch->buf[2], to, static_cast<const char *>(launch->buf[0]) + base * int64_t(bytes), from, n, bytes);
    at += n;
  }
  return PLIM_KERNEL_OK;
}

extern "C" const plim_kernel plim_kernel_gather_nd = {"gather.nd", PLIM_KERNEL_ABI, 1, {gatherNd, nullptr, nullptr}};
