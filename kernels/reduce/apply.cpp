//===- apply.cpp - reduce.apply --------------------------------------------------------------===//

#include "kernels/attrs.h"
#include "kernels/convert.h"
#include "kernels/reduce/axes.h"
#include "kernels/reduce/reduce.h"
#include "kernels/status.h"

#include <cmath>

using namespace plim::kernels;

namespace {

constexpr int64_t blockElements = 256;

// Accumulators of C: double, int64_t or uint64_t. Integer sums and products are done unsigned, so that they wrap.
template <class C> struct Arithmetic {
  static C add(C a, C b) { return C(uint64_t(a) + uint64_t(b)); }
  static C mul(C a, C b) { return C(uint64_t(a) * uint64_t(b)); }
  static C abs(C v) { return v < C(1) ? C(-uint64_t(v)) : v; }
  static C highestValue() { return highest<C>; }
  static C lowestValue() { return lowest<C>; }
};
template <> struct Arithmetic<double> {
  static double add(double a, double b) { return a + b; }
  static double mul(double a, double b) { return a * b; }
  static double abs(double v) { return std::fabs(v); }
  static double highestValue() { return INFINITY; }
  static double lowestValue() { return -INFINITY; }
};

template <class C> C initial(int64_t op) {
  switch (op) {
  case PLIM_REDUCE_MAX:
  case PLIM_REDUCE_LOG_SUM_EXP:
    return Arithmetic<C>::lowestValue();
  case PLIM_REDUCE_MIN:
    return Arithmetic<C>::highestValue();
  case PLIM_REDUCE_PROD:
    return 1;
  default:
    return 0;
  }
}

template <class C> C fold(int64_t op, C acc, const C *x, int64_t n) {
  using A = Arithmetic<C>;
  switch (op) {
  case PLIM_REDUCE_MAX:
  case PLIM_REDUCE_LOG_SUM_EXP:
    for (int64_t i = 0; i < n; ++i)
      acc = acc != acc || acc > x[i] ? acc : x[i];
    break;
  case PLIM_REDUCE_MIN:
    for (int64_t i = 0; i < n; ++i)
      acc = acc != acc || acc < x[i] ? acc : x[i];
    break;
  case PLIM_REDUCE_PROD:
    for (int64_t i = 0; i < n; ++i)
      acc = A::mul(acc, x[i]);
    break;
  case PLIM_REDUCE_L1:
    for (int64_t i = 0; i < n; ++i)
      acc = A::add(acc, A::abs(x[i]));
    break;
  case PLIM_REDUCE_L2:
  case PLIM_REDUCE_SUM_SQUARE:
    for (int64_t i = 0; i < n; ++i)
      acc = A::add(acc, A::mul(x[i], x[i]));
    break;
  default:
    for (int64_t i = 0; i < n; ++i)
      acc = A::add(acc, x[i]);
  }
  return acc;
}

// Calls f(block, n) over the elements of one reduction.
template <class C, class F> void forBlocks(const plim_launch *launch, int64_t offset, Cursor inner, int64_t n, F f) {
  const plim_shape &x = *launch->shape[0];
  const char *base = static_cast<const char *>(launch->buf[0]) + offset * int64_t(plim_dtype_bytes(x.dtype));
  C block[blockElements];
  for (int64_t at = 0; at < n; at += blockElements) {
    int64_t count = n - at < blockElements ? n - at : blockElements;
    loadBlock(base, x.dtype, inner, count, block);
    f(block, count);
  }
}

template <class C> void storeResult(const plim_launch *launch, int64_t at, int64_t op, C acc, int64_t n) {
  const plim_shape &y = *launch->shape[1];
  if constexpr (isFloating<C>) {
    if (op == PLIM_REDUCE_MEAN)
      acc = acc / double(n);
    else if (n == 0 && (op == PLIM_REDUCE_MAX || op == PLIM_REDUCE_MIN))
      acc = NAN;
    else if (op == PLIM_REDUCE_L2)
      acc = std::sqrt(acc);
    else if (op == PLIM_REDUCE_LOG_SUM)
      acc = std::log(acc);
    storeElement(launch->buf[1], y.dtype, at, acc);
  } else {
    if (op == PLIM_REDUCE_MEAN)
      acc = n == 0 ? 0 : acc / C(n);
    // Infinity saturates to the limits of a narrow type. The lowest unsigned value is 0, which acc is.
    if (n == 0 && op == PLIM_REDUCE_MIN)
      storeElement(launch->buf[1], y.dtype, at, double(INFINITY));
    else if (n == 0 && op == PLIM_REDUCE_MAX && acc != C(0))
      storeElement(launch->buf[1], y.dtype, at, -double(INFINITY));
    else if (op == PLIM_REDUCE_L2)
      storeElement(launch->buf[1], y.dtype, at, std::sqrt(double(acc)));
    else if (op == PLIM_REDUCE_LOG_SUM)
      storeElement(launch->buf[1], y.dtype, at, std::log(double(acc)));
    else
      storeElement(launch->buf[1], y.dtype, at, acc);
  }
}

template <class C> void runOutputs(const plim_launch *launch, const ReducedAxes &axes, int64_t op, Range range) {
  Cursor inner = axes.reduced.cursor();
  int64_t n = axes.reduced.elements();
  for (int64_t out = range.begin; out < range.end; ++out) {
    int64_t offset = axes.kept.offsetOf(out);
    C acc = initial<C>(op);
    forBlocks<C>(launch, offset, inner, n, [&](const C *x, int64_t count) { acc = fold(op, acc, x, count); });
    if constexpr (isFloating<C>)
      if (op == PLIM_REDUCE_LOG_SUM_EXP && std::isfinite(acc)) {
        double sum = 0;
        forBlocks<C>(launch, offset, inner, n, [&](const C *x, int64_t count) {
          for (int64_t i = 0; i < count; ++i)
            sum += std::exp(x[i] - acc);
        });
        acc += std::log(sum);
      }
    storeResult(launch, axes.result.offsetOf(out), op, acc, n);
  }
}

int32_t apply(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  const plim_shape &x = *launch->shape[0], &y = *launch->shape[1];
  int64_t op = plim_attr_int(launch->attrs, PLIM_REDUCE_OP);
  ReducedAxes axes;
  if (op < 0 || op >= PLIM_REDUCE_OP_COUNT || !isKnownDtype(x.dtype) || !isKnownDtype(y.dtype) ||
      !axes.split(x, y, uint64_t(plim_attr_int(launch->attrs, PLIM_REDUCE_AXES))))
    return PLIM_KERNEL_UNSUPPORTED;
  Range range = taskRange(axes.kept.elements(), launch, first, last);
  if (isFloatDtype(x.dtype) || op == PLIM_REDUCE_LOG_SUM_EXP)
    runOutputs<double>(launch, axes, op, range);
  else if (isUnsignedDtype(x.dtype) || x.dtype == PLIM_BOOL)
    runOutputs<uint64_t>(launch, axes, op, range);
  else
    runOutputs<int64_t>(launch, axes, op, range);
  return PLIM_KERNEL_OK;
}

} // namespace

extern "C" const plim_kernel plim_kernel_reduce_apply = {"reduce.apply", PLIM_KERNEL_ABI, 1, {apply, nullptr, nullptr}};
