//===- kernels/epilogue/reference.h - Epilogue of the reference kernels ---------------------===//
#ifndef PLIM_KERNELS_EPILOGUE_REFERENCE_H
#define PLIM_KERNELS_EPILOGUE_REFERENCE_H

#include "kernels/attrs.h"
#include "kernels/elementwise/scalar_math.h"
#include "kernels/epilogue/epilogue.h"

namespace plim::kernels {

struct Activation {
  int64_t kind;
  double a, b;

  // From three consecutive words: the kind, a, b.
  Activation(const void *attrs, int word)
      : kind(plim_attr_int(attrs, word)), a(plim_attr_double(attrs, word + 1)), b(plim_attr_double(attrs, word + 2)) {}

  bool isKnown() const { return kind >= PLIM_ACT_NONE && kind < PLIM_ACT_COUNT; }

  double operator()(double x) const {
    switch (kind) {
    case PLIM_ACT_RELU:
      return relu(x);
    case PLIM_ACT_CLIP:
      return clampTo(x, a, b);
    case PLIM_ACT_LEAKY_RELU:
      return leakyRelu(x, a);
    case PLIM_ACT_SIGMOID:
      return sigmoid(x);
    case PLIM_ACT_HARD_SIGMOID:
      return hardSigmoid(x, a, b);
    case PLIM_ACT_HARD_SWISH:
      return hardSwish(x);
    case PLIM_ACT_SILU:
      return silu(x);
    case PLIM_ACT_GELU_ERF:
      return geluErf(x);
    case PLIM_ACT_GELU_TANH:
      return geluTanh(x);
    case PLIM_ACT_TANH:
      return std::tanh(x);
    default:
      return x;
    }
  }
};

// Positions of the optional operands that follow `inputs` required ones; the output comes last.
struct EpilogueOperands {
  int bias = -1, residual = -1;
  uint32_t output;

  EpilogueOperands(int64_t flags, uint32_t inputs) : output(inputs) {
    if (flags & PLIM_EPILOGUE_BIAS)
      bias = int(output++);
    if (flags & PLIM_EPILOGUE_RESIDUAL)
      residual = int(output++);
  }
};

} // namespace plim::kernels

#endif
