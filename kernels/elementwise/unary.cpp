//===- unary.cpp - Elementwise operations of one input ---------------------------------------===//

#include "kernels/convert.h"
#include "kernels/elementwise/apply.h"
#include "kernels/elementwise/operations.h"
#include "kernels/elementwise/scalar_math.h"

namespace plim::kernels {

template <class C, class F> static bool map(const C *x, C *out, int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = f(x[i]);
  return true;
}

template <class C> static bool applyFloatUnary(int64_t op, const C *x, C *out, int64_t n, C a, C b) {
  switch (op) {
  case PLIM_EW_FLOOR:
    return map(x, out, n, [](C v) { return std::floor(v); });
  case PLIM_EW_CEIL:
    return map(x, out, n, [](C v) { return std::ceil(v); });
  case PLIM_EW_ROUND:
    return map(x, out, n, [](C v) { return std::nearbyint(v); });
  case PLIM_EW_SQRT:
    return map(x, out, n, [](C v) { return std::sqrt(v); });
  case PLIM_EW_RSQRT:
    return map(x, out, n, [](C v) { return 1 / std::sqrt(v); });
  case PLIM_EW_RECIPROCAL:
    return map(x, out, n, [](C v) { return 1 / v; });
  case PLIM_EW_EXP:
    return map(x, out, n, [](C v) { return std::exp(v); });
  case PLIM_EW_LOG:
    return map(x, out, n, [](C v) { return std::log(v); });
  case PLIM_EW_ERF:
    return map(x, out, n, [](C v) { return std::erf(v); });
  case PLIM_EW_SIN:
    return map(x, out, n, [](C v) { return std::sin(v); });
  case PLIM_EW_COS:
    return map(x, out, n, [](C v) { return std::cos(v); });
  case PLIM_EW_TAN:
    return map(x, out, n, [](C v) { return std::tan(v); });
  case PLIM_EW_ASIN:
    return map(x, out, n, [](C v) { return std::asin(v); });
  case PLIM_EW_ACOS:
    return map(x, out, n, [](C v) { return std::acos(v); });
  case PLIM_EW_ATAN:
    return map(x, out, n, [](C v) { return std::atan(v); });
  case PLIM_EW_SINH:
    return map(x, out, n, [](C v) { return std::sinh(v); });
  case PLIM_EW_COSH:
    return map(x, out, n, [](C v) { return std::cosh(v); });
  case PLIM_EW_TANH:
    return map(x, out, n, [](C v) { return std::tanh(v); });
  case PLIM_EW_ASINH:
    return map(x, out, n, [](C v) { return std::asinh(v); });
  case PLIM_EW_ACOSH:
    return map(x, out, n, [](C v) { return std::acosh(v); });
  case PLIM_EW_ATANH:
    return map(x, out, n, [](C v) { return std::atanh(v); });
  case PLIM_EW_SIGMOID:
    return map(x, out, n, [](C v) { return sigmoid(v); });
  case PLIM_EW_LEAKY_RELU:
    return map(x, out, n, [=](C v) { return leakyRelu(v, a); });
  case PLIM_EW_ELU:
    return map(x, out, n, [=](C v) { return v < 0 ? a * std::expm1(v) : v; });
  case PLIM_EW_SELU:
    return map(x, out, n, [=](C v) { return b * (v < 0 ? a * std::expm1(v) : v); });
  case PLIM_EW_CELU:
    return map(x, out, n, [=](C v) { return v < 0 ? a * std::expm1(v / a) : v; });
  case PLIM_EW_HARD_SIGMOID:
    return map(x, out, n, [=](C v) { return hardSigmoid(v, a, b); });
  case PLIM_EW_HARD_SWISH:
    return map(x, out, n, [](C v) { return hardSwish(v); });
  case PLIM_EW_SILU:
    return map(x, out, n, [](C v) { return silu(v); });
  case PLIM_EW_GELU_ERF:
    return map(x, out, n, [](C v) { return geluErf(v); });
  case PLIM_EW_GELU_TANH:
    return map(x, out, n, [](C v) { return geluTanh(v); });
  case PLIM_EW_SOFTPLUS:
    return map(x, out, n, [](C v) { return softplus(v); });
  case PLIM_EW_SOFTSIGN:
    return map(x, out, n, [](C v) { return v / (1 + std::fabs(v)); });
  case PLIM_EW_MISH:
    return map(x, out, n, [](C v) { return v * std::tanh(softplus(v)); });
  case PLIM_EW_THRESHOLDED_RELU:
    return map(x, out, n, [=](C v) { return v > a ? v : C(0); });
  case PLIM_EW_SHRINK:
    return map(x, out, n, [=](C v) { return v < -a ? v + b : v > a ? v - b : C(0); });
  case PLIM_EW_IS_NAN:
    return map(x, out, n, [](C v) { return C(v != v); });
  case PLIM_EW_IS_INF:
    return map(x, out, n, [=](C v) { return C((a != 0 && v == -C(INFINITY)) || (b != 0 && v == C(INFINITY))); });
  default:
    return false;
  }
}

template <class C> static bool applyIntegerUnary(int64_t op, const C *x, C *out, int64_t n) {
  switch (op) {
  case PLIM_EW_FLOOR:
  case PLIM_EW_CEIL:
  case PLIM_EW_ROUND:
    return map(x, out, n, [](C v) { return v; });
  case PLIM_EW_BIT_NOT:
    return map(x, out, n, [](C v) { return C(~v); });
  default:
    return false;
  }
}

template <class C> bool applyUnary(int64_t op, const C *x, C *out, int64_t n, double a, double b) {
  switch (op) {
  case PLIM_EW_NEG:
    if constexpr (isFloating<C>)
      return map(x, out, n, [](C v) { return -v; });
    else
      return map(x, out, n, [](C v) { return C(-uint64_t(v)); });
  case PLIM_EW_ABS:
    if constexpr (isFloating<C>)
      return map(x, out, n, [](C v) { return std::fabs(v); });
    else
      return map(x, out, n, [](C v) { return v < C(1) ? C(-uint64_t(v)) : v; });
  case PLIM_EW_SIGN:
    return map(x, out, n, [](C v) { return v > 0 ? C(1) : v < 0 ? C(-1) : v; });
  case PLIM_EW_RELU:
    return map(x, out, n, [](C v) { return v < 0 ? C(0) : v; });
  case PLIM_EW_CLIP: {
    C lo = Encode<C, double>::of(a), hi = Encode<C, double>::of(b);
    return map(x, out, n, [=](C v) { return v < lo ? lo : v > hi ? hi : v; });
  }
  case PLIM_EW_NOT:
    return map(x, out, n, [](C v) { return C(v == 0); });
  case PLIM_EW_IDENTITY:
    return map(x, out, n, [](C v) { return v; });
  default:
    break;
  }
  if constexpr (isFloating<C>)
    return applyFloatUnary<C>(op, x, out, n, C(a), C(b));
  else
    return applyIntegerUnary<C>(op, x, out, n);
}

template bool applyUnary<float>(int64_t, const float *, float *, int64_t, double, double);
template bool applyUnary<double>(int64_t, const double *, double *, int64_t, double, double);
template bool applyUnary<int64_t>(int64_t, const int64_t *, int64_t *, int64_t, double, double);
template bool applyUnary<uint64_t>(int64_t, const uint64_t *, uint64_t *, int64_t, double, double);

} // namespace plim::kernels
