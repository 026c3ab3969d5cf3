//===- RegionCases.cpp - Regions that the tests compile, with references --===//
#include "RegionCases.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

namespace arith = mlir::arith;
namespace math = mlir::math;

namespace plim::gen {

using Inputs = std::vector<std::vector<float>>;
using Wanted = std::vector<double>;

static int add(Region &r, int a, int b) { return r.op<arith::AddFOp>({a, b}); }
static int sub(Region &r, int a, int b) { return r.op<arith::SubFOp>({a, b}); }
static int mul(Region &r, int a, int b) { return r.op<arith::MulFOp>({a, b}); }
static int div(Region &r, int a, int b) { return r.op<arith::DivFOp>({a, b}); }

RegionCase softmax(int64_t R, int64_t C) {
  Region r({R, C});
  int x = r.load(0, PLIM_F32, {C, 1});
  int e = r.op<math::ExpOp>({sub(r, x, r.reduce(ReduceKind::Max, x))});
  r.store(1, PLIM_F32, {C, 1}, div(r, e, r.reduce(ReduceKind::Sum, e)));
  auto reference = [](const RegionCase &c, const Inputs &in, Wanted &want) {
    for (int64_t i = 0; i < c.rows; ++i) {
      const float *x = in[0].data() + i * c.columns;
      double max = -INFINITY, sum = 0;
      for (int64_t j = 0; j < c.columns; ++j)
        max = std::isnan(x[j]) || std::isnan(max) ? NAN : std::max<double>(max, x[j]);
      for (int64_t j = 0; j < c.columns; ++j)
        sum += std::exp(x[j] - max);
      for (int64_t j = 0; j < c.columns; ++j)
        want.push_back(std::exp(x[j] - max) / sum);
    }
  };
  return {"softmax", r, {size_t(R * C)}, size_t(R * C), reference, R, C, 1e-6};
}

RegionCase layerNorm(int64_t R, int64_t C) {
  Region r({R, C});
  int x = r.load(0, PLIM_F32, {C, 1}), gamma = r.load(1, PLIM_F32, {0, 1}), beta = r.load(2, PLIM_F32, {0, 1});
  int scale = r.constant(1.0 / double(C));
  int d = sub(r, x, mul(r, r.reduce(ReduceKind::Sum, x), scale));
  int variance = mul(r, r.reduce(ReduceKind::Sum, mul(r, d, d)), scale);
  int rstd = r.op<math::RsqrtOp>({add(r, variance, r.constant(1e-5))});
  r.store(3, PLIM_F32, {C, 1}, add(r, mul(r, mul(r, d, rstd), gamma), beta));
  auto reference = [](const RegionCase &c, const Inputs &in, Wanted &want) {
    for (int64_t i = 0; i < c.rows; ++i) {
      const float *x = in[0].data() + i * c.columns;
      double mean = 0, variance = 0;
      for (int64_t j = 0; j < c.columns; ++j)
        mean += x[j] / double(c.columns);
      for (int64_t j = 0; j < c.columns; ++j)
        variance += (x[j] - mean) * (x[j] - mean) / double(c.columns);
      for (int64_t j = 0; j < c.columns; ++j)
        want.push_back((x[j] - mean) / std::sqrt(variance + 1e-5) * in[1][j] + in[2][j]);
    }
  };
  return {"layer_norm", r, {size_t(R * C), size_t(C), size_t(C)}, size_t(R * C), reference, R, C, 2e-5};
}

RegionCase geluBiasResidual(int64_t R, int64_t C) {
  Region r({R, C});
  int x = add(r, r.load(0, PLIM_F32, {C, 1}), r.load(1, PLIM_F32, {0, 1})), half = mul(r, x, r.constant(0.5));
  int g = r.op<math::ErfOp>({mul(r, x, r.constant(M_SQRT1_2))});
  r.store(3, PLIM_F32, {C, 1}, add(r, add(r, half, mul(r, half, g)), r.load(2, PLIM_F32, {C, 1})));
  auto reference = [](const RegionCase &c, const Inputs &in, Wanted &want) {
    for (int64_t i = 0; i < c.rows * c.columns; ++i) {
      double x = double(in[0][i]) + in[1][i % c.columns];
      want.push_back(0.5 * x * (1 + std::erf(x * M_SQRT1_2)) + in[2][i]);
    }
  };
  return {"gelu", r, {size_t(R * C), size_t(C), size_t(R * C)}, size_t(R * C), reference, R, C, 1e-6};
}

RegionCase sigmoidScaled(int64_t R, int64_t C) {
  Region r({R, C});
  int x = r.load(0, PLIM_F32, {C, 1}), one = r.constant(1);
  r.store(1, PLIM_F32, {C, 1}, div(r, x, add(r, one, r.op<math::ExpOp>({r.op<arith::NegFOp>({x})}))));
  auto reference = [](const RegionCase &, const Inputs &in, Wanted &want) {
    for (float x : in[0])
      want.push_back(x / (1 + std::exp(-double(x))));
  };
  return {"silu", r, {size_t(R * C)}, size_t(R * C), reference, R, C, 1e-6};
}

RegionCase rowSum(int64_t R, int64_t C) {
  Region r({R, C});
  r.store(1, PLIM_F32, {1, 0}, r.reduce(ReduceKind::Sum, r.load(0, PLIM_F32, {C, 1})));
  auto reference = [](const RegionCase &c, const Inputs &in, Wanted &want) {
    for (int64_t i = 0; i < c.rows; ++i) {
      want.push_back(0);
      for (int64_t j = 0; j < c.columns; ++j)
        want.back() += in[0][i * c.columns + j];
    }
  };
  return {"row_sum", r, {size_t(R * C)}, size_t(R), reference, R, C, 1e-4};
}

RegionCase rowMaximum(int64_t R, int64_t C) {
  Region r({R, C});
  r.store(1, PLIM_F32, {1, 0}, r.reduce(ReduceKind::Max, r.load(0, PLIM_F32, {C, 1})));
  auto reference = [](const RegionCase &c, const Inputs &in, Wanted &want) {
    for (int64_t i = 0; i < c.rows; ++i) {
      want.push_back(-INFINITY);
      for (int64_t j = 0; j < c.columns; ++j)
        if (double x = in[0][i * c.columns + j]; std::isnan(x) || x > want.back())
          want.back() = x;
    }
  };
  return {"row_max", r, {size_t(R * C)}, size_t(R), reference, R, C, 0};
}

RegionCase columnMean(int64_t R, int64_t C) {
  Region r({R, C});
  r.reduceRows = true;
  r.store(1, PLIM_F32, {0, 1},
          mul(r, r.reduce(ReduceKind::Sum, r.load(0, PLIM_F32, {C, 1})), r.constant(1.0 / double(R))));
  auto reference = [](const RegionCase &c, const Inputs &in, Wanted &want) {
    want.assign(c.columns, 0);
    for (int64_t i = 0; i < c.rows; ++i)
      for (int64_t j = 0; j < c.columns; ++j)
        want[j] += in[0][i * c.columns + j] / double(c.rows);
  };
  return {"column_mean", r, {size_t(R * C)}, size_t(C), reference, R, C, 1e-5};
}

RegionCase columnNormalized(int64_t R, int64_t C) {
  Region r({R, C});
  r.reduceRows = true;
  int x = r.load(0, PLIM_F32, {C, 1}), scale = r.load(1, PLIM_F32, {1, 0});
  int mean = mul(r, r.reduce(ReduceKind::Sum, x), r.constant(1.0 / double(R)));
  r.store(2, PLIM_F32, {C, 1}, mul(r, sub(r, x, mean), scale));
  auto reference = [](const RegionCase &c, const Inputs &in, Wanted &want) {
    Wanted mean(c.columns, 0);
    for (int64_t i = 0; i < c.rows * c.columns; ++i)
      mean[i % c.columns] += in[0][i] / double(c.rows);
    for (int64_t i = 0; i < c.rows * c.columns; ++i)
      want.push_back((in[0][i] - mean[i % c.columns]) * in[1][i / c.columns]);
  };
  return {"column_norm", r, {size_t(R * C), size_t(R)}, size_t(R * C), reference, R, C, 1e-5};
}

RegionCase transposed(int64_t R, int64_t C) {
  Region r({R, C});
  r.store(2, PLIM_F32, {C, 1}, add(r, r.load(0, PLIM_F32, {1, R}), r.load(1, PLIM_F32, {1, 0})));
  auto reference = [](const RegionCase &c, const Inputs &in, Wanted &want) {
    for (int64_t i = 0; i < c.rows; ++i)
      for (int64_t j = 0; j < c.columns; ++j)
        want.push_back(double(in[0][j * c.rows + i]) + in[1][i]);
  };
  return {"transpose", r, {size_t(R * C), size_t(R)}, size_t(R * C), reference, R, C, 1e-7};
}

RegionCase everySecond(int64_t R, int64_t C) {
  Region r({R, C});
  r.store(1, PLIM_F32, {C, 1}, mul(r, r.load(0, PLIM_F32, {2 * C + 1, 2}, 1), r.constant(3)));
  auto reference = [](const RegionCase &c, const Inputs &in, Wanted &want) {
    for (int64_t i = 0; i < c.rows; ++i)
      for (int64_t j = 0; j < c.columns; ++j)
        want.push_back(3.0 * in[0][i * (2 * c.columns + 1) + 2 * j + 1]);
  };
  return {"every_second", r, {size_t(R * (2 * C + 1) + 1)}, size_t(R * C), reference, R, C, 1e-7};
}

RegionCase stridedRowSum(int64_t R, int64_t C) {
  Region r({R, C});
  r.store(1, PLIM_F32, {1, 0}, r.reduce(ReduceKind::Sum, r.load(0, PLIM_F32, {1, R})));
  auto reference = [](const RegionCase &c, const Inputs &in, Wanted &want) {
    for (int64_t i = 0; i < c.rows; ++i) {
      want.push_back(0);
      for (int64_t j = 0; j < c.columns; ++j)
        want.back() += in[0][j * c.rows + i];
    }
  };
  return {"strided_row_sum", r, {size_t(R * C)}, size_t(R), reference, R, C, 1e-4};
}

std::vector<RegionCase> allCases(int64_t R, int64_t C) {
  return {softmax(R, C),    layerNorm(R, C),   geluBiasResidual(R, C), sigmoidScaled(R, C),
          rowSum(R, C),     rowMaximum(R, C),  columnMean(R, C),       columnNormalized(R, C),
          transposed(R, C), everySecond(R, C), stridedRowSum(R, C)};
}

} // namespace plim::gen
