//===- matmul_test.cpp - matmul.reference ----------------------------------------------------===//

#include "kernels/matmul/matmul.h"
#include "kernels/status.h"
#include "test/kernels/epilogue_expectation.h"
#include "test/kernels/launch.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace plim::test;

namespace {

// One product of batches: a [batch, m, k], b [batch, k, n].
double dot(const Tensor &a, const Tensor &b, int64_t batch, int64_t row, int64_t column) {
  double sum = 0;
  for (int64_t k = 0, depth = a.dims().back(); k < depth; ++k)
    sum += a.at({batch, row, k}) * (b.dims().size() == 2 ? b.at({k, column}) : b.at({batch, k, column}));
  return sum;
}

} // namespace

TEST(MatmulReference, BatchesStridesAndDtypesMatchDoublePrecision) {
  Random random(1);
  for (uint8_t dtype : {PLIM_F32, PLIM_F16, PLIM_BF16, PLIM_F64})
    for (Form form : {Form::Row, Form::Permuted, Form::Negative})
      for (const Dims &d : {Dims{1, 1, 1, 1}, Dims{2, 3, 5, 7}, Dims{1, 4, 33, 65}, Dims{3, 1, 200, 31},
                            Dims{2, 5, 0, 3}, Dims{0, 2, 2, 2}, Dims{1, 0, 3, 4}, Dims{2, 3, 4, 0}}) {
        Tensor a(dtype, {d[0], d[1], d[2]}, form, &random), b(dtype, {d[0], d[2], d[3]}, form, &random);
        Tensor c(dtype, {d[0], d[1], d[3]}, form, &random);
        a.fill(random, -1, 1);
        b.fill(random, -1, 1);
        ASSERT_EQ(runKernel("matmul.reference", {&a, &b, &c}, {0, PLIM_ACT_NONE, 0, 0}), 0);
        double tolerance = dtype == PLIM_F64 ? 1e-13 : dtype == PLIM_F32 ? 1e-6 : dtype == PLIM_F16 ? 1e-3 : 8e-3;
        forEachIndex(c.dims(), [&](const Dims &i) {
          double e = dot(a, b, i[0], i[1], i[2]);
          ASSERT_NEAR(c.at(i), e, tolerance * (1 + std::fabs(e)));
        });
      }
}

TEST(MatmulReference, OneMatrixServesAllBatchesAsRowOrPanels) {
  Random random(2);
  Tensor a(PLIM_F32, {2, 3, 4, 50}), row(PLIM_F32, {50, 70}), c(PLIM_F32, {2, 3, 4, 70}), fromPanels = c;
  a.fill(random, -1, 1);
  row.fill(random, -1, 1);
  Tensor panels = Tensor::panel32(PLIM_F32, 50, 70);
  panels.fillWith([&](int64_t i) { return row.get(i); });
  ASSERT_EQ(runKernel("matmul.reference", {&a, &row, &c}, {0, PLIM_ACT_NONE, 0, 0}), 0);
  ASSERT_EQ(runKernel("matmul.reference", {&a, &panels, &fromPanels}, {0, PLIM_ACT_NONE, 0, 0}), 0);
  EXPECT_EQ(c.raw(), fromPanels.raw());
  forEachIndex(c.dims(), [&](const Dims &i) {
    double e = 0;
    for (int64_t k = 0; k < 50; ++k)
      e += a.at({i[0], i[1], i[2], k}) * row.at({k, i[3]});
    ASSERT_NEAR(c.at(i), e, 1e-5);
  });
  // A broadcast batch says the same with strides of 0.
  Tensor repeated = row.broadcastTo({2, 3, 50, 70});
  ASSERT_EQ(runKernel("matmul.reference", {&a, &repeated, &fromPanels}, {0, PLIM_ACT_NONE, 0, 0}), 0);
  EXPECT_EQ(c.raw(), fromPanels.raw());
}

TEST(MatmulReference, EveryEpilogueIsActivationOfSumWithBiasAndResidual) {
  Random random(3);
  for (int64_t activation = 0; activation < PLIM_ACT_COUNT; ++activation)
    for (int64_t flags = 0; flags < 4; ++flags) {
      SCOPED_TRACE(testing::Message() << "activation " << activation << " flags " << flags);
      Tensor a(PLIM_F32, {1, 5, 9}), b(PLIM_F32, {1, 9, 40}), bias(PLIM_F32, {40}, Form::Negative, &random);
      Tensor residual(PLIM_F32, {1, 5, 40}, Form::Permuted, &random), c(PLIM_F32, {1, 5, 40});
      a.fill(random, -2, 2);
      b.fill(random, -2, 2);
      bias.fill(random, -1, 1);
      residual.fill(random, -1, 1);
      std::vector<Tensor *> operands = {&a, &b};
      if (flags & PLIM_EPILOGUE_BIAS)
        operands.push_back(&bias);
      if (flags & PLIM_EPILOGUE_RESIDUAL)
        operands.push_back(&residual);
      operands.push_back(&c);
      double p = activation == PLIM_ACT_CLIP ? -0.5 : 0.25, q = 0.75;
      ASSERT_EQ(runKernel("matmul.reference", operands, {flags, activation, word(p), word(q)}), 0);
      forEachIndex(c.dims(), [&](const Dims &i) {
        double x = dot(a, b, 0, i[1], i[2]) + (flags & PLIM_EPILOGUE_BIAS ? bias.get(i[2]) : 0) +
                   (flags & PLIM_EPILOGUE_RESIDUAL ? residual.at(i) : 0);
        ASSERT_NEAR(c.at(i), expectedActivation(activation, x, p, q), 2e-5);
      });
    }
}

TEST(MatmulReference, IntegersAccumulateExactly) {
  Random random(4);
  Tensor a(PLIM_U8, {1, 3, 300}), b(PLIM_I8, {1, 300, 35}), c(PLIM_I32, {1, 3, 35});
  a.fill(random, 0, 255);
  b.fill(random, -128, 127);
  ASSERT_EQ(runKernel("matmul.reference", {&a, &b, &c}, {0, PLIM_ACT_NONE, 0, 0}), 0);
  forEachIndex(c.dims(), [&](const Dims &i) { ASSERT_EQ(c.at(i), dot(a, b, i[0], i[1], i[2])); });
  Tensor wide(PLIM_I64, {1, 1}), square(PLIM_I64, {1, 1});
  wide.setInt(0, (int64_t(1) << 32) + 1);
  ASSERT_EQ(runKernel("matmul.reference", {&wide, &wide, &square}, {0, PLIM_ACT_NONE, 0, 0}), 0);
  EXPECT_EQ(square.getInt(0), (int64_t(1) << 33) + 1); // the low 64 bits
}

TEST(MatmulReference, RefusesWhatDoesNotFit) {
  Tensor a(PLIM_F32, {2, 3}), b(PLIM_F32, {4, 5}), c(PLIM_F32, {2, 5}), good(PLIM_F32, {3, 5}), bias(PLIM_F32, {4});
  a.fillWith([](int64_t) { return 0.0; });
  EXPECT_EQ(runKernel("matmul.reference", {&a, &b, &c}, {0, 0, 0, 0}), PLIM_KERNEL_UNSUPPORTED);
  EXPECT_EQ(runKernel("matmul.reference", {&a, &good, &c}, {0, PLIM_ACT_COUNT, 0, 0}), PLIM_KERNEL_UNSUPPORTED);
  EXPECT_EQ(runKernel("matmul.reference", {&a, &good, &bias, &c}, {PLIM_EPILOGUE_BIAS, 0, 0, 0}),
            PLIM_KERNEL_UNSUPPORTED);
}
