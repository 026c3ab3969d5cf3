//===- reference.cpp - scatter.elements and scatter.nd ---------------------------------------===//

#include "kernels/attrs.h"
#include "kernels/gather/nd.h"
#include "kernels/scatter/scatter.h"
#include "kernels/status.h"

using namespace plim::kernels;

namespace {

// Phase 0: Y = X.
void copyTasks(const plim_launch *launch, uint32_t first, uint32_t last) {
  const plim_shape &x = *launch->shape[0], &y = *launch->shape[3];
  if (launch->buf[0] == launch->buf[3])
    return;
  Range range = taskRange(plim_elements(&y), launch, first, last);
  if (range.begin == range.end)
    return;
  Cursor from(x), to(y);
  from.seek(range.begin);
  to.seek(range.begin);
  copyBlock(launch->buf[3], to, launch->buf[0], from, range.end - range.begin, plim_dtype_bytes(x.dtype));
}

template <class C> C combine(int64_t reduction, C old, C update) {
  switch (reduction) {
  case PLIM_SCATTER_ADD:
    return isFloating<C> ? old + update : C(uint64_t(old) + uint64_t(update));
  case PLIM_SCATTER_MUL:
    return isFloating<C> ? old * update : C(uint64_t(old) * uint64_t(update));
  case PLIM_SCATTER_MAX:
    return old != old || old > update ? old : update;
  default:
    return old != old || old < update ? old : update;
  }
}

template <class C> void combineElement(const plim_launch *launch, int64_t reduction, int64_t y, int64_t update) {
  uint8_t dtype = launch->shape[3]->dtype;
  storeElement(
      launch->buf[3], dtype, y,
      combine(reduction, loadElement<C>(launch->buf[3], dtype, y), loadElement<C>(launch->buf[2], dtype, update)));
}

// Y[y] takes UPDATES[update]; both are offsets.
void updateElement(const plim_launch *launch, int64_t reduction, int64_t y, int64_t update) {
  uint8_t dtype = launch->shape[3]->dtype;
  if (reduction == PLIM_SCATTER_REPLACE)
    copyRun(launch->buf[3], y, 0, launch->buf[2], update, 0, 1, plim_dtype_bytes(dtype));
  else if (isFloatDtype(dtype))
    combineElement<double>(launch, reduction, y, update);
  else if (isUnsignedDtype(dtype) || dtype == PLIM_BOOL)
    combineElement<uint64_t>(launch, reduction, y, update);
  else
    combineElement<int64_t>(launch, reduction, y, update);
}

bool dtypesFit(const plim_launch *launch, int64_t reduction) {
  const plim_shape &x = *launch->shape[0], &updates = *launch->shape[2], &y = *launch->shape[3];
  return reduction >= 0 && reduction < PLIM_SCATTER_REDUCTION_COUNT && isKnownDtype(x.dtype) && x.dtype == y.dtype &&
         x.dtype == updates.dtype && isIndexDtype(launch->shape[1]->dtype) && sameDims(x, y);
}

int32_t scatterElements(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape &indices = *launch->shape[1], &updates = *launch->shape[2], &y = *launch->shape[3];
  int64_t axis = plim_attr_int(launch->attrs, PLIM_SCATTER_AXIS);
  int64_t reduction = plim_attr_int(launch->attrs, PLIM_SCATTER_REDUCTION);
  if (!dtypesFit(launch, reduction) || axis < 0 || axis >= y.rank || indices.rank != y.rank ||
      !sameDims(indices, updates))
    return PLIM_KERNEL_UNSUPPORTED;
  Axes others;
  for (uint32_t i = 0; i < y.rank; ++i) {
    if (i != axis && indices.dims[i] > y.dims[i])
      return PLIM_KERNEL_UNSUPPORTED;
    others.push(indices.dims[i], i == axis ? 0 : y.strides[i]);
  }
  if (launch->phase == 0) {
    copyTasks(launch, first, last);
    return PLIM_KERNEL_OK;
  }
  int64_t n = plim_elements(&updates);
  if (first != 0 || n == 0)
    return PLIM_KERNEL_OK;
  Cursor at(indices), from(updates), to = others.cursor();
  at.seek(0);
  from.seek(0);
  to.seek(0);
  for (int64_t i = 0; i < n; ++i) {
    int64_t position = loadElement<int64_t>(launch->buf[1], indices.dtype, at.run().offset);
    if (!resolveIndex(position, y.dims[axis]))
      return PLIM_KERNEL_BAD_INDEX;
    updateElement(launch, reduction, to.run().offset + position * y.strides[axis], from.run().offset);
    at.advance(1);
    from.advance(1);
    to.advance(1);
  }
  return PLIM_KERNEL_OK;
}

int32_t scatterNd(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape &updates = *launch->shape[2], &y = *launch->shape[3];
  int64_t reduction = plim_attr_int(launch->attrs, PLIM_SCATTER_REDUCTION);
  SlicesNd slices;
  if (!dtypesFit(launch, reduction) || !slices.prepare(y, *launch->shape[1], launch->buf[1], 0, updates))
    return PLIM_KERNEL_UNSUPPORTED;
  if (launch->phase == 0) {
    copyTasks(launch, first, last);
    return PLIM_KERNEL_OK;
  }
  int64_t size = slices.inner.elements(), count = size ? slices.tuples.elements() : 0;
  if (first != 0 || count == 0)
    return PLIM_KERNEL_OK;
  Cursor from(updates), to = slices.inner.cursor();
  from.seek(0);
  for (int64_t tuple = 0; tuple < count; ++tuple) {
    int64_t base;
    if (!slices.locate(tuple, base))
      return PLIM_KERNEL_BAD_INDEX;
    to.seek(0);
    for (int64_t i = 0; i < size; ++i) {
      updateElement(launch, reduction, base + to.run().offset, from.run().offset);
      to.advance(1);
      from.advance(1);
    }
  }
  return PLIM_KERNEL_OK;
}

} // namespace

extern "C" const plim_kernel plim_kernel_scatter_elements = {
    "scatter.elements", PLIM_KERNEL_ABI, 2, {scatterElements, nullptr, nullptr}};
extern "C" const plim_kernel plim_kernel_scatter_nd = {"scatter.nd", PLIM_KERNEL_ABI, 2, {scatterNd, nullptr, nullptr}};
