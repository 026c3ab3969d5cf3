//===- binary.cpp - Elementwise operations of two and three inputs ---------------------------===//

#include "kernels/convert.h"
#include "kernels/elementwise/apply.h"
#include "kernels/elementwise/operations.h"

#include <cmath>

namespace plim::kernels {

template <class C, class F> static bool zip(const C *x, const C *y, C *out, int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i)
    out[i] = f(x[i], y[i]);
  return true;
}

template <class C> static constexpr bool isSigned = C(-1) < C(0);

// Truncated division that is defined for all operands: x / 0 = 0, and the lowest value / -1 wraps.
template <class C> static C divide(C x, C y) {
  if (y == 0)
    return 0;
  if (isSigned<C> && y == C(-1))
    return C(-uint64_t(x));
  return x / y;
}

template <class C> static C remainder(C x, C y) {
  if (y == 0 || (isSigned<C> && y == C(-1)))
    return 0;
  return x % y;
}

template <class C> static C power(C base, C exponent) {
  if (exponent < 0)
    return base == 1 ? C(1) : base == C(-1) ? (exponent & 1 ? C(-1) : C(1)) : C(0);
  uint64_t result = 1, factor = uint64_t(base);
  for (uint64_t e = uint64_t(exponent); e; e >>= 1, factor *= factor)
    if (e & 1)
      result *= factor;
  return C(result);
}

template <class C> static bool applyFloatBinary(int64_t op, const C *x, const C *y, C *out, int64_t n) {
  switch (op) {
  case PLIM_EW_ADD:
    return zip(x, y, out, n, [](C p, C q) { return p + q; });
  case PLIM_EW_SUB:
    return zip(x, y, out, n, [](C p, C q) { return p - q; });
  case PLIM_EW_MUL:
    return zip(x, y, out, n, [](C p, C q) { return p * q; });
  case PLIM_EW_DIV:
    return zip(x, y, out, n, [](C p, C q) { return p / q; });
  case PLIM_EW_MOD:
    return zip(x, y, out, n, [](C p, C q) {
      C r = std::fmod(p, q);
      return r != 0 && (r < 0) != (q < 0) ? r + q : r;
    });
  case PLIM_EW_FMOD:
    return zip(x, y, out, n, [](C p, C q) { return std::fmod(p, q); });
  case PLIM_EW_POW:
    return zip(x, y, out, n, [](C p, C q) { return std::pow(p, q); });
  case PLIM_EW_MIN:
    return zip(x, y, out, n, [](C p, C q) { return p != p || p < q ? p : q; });
  case PLIM_EW_MAX:
    return zip(x, y, out, n, [](C p, C q) { return p != p || p > q ? p : q; });
  case PLIM_EW_ATAN2:
    return zip(x, y, out, n, [](C p, C q) { return std::atan2(p, q); });
  default:
    return false;
  }
}

// Arithmetic is done unsigned: it wraps, and the low bits are those of the signed result.
template <class C> static bool applyIntegerBinary(int64_t op, const C *x, const C *y, C *out, int64_t n) {
  using U = uint64_t;
  switch (op) {
  case PLIM_EW_ADD:
    return zip(x, y, out, n, [](C p, C q) { return C(U(p) + U(q)); });
  case PLIM_EW_SUB:
    return zip(x, y, out, n, [](C p, C q) { return C(U(p) - U(q)); });
  case PLIM_EW_MUL:
    return zip(x, y, out, n, [](C p, C q) { return C(U(p) * U(q)); });
  case PLIM_EW_DIV:
    return zip(x, y, out, n, [](C p, C q) { return divide(p, q); });
  case PLIM_EW_MOD:
    return zip(x, y, out, n, [](C p, C q) {
      C r = remainder(p, q);
      return r != 0 && (r < 0) != (q < 0) ? C(U(r) + U(q)) : r;
    });
  case PLIM_EW_FMOD:
    return zip(x, y, out, n, [](C p, C q) { return remainder(p, q); });
  case PLIM_EW_POW:
    return zip(x, y, out, n, [](C p, C q) { return power(p, q); });
  case PLIM_EW_MIN:
    return zip(x, y, out, n, [](C p, C q) { return p < q ? p : q; });
  case PLIM_EW_MAX:
    return zip(x, y, out, n, [](C p, C q) { return p > q ? p : q; });
  case PLIM_EW_BIT_AND:
    return zip(x, y, out, n, [](C p, C q) { return C(p & q); });
  case PLIM_EW_BIT_OR:
    return zip(x, y, out, n, [](C p, C q) { return C(p | q); });
  case PLIM_EW_BIT_XOR:
    return zip(x, y, out, n, [](C p, C q) { return C(p ^ q); });
  case PLIM_EW_SHIFT_LEFT:
    return zip(x, y, out, n, [](C p, C q) { return U(q) < 64 ? C(U(p) << U(q)) : C(0); });
  case PLIM_EW_SHIFT_RIGHT:
    return zip(x, y, out, n, [](C p, C q) { return U(q) < 64 ? C(p >> q) : p < 0 ? C(-1) : C(0); });
  default:
    return false;
  }
}

