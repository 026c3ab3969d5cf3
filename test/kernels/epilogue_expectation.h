//===- epilogue_expectation.h - What an epilogue's activation must give ----------------------===//
#ifndef PLIM_TEST_KERNELS_EPILOGUE_EXPECTATION_H
#define PLIM_TEST_KERNELS_EPILOGUE_EXPECTATION_H

#include "kernels/epilogue/epilogue.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace plim::test {

// In double precision, after the formulas of epilogue.h.
inline double expectedActivation(int64_t activation, double x, double a, double b) {
  switch (activation) {
  case PLIM_ACT_RELU:
    return std::max(x, 0.0);
  case PLIM_ACT_CLIP:
    return std::min(std::max(x, a), b);
  case PLIM_ACT_LEAKY_RELU:
    return x < 0 ? a * x : x;
  case PLIM_ACT_SIGMOID:
    return 0.5 * (1 + std::tanh(x / 2));
  case PLIM_ACT_HARD_SIGMOID:
    return std::min(std::max(a * x + b, 0.0), 1.0);
  case PLIM_ACT_HARD_SWISH:
    return x * std::min(std::max(x + 3, 0.0), 6.0) / 6;
  case PLIM_ACT_SILU:
    return x * 0.5 * (1 + std::tanh(x / 2));
  case PLIM_ACT_GELU_ERF:
    return x * (1 - 0.5 * std::erfc(x / std::sqrt(2.0)));
  case PLIM_ACT_GELU_TANH:
    return x / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case PLIM_ACT_TANH:
    return 1 - 2 / (std::exp(2 * x) + 1);
  default:
    return x;
  }
}

} // namespace plim::test

#endif
