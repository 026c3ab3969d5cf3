//===- reference.cpp - norm.layer, norm.rms, norm.group --------------------------------------===//
//
// One loop serves all three: a unit is a set of elements that share their statistics, given by the axes that it spans.
// Parameters are walked along with the elements, with strides of 0 on the axes that they do not have.
//
//===----------------------------------------------------------------------------------------===//

#include "kernels/attrs.h"
#include "kernels/convert.h"
#include "kernels/norm/norm.h"
#include "kernels/status.h"
#include "kernels/strided.h"

#include <cmath>
#include <initializer_list>

using namespace plim::kernels;

namespace {

constexpr int64_t blockElements = 256;

// An operand as units times elements of a unit.
struct Operand {
  const plim_shape *shape = nullptr; // null where absent
  void *buf = nullptr;
  Axes units, inner;

  char *at(int64_t unit) const {
    return static_cast<char *>(buf) + units.offsetOf(unit) * int64_t(plim_dtype_bytes(shape->dtype));
  }
};

struct Problem {
  Operand x, scale, bias, y;
  double epsilon;
  bool centered; // whether the mean is subtracted
};

struct Statistics {
  double mean, factor;
};

template <class F> void forBlocks(const Operand &x, int64_t unit, int64_t n, F f) {
  Cursor cursor = x.inner.cursor();
  double block[blockElements];
  for (int64_t at = 0; at < n; at += blockElements) {
    int64_t count = n - at < blockElements ? n - at : blockElements;
    loadBlock(x.at(unit), x.shape->dtype, cursor, count, block);
    f(block, count);
  }
}

Statistics statisticsOf(const Problem &p, int64_t unit, int64_t n) {
  double mean = 0, squares = 0;
  if (p.centered) {
    forBlocks(p.x, unit, n, [&](const double *v, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        mean += v[i];
    });
    mean /= double(n);
  }
  forBlocks(p.x, unit, n, [&](const double *v, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      squares += (v[i] - mean) * (v[i] - mean);
  });
  return {mean, 1 / std::sqrt(squares / double(n) + p.epsilon)};
}

void runUnits(const Problem &p, Range range) {
  int64_t n = p.x.inner.elements();
  for (int64_t unit = range.begin; unit < range.end; ++unit) {
    Statistics s = statisticsOf(p, unit, n);
    Cursor scaleAt = p.scale.inner.cursor(), biasAt = p.bias.inner.cursor(), yAt = p.y.inner.cursor();
    double parameter[blockElements];
    forBlocks(p.x, unit, n, [&](double *v, int64_t count) {
      for (int64_t i = 0; i < count; ++i)
        v[i] = (v[i] - s.mean) * s.factor;
      if (p.scale.shape) {
        loadBlock(p.scale.at(unit), p.scale.shape->dtype, scaleAt, count, parameter);
        for (int64_t i = 0; i < count; ++i)
          v[i] *= parameter[i];
      }
      if (p.bias.shape) {
        loadBlock(p.bias.at(unit), p.bias.shape->dtype, biasAt, count, parameter);
        for (int64_t i = 0; i < count; ++i)
          v[i] += parameter[i];
      }
      storeBlock(p.y.at(unit), p.y.shape->dtype, yAt, count, v);
    });
  }
}

// Binds X, the optional parameters and Y; false where their number, dtypes or dims do not fit.
bool bind(const plim_launch *launch, Problem &p, bool mayHaveBias) {
  int64_t flags = plim_attr_int(launch->attrs, PLIM_NORM_FLAGS);
  if (flags & PLIM_NORM_BIAS && !mayHaveBias)
    return false;
  Operand *operands[4] = {&p.x};
  uint32_t count = 1;
  if (flags & PLIM_NORM_SCALE)
    operands[count++] = &p.scale;
  if (flags & PLIM_NORM_BIAS)
    operands[count++] = &p.bias;
  operands[count++] = &p.y;
  if (launch->operands != count)
    return false;
  for (uint32_t i = 0; i < count; ++i) {
    operands[i]->shape = launch->shape[i];
    operands[i]->buf = launch->buf[i];
    if (!isFloatDtype(launch->shape[i]->dtype))
      return false;
  }
  p.epsilon = plim_attr_double(launch->attrs, PLIM_NORM_EPSILON);
  return sameDims(*p.x.shape, *p.y.shape);
}

// Units are the elements of the leading axes.
bool splitAtAxis(Problem &p, int64_t axis) {
  const plim_shape &x = *p.x.shape;
  if (axis < 0 || axis >= x.rank)
    return false;
  uint64_t leading = (uint64_t(1) << axis) - 1;
  for (Operand *operand : {&p.x, &p.y}) {
    operand->units = axesIn(*operand->shape, leading);
    operand->inner = axesIn(*operand->shape, ~leading);
  }
  for (Operand *operand : {&p.scale, &p.bias}) {
    if (!operand->shape)
      continue;
    const plim_shape &s = *operand->shape;
    if (s.rank != x.rank - axis)
      return false;
    for (uint32_t i = 0; i < s.rank; ++i)
      if (s.dims[i] != x.dims[axis + i])
        return false;
    operand->inner = axesIn(s, ~uint64_t(0));
    for (uint32_t i = 0; i < p.x.units.rank; ++i)
      operand->units.push(p.x.units.dims[i], 0);
  }
  return true;
}

// Units are [batch, group], elements of a unit [channel of the group, the other axes].
bool splitGroups(Problem &p, int64_t axis, int64_t groups) {
  const plim_shape &x = *p.x.shape;
  if (x.rank < 2 || axis < 1 || axis >= x.rank || groups < 1 || x.dims[axis] % groups)
    return false;
  int64_t channels = x.dims[axis], size = channels / groups;
  for (Operand *operand : {&p.x, &p.y}) {
    const plim_shape &s = *operand->shape;
    operand->units.push(s.dims[0], s.strides[0]);
    operand->units.push(groups, s.strides[axis] * size);
    operand->inner.push(size, s.strides[axis]);
    for (uint32_t i = 1; i < s.rank; ++i)
      if (i != axis)
        operand->inner.push(s.dims[i], s.strides[i]);
  }
  for (Operand *operand : {&p.scale, &p.bias}) {
    if (!operand->shape)
      continue;
    const plim_shape &s = *operand->shape;
    if (s.rank != 1 || s.dims[0] != channels)
      return false;
    operand->units.push(x.dims[0], 0);
    operand->units.push(groups, s.strides[0] * size);
    operand->inner.push(size, s.strides[0]);
    for (uint32_t i = 1; i < x.rank; ++i)
      if (i != axis)
        operand->inner.push(x.dims[i], 0);
  }
  return true;
}

int32_t runIfAny(const plim_launch *launch, const Problem &p, uint32_t first, uint32_t last) {
  runUnits(p, taskRange(p.x.inner.elements() ? p.x.units.elements() : 0, launch, first, last));
  return PLIM_KERNEL_OK;
}

int32_t layer(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  Problem p;
  p.centered = true;
  if (!bind(launch, p, true) || !splitAtAxis(p, plim_attr_int(launch->attrs, PLIM_NORM_AXIS)))
    return PLIM_KERNEL_UNSUPPORTED;
  return runIfAny(launch, p, first, last);
}

int32_t rms(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  Problem p;
  p.centered = false;
  if (!bind(launch, p, false) || !splitAtAxis(p, plim_attr_int(launch->attrs, PLIM_NORM_AXIS)))
    return PLIM_KERNEL_UNSUPPORTED;
  return runIfAny(launch, p, first, last);
}

int32_t group(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  Problem p;
  p.centered = true;
  if (!bind(launch, p, true) ||
      !splitGroups(p, plim_attr_int(launch->attrs, PLIM_NORM_AXIS), plim_attr_int(launch->attrs, PLIM_NORM_GROUPS)))
    return PLIM_KERNEL_UNSUPPORTED;
  return runIfAny(launch, p, first, last);
}

} // namespace

extern "C" const plim_kernel plim_kernel_norm_layer = {"norm.layer", PLIM_KERNEL_ABI, 1, {layer, nullptr, nullptr}};
extern "C" const plim_kernel plim_kernel_norm_rms = {"norm.rms", PLIM_KERNEL_ABI, 1, {rms, nullptr, nullptr}};
extern "C" const plim_kernel plim_kernel_norm_group = {"norm.group", PLIM_KERNEL_ABI, 1, {group, nullptr, nullptr}};
