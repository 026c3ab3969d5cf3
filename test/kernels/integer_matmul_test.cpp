//===- integer_matmul_test.cpp - matmul.integer_* against exact integers ----------------------===//

#include "kernels/matmul/integer.h"
#include "kernels/status.h"
#include "test/kernels/launch.h"

#include "gtest/gtest.h"

using namespace plim::test;

namespace {

/// A product of batches with zero points of all rows and columns, and its exact result.
struct Product {
  int64_t batch, m, k, n, flags;
  Tensor a, b, aZero, bZero, c;

  Product(int64_t batch, int64_t m, int64_t k, int64_t n, uint8_t aType, uint8_t bType, int64_t flags, bool inPanels,
          Random &random, Form form = Form::Row)
      : batch(batch), m(m), k(k), n(n), flags(flags), a(aType, {batch, m, k}, form, &random),
        b(inPanels ? Tensor::panel32(bType, k, n) : Tensor(bType, {k, n}, form, &random)),
        aZero(aType, {batch, m, 1}, form, &random), bZero(bType, {1, n}), c(PLIM_I32, {batch, m, n}, form, &random) {
    fill(a, random);
    fill(b, random);
    fill(aZero, random);
    fill(bZero, random);
  }

  /// The whole range, its ends more often than the rest.
  static void fill(Tensor &t, Random &random) {
    bool isSigned = t.shape().dtype == PLIM_I8;
    for (int64_t i = 0; i < t.elements(); ++i) {
      int64_t value = int64_t(random() % 300) - 22;
      value = value < 0 ? 0 : value > 255 ? 255 : value;
      t.setInt(i, isSigned ? value - 128 : value);
    }
  }

  int32_t run(const char *kernel, plim_isa isa) {
    std::vector<Tensor *> operands = {&a, &b};
    if (flags & PLIM_INTEGER_A_ZERO)
      operands.push_back(&aZero);
    if (flags & PLIM_INTEGER_B_ZERO)
      operands.push_back(&bZero);
    operands.push_back(&c);
    return runKernel(kernel, operands, {flags}, 1, isa);
  }

  void expectExact() const {
    for (int64_t element = 0; element < c.elements(); ++element) {
      int64_t row = element / n, column = element % n, sum = 0;
      for (int64_t i = 0; i < k; ++i)
        sum += (a.getInt(row * k + i) - (flags & PLIM_INTEGER_A_ZERO ? aZero.getInt(row) : 0)) *
               (b.getInt(i * n + column) - (flags & PLIM_INTEGER_B_ZERO ? bZero.getInt(column) : 0));
      ASSERT_EQ(c.getInt(element), int64_t(int32_t(uint32_t(sum)))) << "row " << row << ", column " << column;
    }
  }
};

void checkFast(int64_t batch, int64_t m, int64_t k, int64_t n, uint8_t aType, uint8_t bType, int64_t flags) {
  for (plim_isa isa : {PLIM_ISA_V3, PLIM_ISA_V4}) {
    if (!cpuHas(isa))
      continue;
    SCOPED_TRACE(testing::Message() << batch << "x" << m << "x" << k << "x" << n << " level " << isa);
    Random random(uint64_t(m * 31 + k * 7 + n));
    Product product(batch, m, k, n, aType, bType, flags, true, random);
    ASSERT_EQ(product.run("matmul.integer_panel32", isa), PLIM_KERNEL_OK);
    product.expectExact();
  }
}

constexpr int64_t bothZeros = PLIM_INTEGER_A_ZERO | PLIM_INTEGER_B_ZERO;

} // namespace

TEST(IntegerMatmulPanel32, EveryNumberOfRowsColumnsAndTermsIsExact) {
  for (int64_t m = 1; m <= 27; ++m)
    ASSERT_NO_FATAL_FAILURE(checkFast(1, m, 11, 40, PLIM_U8, PLIM_I8, bothZeros));
  for (int64_t n = 1; n <= 66; ++n)
    ASSERT_NO_FATAL_FAILURE(checkFast(1, 7, 6, n, PLIM_U8, PLIM_I8, bothZeros));
  for (int64_t k : {1, 2, 3, 4, 5, 767, 768, 769, 770, 1537})
    ASSERT_NO_FATAL_FAILURE(checkFast(1, 3, k, 40, PLIM_U8, PLIM_I8, bothZeros));
}

