//===- batch.cpp - norm.batch ----------------------------------------------------------------===//

#include "kernels/attrs.h"
#include "kernels/convert.h"
#include "kernels/norm/norm.h"
#include "kernels/status.h"
#include "kernels/strided.h"

#include <cmath>

using namespace plim::kernels;

namespace {

constexpr int64_t blockElements = 256;

int32_t batch(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  if (launch->operands != 6)
    return PLIM_KERNEL_UNSUPPORTED;
  const plim_shape &x = *launch->shape[0], &y = *launch->shape[5];
  int64_t axis = plim_attr_int(launch->attrs, PLIM_NORM_AXIS);
  if (axis < 0 || axis >= x.rank || !sameDims(x, y) || !isFloatDtype(x.dtype) || !isFloatDtype(y.dtype))
    return PLIM_KERNEL_UNSUPPORTED;
  // Each parameter as X's dims, repeated along all axes but its own.
  Axes repeated[4];
  for (uint32_t i = 0; i < 4; ++i) {
    const plim_shape &p = *launch->shape[1 + i];
    if (p.rank != 1 || p.dims[0] != x.dims[axis] || !isFloatDtype(p.dtype))
      return PLIM_KERNEL_UNSUPPORTED;
    for (uint32_t d = 0; d < x.rank; ++d)
      repeated[i].push(x.dims[d], d == axis ? p.strides[0] : 0);
  }
  Range range = taskRange(plim_elements(&x), launch, first, last);
  if (range.begin == range.end)
    return PLIM_KERNEL_OK;
  double epsilon = plim_attr_double(launch->attrs, PLIM_NORM_EPSILON);
  Cursor from(x), to(y);
  Cursor at[4] = {repeated[0].cursor(), repeated[1].cursor(), repeated[2].cursor(), repeated[3].cursor()};
  from.seek(range.begin);
  to.seek(range.begin);
  for (Cursor &cursor : at)
    cursor.seek(range.begin);
  double v[blockElements], parameter[4][blockElements];
  for (int64_t done = range.begin; done < range.end; done += blockElements) {
    int64_t n = range.end - done < blockElements ? range.end - done : blockElements;
    loadBlock(launch->buf[0], x.dtype, from, n, v);
    for (uint32_t i = 0; i < 4; ++i)
      loadBlock(launch->buf[1 + i], launch->shape[1 + i]->dtype, at[i], n, parameter[i]);
    for (int64_t i = 0; i < n; ++i)
      v[i] = (v[i] - parameter[2][i]) / std::sqrt(parameter[3][i] + epsilon) * parameter[0][i] + parameter[1][i];
    storeBlock(launch->buf[5], y.dtype, to, n, v);
  }
  return PLIM_KERNEL_OK;
}

} // namespace

extern "C" const plim_kernel plim_kernel_norm_batch = {"norm.batch", PLIM_KERNEL_ABI, 1, {batch, nullptr, nullptr}};