template <class C> bool applyBinary(int64_t op, const C *x, const C *y, C *out, int64_t n) {
  switch (op) {
  case PLIM_EW_EQUAL:
    return zip(x, y, out, n, [](C p, C q) { return C(p == q); });
  case PLIM_EW_NOT_EQUAL:
    return zip(x, y, out, n, [](C p, C q) { return C(p != q); });
  case PLIM_EW_LESS:
    return zip(x, y, out, n, [](C p, C q) { return C(p < q); });
  case PLIM_EW_LESS_EQUAL:
    return zip(x, y, out, n, [](C p, C q) { return C(p <= q); });
  case PLIM_EW_GREATER:
    return zip(x, y, out, n, [](C p, C q) { return C(p > q); });
  case PLIM_EW_GREATER_EQUAL:
    return zip(x, y, out, n, [](C p, C q) { return C(p >= q); });
  case PLIM_EW_AND:
    return zip(x, y, out, n, [](C p, C q) { return C(p != 0 && q != 0); });
  case PLIM_EW_OR:
    return zip(x, y, out, n, [](C p, C q) { return C(p != 0 || q != 0); });
  case PLIM_EW_XOR:
    return zip(x, y, out, n, [](C p, C q) { return C((p != 0) != (q != 0)); });
  case PLIM_EW_PRELU:
    if constexpr (isFloating<C>)
      return zip(x, y, out, n, [](C p, C q) { return p < 0 ? p * q : p; });
    else
      return zip(x, y, out, n, [](C p, C q) { return p < 0 ? C(uint64_t(p) * uint64_t(q)) : p; });
  default:
    break;
  }
  if constexpr (isFloating<C>)
    return applyFloatBinary(op, x, y, out, n);
  else
    return applyIntegerBinary(op, x, y, out, n);
}

template <class C> bool applyTernary(int64_t op, const C *x, const C *y, const C *z, C *out, int64_t n) {
  switch (op) {
  case PLIM_EW_WHERE:
    for (int64_t i = 0; i < n; ++i)
      out[i] = x[i] != 0 ? y[i] : z[i];
    return true;
  case PLIM_EW_CLAMP:
    for (int64_t i = 0; i < n; ++i) {
      C raised = x[i] < y[i] ? y[i] : x[i];
      out[i] = raised > z[i] ? z[i] : raised;
    }
    return true;
  case PLIM_EW_MULTIPLY_ADD:
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (isFloating<C>)
        out[i] = x[i] * y[i] + z[i];
      else
        out[i] = C(uint64_t(x[i]) * uint64_t(y[i]) + uint64_t(z[i]));
    }
    return true;
  default:
    return false;
  }
}

#define PLIM_INSTANTIATE(C)                                                                                            \
  template bool applyBinary<C>(int64_t, const C *, const C *, C *, int64_t);                                           \
  template bool applyTernary<C>(int64_t, const C *, const C *, const C *, C *, int64_t);
PLIM_INSTANTIATE(float)
PLIM_INSTANTIATE(double)
PLIM_INSTANTIATE(int64_t)
PLIM_INSTANTIATE(uint64_t)
#undef PLIM_INSTANTIATE

} // namespace plim::kernels
