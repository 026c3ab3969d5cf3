//===- quantized_matmul_test.cpp - matmul.quantized_* against double precision ----------------===//

#include "kernels/matmul/quantized.h"
#include "kernels/status.h"
#include "test/kernels/epilogue_expectation.h"
#include "test/kernels/launch.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace plim::test;

namespace {

struct Case {
  Dims batch;
  int64_t m, k, n, groups;
  uint8_t dtype;
  int64_t flags, activation;
};

/// A product and its expectation; `inPanels` as the fast kernel reads it.
struct Product {
  Case c;
  Tensor a, b, scale, zero, bias, residual, result;

  static Dims with(Dims batch, int64_t rows, int64_t columns) {
    batch.insert(batch.end(), {rows, columns});
    return batch;
  }

  Product(const Case &c, Random &random, bool inPanels, Form form)
      : c(c), a(PLIM_F32, with(c.batch, c.m, c.k), form, &random),
        b(inPanels ? Tensor::panel32(c.dtype, c.k, c.n) : Tensor(c.dtype, {c.k, c.n}, form, &random)),
        scale(PLIM_F32, {c.groups, c.n}), zero(c.dtype, {c.groups, c.n}), bias(PLIM_F32, {c.n}),
        residual(PLIM_F32, with(c.batch, c.m, c.n), form, &random),
        result(PLIM_F32, with(c.batch, c.m, c.n), form, &random) {
    a.fill(random, -1, 1);
    if (c.dtype == PLIM_I8)
      b.fill(random, -128, 127), zero.fill(random, -128, 127);
    else if (c.dtype == PLIM_U8)
      b.fill(random, 0, 255), zero.fill(random, 0, 255);
    else
      b.fill(random, -2, 2);
    scale.fill(random, 0.001, 0.1);
    bias.fill(random, -1, 1);
    residual.fill(random, -1, 1);
  }

  int32_t run(const char *kernel, plim_isa isa) {
    std::vector<Tensor *> operands = {&a, &b};
    if (c.flags & PLIM_QUANTIZED_SCALE)
      operands.push_back(&scale);
    if (c.flags & PLIM_QUANTIZED_ZERO)
      operands.push_back(&zero);
    if (c.flags & PLIM_EPILOGUE_BIAS)
      operands.push_back(&bias);
    if (c.flags & PLIM_EPILOGUE_RESIDUAL)
      operands.push_back(&residual);
    operands.push_back(&result);
    return runKernel(kernel, operands, {c.flags, c.activation, word(0.3), word(0.7)}, 1, isa);
  }

  void expectRight() const {
    int64_t step = std::max<int64_t>(1, result.elements() / 2000);
    for (int64_t element = 0; element < result.elements(); element += step) {
      int64_t column = element % c.n, row = element / c.n;
      double sum = 0, magnitude = 1e-3;
      for (int64_t k = 0; k < c.k; ++k) {
        int64_t group = k / (c.k / c.groups);
        double weight = b.at({k, column});
        if (c.flags & PLIM_QUANTIZED_ZERO)
          weight -= zero.at({group, column});
        if (c.flags & PLIM_QUANTIZED_SCALE)
          weight *= scale.at({group, column});
        sum += a.get(row * c.k + k) * weight;
        magnitude += std::fabs(a.get(row * c.k + k) * weight);
      }
      if (c.flags & PLIM_EPILOGUE_BIAS)
        sum += bias.at({column});
      if (c.flags & PLIM_EPILOGUE_RESIDUAL)
        sum += residual.get(element);
      double expected = expectedActivation(c.activation, sum, 0.3, 0.7);
      ASSERT_NEAR(result.get(element), expected, 2e-6 * (magnitude + std::fabs(expected)) + 1e-6)
          << "element " << element << " of " << c.m << "x" << c.k << "x" << c.n;
    }
  }
};

void checkFast(const Case &c, unsigned seed) {
  std::vector<uint8_t> bytes;
  for (plim_isa isa : {PLIM_ISA_V3, PLIM_ISA_V4}) {
    if (!cpuHas(isa))
      continue;
    Random random(seed);
    Product product(c, random, true, Form::Row);
    ASSERT_EQ(product.run("matmul.quantized_panel32", isa), PLIM_KERNEL_OK);
    ASSERT_NO_FATAL_FAILURE(product.expectRight());
    if (!bytes.empty()) {
      ASSERT_EQ(bytes, product.result.raw()) << "v3 and v4 differ";
    }
    bytes = product.result.raw();
  }
}

constexpr int64_t integerFlags =
    PLIM_QUANTIZED_SCALE | PLIM_QUANTIZED_ZERO | PLIM_EPILOGUE_BIAS | PLIM_EPILOGUE_RESIDUAL;
constexpr int64_t floatFlags = integerFlags & ~PLIM_QUANTIZED_ZERO;
int64_t allFlags(uint8_t dtype) { return dtype == PLIM_F16 || dtype == PLIM_BF16 ? floatFlags : integerFlags; }

} // namespace

