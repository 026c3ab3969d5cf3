//===- top_k.cpp - sort.top_k ----------------------------------------------------------------===//
//
// The outputs hold the best so far, in order; an element that beats the worst of them is inserted.
//
//===----------------------------------------------------------------------------------------===//

#include "kernels/sort/top_k.h"

#include "kernels/attrs.h"
#include "kernels/convert.h"
#include "kernels/status.h"
#include "kernels/strided.h"

using namespace plim::kernels;

namespace {

template <class C> bool comesBefore(C a, C b, bool largest) {
  if (a != a || b != b)
    return largest ? b == b : a == a;
  return largest ? a > b : a < b;
}

template <class C> void runRow(const plim_launch *launch, int64_t x, int64_t values, int64_t indices, int64_t axis) {
  const plim_shape &in = *launch->shape[0], &v = *launch->shape[1], &ix = *launch->shape[2];
  bool largest = plim_attr_int(launch->attrs, PLIM_SORT_TOP_K_LARGEST) != 0;
  int64_t k = v.dims[axis], held = 0;
  for (int64_t i = 0; i < in.dims[axis]; ++i) {
    C element = loadElement<C>(launch->buf[0], in.dtype, x + i * in.strides[axis]);
    if (held == k) {
      C worst = loadElement<C>(launch->buf[1], v.dtype, values + (k - 1) * v.strides[axis]);
      if (!comesBefore(element, worst, largest))
        continue;
    } else {
      ++held;
    }
    int64_t at = held - 1;
    for (; at > 0; --at) {
      C above = loadElement<C>(launch->buf[1], v.dtype, values + (at - 1) * v.strides[axis]);
      if (!comesBefore(element, above, largest))
        break;
      storeElement(launch->buf[1], v.dtype, values + at * v.strides[axis], above);
      storeElement(launch->buf[2], ix.dtype, indices + at * ix.strides[axis],
                   loadElement<int64_t>(launch->buf[2], ix.dtype, indices + (at - 1) * ix.strides[axis]));
    }
    storeElement(launch->buf[1], v.dtype, values + at * v.strides[axis], element);
    storeElement(launch->buf[2], ix.dtype, indices + at * ix.strides[axis], i);
  }
}

int32_t topK(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape &x = *launch->shape[0], &v = *launch->shape[1], &ix = *launch->shape[2];
  int64_t axis = plim_attr_int(launch->attrs, PLIM_SORT_TOP_K_AXIS);
  if (axis < 0 || axis >= x.rank || v.rank != x.rank || !sameDims(v, ix) || v.dtype != x.dtype ||
      !isKnownDtype(x.dtype) || (ix.dtype != PLIM_I64 && ix.dtype != PLIM_I32) || v.dims[axis] > x.dims[axis])
    return PLIM_KERNEL_UNSUPPORTED;
  for (uint32_t i = 0; i < x.rank; ++i)
    if (i != axis && v.dims[i] != x.dims[i])
      return PLIM_KERNEL_UNSUPPORTED;
  uint64_t others = ~(uint64_t(1) << axis);
  Axes from = axesIn(x, others), values = axesIn(v, others), indices = axesIn(ix, others);
  Range rows = taskRange(v.dims[axis] ? from.elements() : 0, launch, first, last);
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    int64_t at[3] = {from.offsetOf(row), values.offsetOf(row), indices.offsetOf(row)};
    if (isFloatDtype(x.dtype))
      runRow<double>(launch, at[0], at[1], at[2], axis);
    else if (isUnsignedDtype(x.dtype) || x.dtype == PLIM_BOOL)
      runRow<uint64_t>(launch, at[0], at[1], at[2], axis);
    else
      runRow<int64_t>(launch, at[0], at[1], at[2], axis);
  }
  return PLIM_KERNEL_OK;
}

} // namespace

extern "C" const plim_kernel plim_kernel_sort_top_k = {"sort.top_k", PLIM_KERNEL_ABI, 1, {topK, nullptr, nullptr}};