TEST(IntegerMatmulPanel32, EveryTypeWithAndWithoutZerosIsExact) {
  for (uint8_t aType : {PLIM_I8, PLIM_U8})
    for (uint8_t bType : {PLIM_I8, PLIM_U8})
      for (int64_t flags = 0; flags < 4; ++flags)
        ASSERT_NO_FATAL_FAILURE(checkFast(2, 14, 33, 70, aType, bType, flags));
}

TEST(IntegerMatmulPanel32, ManyBlocksOfRowsPanelsAndDepthAreExact) {
  ASSERT_NO_FATAL_FAILURE(checkFast(3, 150, 900, 100, PLIM_U8, PLIM_I8, bothZeros));
  ASSERT_NO_FATAL_FAILURE(checkFast(1, 300, 40, 1100, PLIM_I8, PLIM_U8, 0));
}

// A sum of 2^31 and more wraps, as it does in the reference.
TEST(IntegerMatmulPanel32, SumsWrap) {
  if (!cpuHas(PLIM_ISA_V3))
    GTEST_SKIP() << "needs x86-64-v3";
  Random random(1);
  Product product(1, 1, 40000, 33, PLIM_U8, PLIM_U8, 0, true, random);
  product.a.fillWith([](int64_t) { return 255; });
  product.b.fillWith([](int64_t) { return 255; });
  ASSERT_EQ(product.run("matmul.integer_panel32", PLIM_ISA_V3), PLIM_KERNEL_OK);
  product.expectExact();
  EXPECT_LT(product.c.getInt(0), 0);
}

TEST(IntegerMatmulPanel32, EmptySumsAreZero) {
  for (int64_t m : {0, 1, 20})
    for (int64_t n : {0, 40})
      ASSERT_NO_FATAL_FAILURE(checkFast(1, m, 0, n, PLIM_U8, PLIM_I8, bothZeros));
}

TEST(IntegerMatmulReference, AnyStridesAreExact) {
  Random random(3);
  for (Form form : {Form::Row, Form::Permuted, Form::Negative})
    for (bool inPanels : {false, true})
      for (int64_t flags = 0; flags < 4; ++flags) {
        Product product(2, 3, 17, 40, PLIM_U8, PLIM_I8, flags, inPanels, random, form);
        ASSERT_EQ(product.run("matmul.integer_reference", PLIM_ISA_BASE), PLIM_KERNEL_OK);
        ASSERT_NO_FATAL_FAILURE(product.expectExact());
      }
}

TEST(IntegerMatmulReference, BatchesOfTheRightSideHaveTheirOwnZeros) {
  Random random(4);
  Tensor a(PLIM_U8, {2, 3, 5}), b(PLIM_I8, {2, 5, 4}), zero(PLIM_I8, {2, 1, 4}), c(PLIM_I32, {2, 3, 4});
  for (Tensor *t : {&a, &b, &zero})
    Product::fill(*t, random);
  ASSERT_EQ(runKernel("matmul.integer_reference", {&a, &b, &zero, &c}, {PLIM_INTEGER_B_ZERO}), PLIM_KERNEL_OK);
  forEachIndex(c.dims(), [&](const Dims &i) {
    int64_t sum = 0;
    for (int64_t k = 0; k < 5; ++k)
      sum += int64_t(a.at({i[0], i[1], k})) * int64_t(b.at({i[0], k, i[2]}) - zero.at({i[0], 0, i[2]}));
    ASSERT_EQ(int64_t(c.at(i)), sum);
  });
}

TEST(IntegerMatmul, RefusesWhatDoesNotFit) {
  Random random(5);
  Product type(1, 2, 3, 4, PLIM_U8, PLIM_I8, bothZeros, true, random);
  type.aZero = Tensor(PLIM_I8, {1, 2, 1});
  EXPECT_EQ(type.run("matmul.integer_reference", PLIM_ISA_BASE), PLIM_KERNEL_UNSUPPORTED);
  Product rows(1, 2, 3, 4, PLIM_U8, PLIM_I8, bothZeros, true, random);
  rows.aZero = Tensor(PLIM_U8, {1, 3, 1});
  EXPECT_EQ(rows.run("matmul.integer_reference", PLIM_ISA_BASE), PLIM_KERNEL_UNSUPPORTED);
  Product wide(1, 2, 3, 4, PLIM_I16, PLIM_I8, 0, true, random);
  EXPECT_EQ(wide.run("matmul.integer_reference", PLIM_ISA_BASE), PLIM_KERNEL_UNSUPPORTED);
}
