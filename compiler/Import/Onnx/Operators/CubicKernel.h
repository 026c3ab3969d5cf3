// Cubic convolution as resizes and samples between pixels use it.
#pragma once
#include "compiler/Import/Onnx/Operators/Term.h"

namespace plim::onnx {

/// The weight of a pixel at distance x of a kernel with coefficient a: `near` up to 1, `far` from 1 to 2.
inline Term nearCubic(Term x, double a) { return (x * (a + 2) - (a + 3)) * x * x + 1.0; }
inline Term farCubic(Term x, double a) { return (((x - 5.0) * x + 8.0) * x - 4.0) * a; }

} // namespace plim::onnx
