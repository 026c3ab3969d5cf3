//===- Elementary.h - f32 functions by explicit fma -------------*- C++ -*-===//
//
// Replaces operations of the math dialect on f32 or vectors of f32 by polynomials in fma, with exponents made and
// taken apart by integer arithmetic: the bits do not depend on the machine, and no libm call is left for exp, exp2,
// expm1, log, log2, log10, log1p, tanh, erf, rsqrt and powers with a small constant exponent. Results are right for
// denormals, zeros of both signs, infinities and NaN. Worst errors measured, in ulp:
// exp 0.84, log 0.84, erf 0.98, log1p 1.44, expm1 1.61, log2 1.93, tanh 2.34, log10 2.69.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace plim::gen {

void populateElementaryPatterns(mlir::RewritePatternSet &patterns);

} // namespace plim::gen
