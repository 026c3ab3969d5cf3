//===- nonzero.cpp - select.nonzero ----------------------------------------------------------===//

#include "kernels/select/select.h"

#include "kernels/convert.h"
#include "kernels/status.h"
#include "kernels/strided.h"

using namespace plim::kernels;

namespace {

int32_t nonzero(const plim_launch *launch, void *, uint32_t first, uint32_t) {
  const plim_shape &x = *launch->shape[0], &y = *launch->shape[1];
  if (!isKnownDtype(x.dtype) || y.dtype != PLIM_I64 || y.rank != 2 || y.dims[1] != x.rank)
    return PLIM_KERNEL_UNSUPPORTED;
  if (first != 0)
    return PLIM_KERNEL_OK;
  int64_t at[PLIM_MAX_RANK] = {}, elements = plim_elements(&x), found = 0;
  Cursor from(x);
  for (int64_t i = 0; i < elements; ++i) {
    double value; // not 0 as a double exactly where it is not 0 as what it is
    loadRun(launch->buf[0], x.dtype, from.run().offset, 0, 1, &value);
    if (value != 0) {
      if (found == y.dims[0])
        return PLIM_KERNEL_BAD_INDEX;
      for (uint32_t d = 0; d < x.rank; ++d)
        storeElement(launch->buf[1], y.dtype, found * y.strides[0] + d * y.strides[1], at[d]);
      ++found;
    }
    from.advance(1);
    for (uint32_t d = x.rank; d-- > 0;) {
      if (++at[d] < x.dims[d])
        break;
      at[d] = 0;
    }
  }
  return found == y.dims[0] ? PLIM_KERNEL_OK : PLIM_KERNEL_BAD_INDEX;
}

} // namespace

extern "C" const plim_kernel plim_kernel_select_nonzero = {
    "select.nonzero", PLIM_KERNEL_ABI, 1, {nonzero, nullptr, nullptr}};
