//===- unique.cpp - select.unique ------------------------------------------------------------===//
//
// Slices are sorted by number, so that equal ones are neighbours and the first of them comes first. In order of
// appearance, the groups are then numbered by walking over the slices.
//
//===----------------------------------------------------------------------------------------===//

#include "kernels/select/select.h"

#include "kernels/attrs.h"
#include "kernels/convert.h"
#include "kernels/select/merge_sort.h"
#include "kernels/status.h"
#include "kernels/strided.h"

using namespace plim::kernels;

namespace {

/// The slices of a tensor, as rows: slice i starts at start(i), and has the elements that `inside` walks.
struct Slices {
  const void *base;
  uint8_t dtype;
  Axes across, inside;
  int64_t elements; // of a slice

  int64_t start(int64_t slice) const { return across.offsetOf(slice); }
};

/// Below 0, 0 or above 0; NaN is above all numbers and equal to itself.
template <class C> int compareElements(C a, C b) {
  if (a != a || b != b)
    return int(a != a) - int(b != b);
  return a < b ? -1 : a > b;
}

template <class C> int compareSlices(const Slices &s, int64_t a, int64_t b) {
  int64_t x = s.start(a), y = s.start(b);
  for (int64_t i = 0; i < s.elements; ++i) {
    int64_t at = s.inside.offsetOf(i);
    int order = compareElements(loadElement<C>(s.base, s.dtype, x + at), loadElement<C>(s.base, s.dtype, y + at));
    if (order != 0)
      return order;
  }
  return 0;
}

struct Column {
  void *base;
  int64_t stride;

  void set(int64_t row, int64_t value) const { static_cast<int64_t *>(base)[row * stride] = value; }
  int64_t get(int64_t row) const { return static_cast<const int64_t *>(base)[row * stride]; }
};

template <class C> void run(const plim_launch *launch, const Slices &slices, int64_t n) {
  Column first{launch->buf[1], launch->shape[1]->strides[0]}, inverse{launch->buf[2], launch->shape[2]->strides[0]};
  Column counts{launch->buf[3], launch->shape[3]->strides[0]};
  bool sorted = plim_attr_int(launch->attrs, PLIM_SELECT_UNIQUE_SORTED) != 0;
  int64_t *order = static_cast<int64_t *>(launch->shared), *renumbered = order + 2 * n;
  for (int64_t i = 0; i < n; ++i)
    order[i] = i;
  order = mergeSort(order, order + n, n, [&](int64_t a, int64_t b) { return compareSlices<C>(slices, a, b) < 0; });
  int64_t groups = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || compareSlices<C>(slices, order[i - 1], order[i]) != 0)
      renumbered[groups++] = -1;
    inverse.set(order[i], groups - 1);
  }
  int64_t next = 0;
  for (int64_t g = 0; sorted && g < groups; ++g)
    renumbered[g] = next++;
  for (int64_t i = 0; i < n; ++i) {
    first.set(i, 0);
    counts.set(i, 0);
  }
  for (int64_t i = 0; i < n; ++i) {
    int64_t &number = renumbered[inverse.get(i)];
    if (number < 0)
      number = next++;
    inverse.set(i, number);
    if (counts.get(number) == 0)
      first.set(number, i);
    counts.set(number, counts.get(number) + 1);
  }
  *static_cast<int64_t *>(launch->buf[4]) = groups;
}

int32_t unique(const plim_launch *launch, void *, uint32_t first, uint32_t) {
  const plim_shape &x = *launch->shape[0];
  int64_t axis = plim_attr_int(launch->attrs, PLIM_SELECT_UNIQUE_AXIS);
  if (!isKnownDtype(x.dtype) || axis < -1 || axis >= x.rank || plim_elements(launch->shape[4]) != 1)
    return PLIM_KERNEL_UNSUPPORTED;
  uint64_t all = (uint64_t(1) << x.rank) - 1, taken = axis < 0 ? all : uint64_t(1) << axis;
  Slices slices{launch->buf[0], x.dtype, axesIn(x, taken), axesIn(x, all & ~taken), 0};
  slices.elements = slices.inside.elements();
  int64_t n = slices.across.elements();
  for (uint32_t i = 1; i < 5; ++i)
    if (launch->shape[i]->dtype != PLIM_I64 ||
        (i < 4 && (launch->shape[i]->rank != 1 || launch->shape[i]->dims[0] != n)))
      return PLIM_KERNEL_UNSUPPORTED;
  if (first != 0)
    return PLIM_KERNEL_OK;
  if (isFloatDtype(x.dtype))
    run<double>(launch, slices, n);
  else if (isUnsignedDtype(x.dtype) || x.dtype == PLIM_BOOL)
    run<uint64_t>(launch, slices, n);
  else
    run<int64_t>(launch, slices, n);
  return PLIM_KERNEL_OK;
}

} // namespace

extern "C" const plim_kernel plim_kernel_select_unique = {
    "select.unique", PLIM_KERNEL_ABI, 1, {unique, nullptr, nullptr}};
