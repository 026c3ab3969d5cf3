//===- kernels/elementwise/operations.h - Elementwise operations on dense blocks -------------===//
#ifndef PLIM_KERNELS_ELEMENTWISE_OPERATIONS_H
#define PLIM_KERNELS_ELEMENTWISE_OPERATIONS_H

#include <cstdint>

namespace plim::kernels {

// out[i] = op(in[0][i], ...) over n elements. C is float, double, int64_t or uint64_t. out may be one of in. The result
// is false where the operation has no form for C.
template <class C> bool applyUnary(int64_t op, const C *x, C *out, int64_t n, double a, double b);
template <class C> bool applyBinary(int64_t op, const C *x, const C *y, C *out, int64_t n);
template <class C> bool applyTernary(int64_t op, const C *x, const C *y, const C *z, C *out, int64_t n);

} // namespace plim::kernels

#endif