TEST(QuantizedMatmulPanel32, EveryNumberOfRowsAndColumnsIsRight) {
  for (int64_t m = 1; m <= 31; ++m)
    ASSERT_NO_FATAL_FAILURE(checkFast({{}, m, 37, 5 + m * 7 % 200, 1, PLIM_I8, PLIM_QUANTIZED_SCALE, 0}, m));
  for (int64_t n = 1; n <= 66; ++n)
    for (int64_t m : {1, 4, 9})
      ASSERT_NO_FATAL_FAILURE(checkFast({{}, m, 9, n, 1, PLIM_U8, PLIM_QUANTIZED_ZERO, 0}, n));
}

TEST(QuantizedMatmulPanel32, EveryTypeOperandAndGroupIsRight) {
  for (uint8_t dtype : {PLIM_I8, PLIM_U8, PLIM_F16, PLIM_BF16})
    for (int64_t groups : {1, 2, 6, 24})
      for (int64_t m : {1, 2, 4, 6, 8, 9, 28, 29, 60}) {
        ASSERT_NO_FATAL_FAILURE(checkFast({{}, m, 48, 100, groups, dtype, allFlags(dtype), PLIM_ACT_RELU}, m));
        ASSERT_NO_FATAL_FAILURE(checkFast({{}, m, 48, 100, groups, dtype, PLIM_QUANTIZED_SCALE, PLIM_ACT_NONE}, m));
        if (groups == 1)
          ASSERT_NO_FATAL_FAILURE(checkFast({{}, m, 48, 100, groups, dtype, 0, PLIM_ACT_NONE}, m));
      }
}

TEST(QuantizedMatmulPanel32, LongSumsRestBetweenPieces) {
  for (int64_t m : {1, 6, 28, 29, 140})
    for (int64_t k : {127, 128, 129, 1024, 1025, 1600}) {
      ASSERT_NO_FATAL_FAILURE(checkFast({{}, m, k, 70, 1, PLIM_I8, integerFlags, PLIM_ACT_NONE}, m));
      if (k == 1600)
        ASSERT_NO_FATAL_FAILURE(checkFast({{}, m, k, 200, 50, PLIM_U8, integerFlags, PLIM_ACT_GELU_ERF}, m));
    }
}

TEST(QuantizedMatmulPanel32, BatchesAreRowsOfOneProduct) {
  for (int64_t k : {20, 1500})
    ASSERT_NO_FATAL_FAILURE(checkFast({{2, 3}, 11, k, 90, 1, PLIM_I8, integerFlags, PLIM_ACT_NONE}, 7));
}

TEST(QuantizedMatmulPanel32, EveryActivationIsAppliedToTheScaledSum) {
  for (int64_t activation = 0; activation < PLIM_ACT_COUNT; ++activation)
    for (int64_t m : {2, 17})
      ASSERT_NO_FATAL_FAILURE(checkFast({{}, m, 33, 40, 1, PLIM_I8, integerFlags, activation}, activation));
}

TEST(QuantizedMatmulPanel32, EmptySumsGiveTheEpilogueAndEmptyResultsNothing) {
  for (int64_t m : {1, 9})
    ASSERT_NO_FATAL_FAILURE(checkFast({{}, m, 0, 40, 1, PLIM_I8, integerFlags, PLIM_ACT_RELU}, 3));
  ASSERT_NO_FATAL_FAILURE(checkFast({{}, 0, 5, 40, 1, PLIM_I8, integerFlags, PLIM_ACT_RELU}, 3));
  ASSERT_NO_FATAL_FAILURE(checkFast({{}, 3, 5, 0, 1, PLIM_I8, integerFlags, PLIM_ACT_RELU}, 3));
}

