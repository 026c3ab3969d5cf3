//===- kernels/elementwise/scalar_math.h - Activation functions of one scalar ---------------===//
//
// Shared by elementwise.apply and the epilogues of the reference kernels. C is float or double. NaN goes through all.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_ELEMENTWISE_SCALAR_MATH_H
#define PLIM_KERNELS_ELEMENTWISE_SCALAR_MATH_H

#include <cmath>

namespace plim::kernels {

template <class C> C clampTo(C x, C lo, C hi) { return x < lo ? lo : x > hi ? hi : x; }
template <class C> C relu(C x) { return x < 0 ? C(0) : x; }
template <class C> C leakyRelu(C x, C slope) { return x < 0 ? slope * x : x; }
template <class C> C sigmoid(C x) { return 1 / (1 + std::exp(-x)); }
template <class C> C hardSigmoid(C x, C slope, C shift) { return clampTo<C>(slope * x + shift, 0, 1); }
template <class C> C hardSwish(C x) { return x * clampTo<C>(x / 6 + C(0.5), 0, 1); }
template <class C> C silu(C x) { return x / (1 + std::exp(-x)); }
template <class C> C geluErf(C x) { return C(0.5) * x * (1 + std::erf(x * C(0.70710678118654752440))); }
template <class C> C geluTanh(C x) {
  return C(0.5) * x * (1 + std::tanh(C(0.79788456080286535588) * (x + C(0.044715) * x * x * x)));
}
// log(1 + exp(x)) without overflow.
template <class C> C softplus(C x) { return (x > 0 ? x : C(0)) + std::log1p(std::exp(x > 0 ? -x : x)); }

} // namespace plim::kernels

#endif
