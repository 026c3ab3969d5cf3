//===- ElementaryTest.cpp - Accuracy of the elementary functions ----------===//
#include "KernelRunner.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>

using namespace plim::gen;
namespace math = mlir::math;

namespace {
struct Function {
  const char *name;
  double bound; // ulp, measured and rounded up
  double (*exact)(double);
  int (*build)(Region &, int);
  KernelInfo kernel = {};
};

template <typename OpTy> int unary(Region &r, int x) { return r.op<OpTy>({x}); }
template <int numerator, int denominator> int power(Region &r, int x) {
  return r.op<math::PowFOp>({x, r.constant(double(numerator) / denominator)});
}

constexpr int64_t block = 1 << 16;
} // namespace

/// One float in 251 over all 2^32, and the special ones.
TEST(Elementary, StaysWithinItsBoundOverAllFloatsAndAgreesBitForBitOnBothLevels) {
  std::vector<Function> functions{
      {"exp", 0.85, [](double x) { return std::exp(x); }, unary<math::ExpOp>},
      {"exp2", 0.9, [](double x) { return std::exp2(x); }, unary<math::Exp2Op>},
      {"expm1", 1.65, [](double x) { return std::expm1(x); }, unary<math::ExpM1Op>},
      {"log", 0.85, [](double x) { return std::log(x); }, unary<math::LogOp>},
      {"log2", 1.95, [](double x) { return std::log2(x); }, unary<math::Log2Op>},
      {"log10", 2.75, [](double x) { return std::log10(x); }, unary<math::Log10Op>},
      {"log1p", 1.5, [](double x) { return std::log1p(x); }, unary<math::Log1pOp>},
      {"tanh", 2.4, [](double x) { return std::tanh(x); }, unary<math::TanhOp>},
      {"erf", 1.0, [](double x) { return std::erf(x); }, unary<math::ErfOp>},
      {"sqrt", 0.51, [](double x) { return std::sqrt(x); }, unary<math::SqrtOp>},
      {"rsqrt", 1.5, [](double x) { return 1 / std::sqrt(x); }, unary<math::RsqrtOp>},
      {"pow(x, 0.5)", 0.51, [](double x) { return std::pow(x, 0.5); }, power<1, 2>},
      {"pow(x, 3)", 1.3, [](double x) { return std::pow(x, 3); }, power<3, 1>},
      {"pow(x, 1.7)", 1.1, [](double x) { return std::pow(x, double(1.7f)); }, power<17, 10>},
      {"sin", 1.1, [](double x) { return std::sin(x); }, unary<math::SinOp>},
      {"asinh", 1.8, [](double x) { return std::asinh(x); }, unary<math::AsinhOp>},
  };
  KernelRunner runner;
  for (Function &f : functions) {
    Region r({block});
    r.store(1, PLIM_F32, {1}, f.build(r, r.load(0, PLIM_F32, {1})));
    f.kernel = runner.add(r);
  }
  runner.load();
  std::vector<float> x(block), y(block), other(block);
  std::vector<float> special = specialFloats();
  for (Function &f : functions) {
    double worst = 0;
    float at = 0;
    uint64_t bits = 0;
    for (bool more = true; more;) {
      for (int64_t i = 0; i < block; ++i, bits += 251)
        x[i] = std::bit_cast<float>(uint32_t(std::min<uint64_t>(bits, UINT32_MAX)));
      more = bits < UINT32_MAX;
      std::copy(special.begin(), special.end(), x.begin());
      for (plim_isa isa : KernelRunner::levels()) {
        runner.run(f.kernel, isa, {x.data(), other.data()});
        if (isa != PLIM_ISA_V3)
          ASSERT_TRUE(sameBits(y, other)) << f.name;
        y = other;
      }
      for (int64_t i = 0; i < block; ++i)
        if (double e = ulps(y[i], f.exact(x[i])); e > worst)
          worst = e, at = x[i];
    }
    EXPECT_LE(worst, f.bound) << f.name << "(" << at << ")";
    RecordProperty(f.name, std::to_string(worst));
  }
}