// A row has the same bits alone and among others, whichever way its weights became floats.
TEST(QuantizedMatmulPanel32, ARowDoesNotDependOnHowManyThereAre) {
  if (!cpuHas(PLIM_ISA_V3))
    GTEST_SKIP() << "needs x86-64-v3";
  for (int64_t groups : {1, 10}) {
    std::vector<float> rows;
    for (int64_t m : {1, 3, 8, 10, 40}) {
      Random random(5);
      Product product({{}, m, 700, 96, groups, PLIM_U8, PLIM_QUANTIZED_SCALE | PLIM_QUANTIZED_ZERO, 0}, random, true,
                      Form::Row);
      Random same(6);
      product.b.fill(same, 0, 255);
      product.scale.fill(same, 0.001, 0.1);
      product.zero.fill(same, 0, 255);
      product.a.fillWith([](int64_t i) { return std::sin(double(i)); });
      ASSERT_EQ(product.run("matmul.quantized_panel32", PLIM_ISA_V3), PLIM_KERNEL_OK);
      for (int64_t j = 0; j < 96; ++j) {
        if (m == 1)
          rows.push_back(float(product.result.at({0, j})));
        ASSERT_EQ(float(product.result.at({0, j})), rows[size_t(j)]) << m << " rows, column " << j;
      }
    }
  }
}

TEST(QuantizedMatmulReference, AnyStridesTypesAndGroupsMatchDoublePrecision) {
  Random random(1);
  for (uint8_t dtype : {PLIM_I8, PLIM_U8, PLIM_F16, PLIM_BF16})
    for (Form form : {Form::Row, Form::Permuted, Form::Negative})
      for (bool inPanels : {false, true})
        for (int64_t groups : {1, 3}) {
          Product product({{2}, 3, 12, 70, groups, dtype, allFlags(dtype), PLIM_ACT_SILU}, random, inPanels, form);
          ASSERT_EQ(product.run("matmul.quantized_reference", PLIM_ISA_BASE), PLIM_KERNEL_OK);
          ASSERT_NO_FATAL_FAILURE(product.expectRight());
        }
}

TEST(QuantizedMatmul, RefusesWhatDoesNotFit) {
  Random random(2);
  struct Bad {
    const char *kernel;
    plim_isa isa;
  };
  for (Bad kernel : {Bad{"matmul.quantized_reference", PLIM_ISA_BASE}, {"matmul.quantized_panel32", PLIM_ISA_V3}}) {
    bool packed = kernel.isa == PLIM_ISA_V3;
    if (!cpuHas(kernel.isa))
      continue;
    const Case fits = {{}, 2, 12, 40, 3, PLIM_I8, PLIM_QUANTIZED_SCALE | PLIM_QUANTIZED_ZERO, 0};
    Product groups(fits, random, packed, Form::Row);
    groups.scale = Tensor(PLIM_F32, {5, 40}).fill(random, 0, 1); // does not divide 12
    groups.zero = Tensor(PLIM_I8, {5, 40});
    EXPECT_EQ(groups.run(kernel.kernel, kernel.isa), PLIM_KERNEL_UNSUPPORTED);
    Product columns(fits, random, packed, Form::Row);
    columns.scale = Tensor(PLIM_F32, {3, 39}).fill(random, 0, 1);
    EXPECT_EQ(columns.run(kernel.kernel, kernel.isa), PLIM_KERNEL_UNSUPPORTED);
    Product type(fits, random, packed, Form::Row);
    type.zero = Tensor(PLIM_U8, {3, 40});
    EXPECT_EQ(type.run(kernel.kernel, kernel.isa), PLIM_KERNEL_UNSUPPORTED);
    Product wide(fits, random, packed, Form::Row);
    wide.b = packed ? Tensor::panel32(PLIM_I16, 12, 40) : Tensor(PLIM_I16, {12, 40});
    wide.zero = Tensor(PLIM_I16, {3, 40});
    EXPECT_EQ(wide.run(kernel.kernel, kernel.isa), PLIM_KERNEL_UNSUPPORTED);
  }
}
