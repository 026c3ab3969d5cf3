//===- non_max_suppression.cpp - select.non_max_suppression ----------------------------------===//

#include "kernels/select/select.h"

#include "kernels/attrs.h"
#include "kernels/convert.h"
#include "kernels/select/merge_sort.h"
#include "kernels/status.h"
#include "kernels/strided.h"

using namespace plim::kernels;

namespace {

/// Corners in order.
struct Box {
  float low[2], high[2];

  float area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
};

float floatAt(const plim_launch *launch, uint32_t operand, int64_t offset) {
  return static_cast<const float *>(launch->buf[operand])[offset];
}

Box boxAt(const plim_launch *launch, int64_t batch, int64_t number) {
  const plim_shape &boxes = *launch->shape[0];
  int64_t base = batch * boxes.strides[0] + number * boxes.strides[1];
  float v[4];
  for (int i = 0; i < 4; ++i)
    v[i] = floatAt(launch, 0, base + i * boxes.strides[2]);
  Box box;
  bool isCenter = plim_attr_int(launch->attrs, PLIM_SELECT_NMS_CENTER) != 0;
  for (int i = 0; i < 2; ++i) {
    float a = isCenter ? v[i] - v[i + 2] / 2 : v[i], b = isCenter ? v[i] + v[i + 2] / 2 : v[i + 2];
    box.low[i] = a < b ? a : b;
    box.high[i] = a < b ? b : a;
  }
  return box;
}

bool overlaps(const Box &a, const Box &b, float threshold) {
  float shared = 1;
  for (int i = 0; i < 2; ++i) {
    float low = a.low[i] > b.low[i] ? a.low[i] : b.low[i], high = a.high[i] < b.high[i] ? a.high[i] : b.high[i];
    if (!(high > low))
      return false;
    shared *= high - low;
  }
  float joint = a.area() + b.area() - shared;
  return a.area() > 0 && b.area() > 0 && joint > 0 && shared / joint > threshold;
}

int32_t nonMaxSuppression(const plim_launch *launch, void *, uint32_t first, uint32_t) {
  const plim_shape &boxes = *launch->shape[0], &scores = *launch->shape[1], &out = *launch->shape[5];
  if (boxes.rank != 3 || scores.rank != 3 || boxes.dims[2] != 4 || boxes.dims[0] != scores.dims[0] ||
      boxes.dims[1] != scores.dims[2] || out.rank != 2 || out.dims[1] != 3)
    return PLIM_KERNEL_UNSUPPORTED;
  constexpr uint8_t dtypes[] = {PLIM_F32, PLIM_F32, PLIM_I64, PLIM_F32, PLIM_F32, PLIM_I64, PLIM_I64};
  for (uint32_t i = 0; i < 7; ++i)
    if (launch->shape[i]->dtype != dtypes[i] || (i != 0 && i != 1 && i != 5 && plim_elements(launch->shape[i]) != 1))
      return PLIM_KERNEL_UNSUPPORTED;
  if (first != 0)
    return PLIM_KERNEL_OK;
  int64_t n = boxes.dims[1], most = *static_cast<const int64_t *>(launch->buf[2]), rows = 0;
  float overlap = floatAt(launch, 3, 0), least = floatAt(launch, 4, 0);
  int64_t *selected = static_cast<int64_t *>(launch->buf[5]);
  for (int64_t batch = 0; batch < scores.dims[0]; ++batch)
    for (int64_t kind = 0; kind < scores.dims[1]; ++kind) {
      auto scoreOf = [&](int64_t i) {
        return floatAt(launch, 1, batch * scores.strides[0] + kind * scores.strides[1] + i * scores.strides[2]);
      };
      int64_t *order = static_cast<int64_t *>(launch->shared), candidates = 0, begin = rows;
      for (int64_t i = 0; i < n; ++i)
        if (scoreOf(i) > least)
          order[candidates++] = i;
      order = mergeSort(order, order + n, candidates, [&](int64_t a, int64_t b) { return scoreOf(a) > scoreOf(b); });
      for (int64_t i = 0; i < candidates && rows - begin < most; ++i) {
        Box box = boxAt(launch, batch, order[i]);
        bool isFree = true;
        for (int64_t row = begin; isFree && row < rows; ++row)
          isFree = !overlaps(box, boxAt(launch, batch, selected[row * out.strides[0] + 2 * out.strides[1]]), overlap);
        if (!isFree)
          continue;
        if (rows == out.dims[0])
          return PLIM_KERNEL_BAD_INDEX;
        const int64_t found[] = {batch, kind, order[i]};
        for (int64_t column = 0; column < 3; ++column)
          selected[rows * out.strides[0] + column * out.strides[1]] = found[column];
        ++rows;
      }
    }
  for (int64_t row = rows; row < out.dims[0]; ++row)
    for (int64_t column = 0; column < 3; ++column)
      selected[row * out.strides[0] + column * out.strides[1]] = 0;
  *static_cast<int64_t *>(launch->buf[6]) = rows;
  return PLIM_KERNEL_OK;
}

} // namespace

extern "C" const plim_kernel plim_kernel_select_non_max_suppression = {
    "select.non_max_suppression", PLIM_KERNEL_ABI, 1, {nonMaxSuppression, nullptr, nullptr}};
