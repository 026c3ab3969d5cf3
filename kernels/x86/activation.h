//===- kernels/x86/activation.h - Activations of kernels/epilogue/epilogue.h --------------===//
//
// exp, erf and tanh in float with explicit fma and no estimate instruction: the same bits at every vector width.
// Relative errors: exp 2e-7, tanh and erf 5e-7.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_X86_ACTIVATION_H
#define PLIM_KERNELS_X86_ACTIVATION_H

#include "kernels/epilogue/epilogue.h"
#include "kernels/x86/vector.h"

namespace plim {
namespace {

PLIM_INLINE Vector polynomial(Vector x, Vector c) { return c; }
/// c0 x^n + c1 x^(n-1) + ... by Horner's rule; `high` is the value of the terms so far.
template <typename... Coefficients>
PLIM_INLINE Vector polynomial(Vector x, Vector high, float c, Coefficients... rest) {
  return polynomial(x, fma(high, x, broadcast(c)), rest...);
}

/// 0 where the result would be below 2^-126: a masked score must weigh nothing, and denormals are slow. At most
/// e^88.37.
PLIM_INLINE Vector exponential(Vector x) {
  const Vector smallest = broadcast(-87.3365478515625f);
  const Vector above = x - smallest;
  x = clamp(x, smallest, broadcast(88.3762626647949f));
  const Vector n = roundToEven(x * broadcast(1.44269504f));
  // ln 2 in two parts; the first has so few bits that n times it is exact.
  Vector r = fma(n, broadcast(-0.693359375f), x);
  r = fma(n, broadcast(2.12194440e-4f), r);
  const Vector p = polynomial(r, broadcast(1.9875691500e-4f), 1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                              1.6666665459e-1f, 5.0000001201e-1f, 1.0f, 1.0f);
  return selectNegative(above, zero(), p * powerOfTwo(n));
}

/// Odd over even polynomial, least squares of the relative error on [-4, 4]; beyond, erf is 1 in float.
PLIM_INLINE Vector errorFunction(Vector x) {
  x = clamp(x, broadcast(-4.0f), broadcast(4.0f));
  Vector s = x * x;
  Vector odd =
      polynomial(s, broadcast(-2.72614225801306e-10f), 2.77068142495902e-08f, -2.10102402082508e-06f,
                 -5.69250639462346e-05f, -7.34990630326855e-04f, -2.95459980854025e-03f, -1.60960333262415e-02f);
  Vector even = polynomial(s, broadcast(-1.45660718464996e-05f), -2.13374055278905e-04f, -1.68282697438203e-03f,
                           -7.37332916720468e-03f, -1.42647390514189e-02f);
  return clamp(x * odd / even, broadcast(-1.0f), broadcast(1.0f));
}

PLIM_INLINE Vector hyperbolicTangent(Vector x) {
  x = clamp(x, broadcast(-7.90531110763549805f), broadcast(7.90531110763549805f));
  Vector s = x * x;
  Vector odd = polynomial(s, broadcast(-2.76076847742355e-16f), 2.00018790482477e-13f, -8.60467152213735e-11f,
                          5.12229709037114e-08f, 1.48572235717979e-05f, 6.37261928875436e-04f, 4.89352455891786e-03f);
  Vector even = polynomial(s, broadcast(1.19825839466702e-06f), 1.18534705686654e-04f, 2.26843463243900e-03f,
                           4.89352518554385e-03f);
  return clamp(x * odd / even, broadcast(-1.0f), broadcast(1.0f));
}

/// What runs on the accumulators: the activation and its parameters in float.
struct Activation {
  plim_activation kind;
  float a, b;
};

/// Cheap enough to run on the accumulators of a tile while they are in registers.
PLIM_INLINE bool isClamp(plim_activation kind) {
  return kind == PLIM_ACT_NONE || kind == PLIM_ACT_RELU || kind == PLIM_ACT_CLIP;
}
PLIM_INLINE float clampLower(const Activation &act) {
  return act.kind == PLIM_ACT_RELU ? 0.0f : act.kind == PLIM_ACT_CLIP ? act.a : -__builtin_inff();
}
PLIM_INLINE float clampUpper(const Activation &act) { return act.kind == PLIM_ACT_CLIP ? act.b : __builtin_inff(); }

PLIM_INLINE Vector hardSwish(Vector x) {
  return x * clamp(fma(x, broadcast(1.0f / 6.0f), broadcast(0.5f)), zero(), broadcast(1.0f));
}

PLIM_INLINE Vector activate(Vector x, const Activation &act) {
  const Vector one = broadcast(1.0f);
  switch (act.kind) {
  case PLIM_ACT_NONE:
  case PLIM_ACT_RELU:
  case PLIM_ACT_CLIP:
    return clamp(x, broadcast(clampLower(act)), broadcast(clampUpper(act)));
  case PLIM_ACT_LEAKY_RELU:
    return selectNegative(x, x * broadcast(act.a), x);
  case PLIM_ACT_SIGMOID:
    return one / (one + exponential(-x));
  case PLIM_ACT_HARD_SIGMOID:
    return clamp(fma(x, broadcast(act.a), broadcast(act.b)), zero(), one);
  case PLIM_ACT_HARD_SWISH:
    return hardSwish(x);
  case PLIM_ACT_SILU:
    return x / (one + exponential(-x));
  case PLIM_ACT_GELU_ERF:
    return x * broadcast(0.5f) * (one + errorFunction(x * broadcast(0.70710678118654752f)));
  case PLIM_ACT_GELU_TANH: {
    // 1/2 (1 + tanh u) = 1 / (1 + exp(-2u)), which keeps its relative accuracy where tanh u is near -1.
    Vector u = x * fma(x * x, broadcast(0.79788456080286536f * 0.044715f), broadcast(0.79788456080286536f));
    return x / (one + exponential(broadcast(-2.0f) * u));
  }
  case PLIM_ACT_TANH:
    return hyperbolicTangent(x);
  case PLIM_ACT_COUNT:
    break;
  }
  __builtin_unreachable();
}

} // namespace
} // namespace plim

#endif
