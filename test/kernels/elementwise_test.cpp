//===- elementwise_test.cpp - elementwise.apply and elementwise.cast -------------------------===//

#include "kernels/elementwise/apply.h"
#include "kernels/status.h"
#include "test/kernels/launch.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace plim::test;

namespace {

struct UnaryCase {
  int64_t op;
  double lo, hi; // of the inputs
  std::function<double(double)> f;
  double a = 0, b = 0;
};

double clamp(double x, double lo, double hi) { return std::fmin(std::fmax(x, lo), hi); }

const UnaryCase unaryCases[] = {
    {PLIM_EW_NEG, -9, 9, [](double x) { return -x; }},
    {PLIM_EW_ABS, -9, 9, [](double x) { return std::fabs(x); }},
    {PLIM_EW_SIGN, -9, 9, [](double x) { return x > 0   ? 1.0
                                                : x < 0 ? -1.0
                                                        : 0.0; }},
    {PLIM_EW_FLOOR, -9, 9, [](double x) { return std::floor(x); }},
    {PLIM_EW_CEIL, -9, 9, [](double x) { return std::ceil(x); }},
    {PLIM_EW_ROUND, -9, 9, [](double x) { return std::nearbyint(x); }},
    {PLIM_EW_SQRT, 0, 9, [](double x) { return std::sqrt(x); }},
    {PLIM_EW_RSQRT, 0.1, 9, [](double x) { return 1 / std::sqrt(x); }},
    {PLIM_EW_RECIPROCAL, 0.1, 9, [](double x) { return 1 / x; }},
    {PLIM_EW_EXP, -9, 9, [](double x) { return std::exp(x); }},
    {PLIM_EW_LOG, 0.1, 9, [](double x) { return std::log(x); }},
    {PLIM_EW_ERF, -3, 3, [](double x) { return std::erf(x); }},
    {PLIM_EW_SIN, -9, 9, [](double x) { return std::sin(x); }},
    {PLIM_EW_COS, -9, 9, [](double x) { return std::cos(x); }},
    {PLIM_EW_TAN, -1.2, 1.2, [](double x) { return std::tan(x); }},
    {PLIM_EW_ASIN, -1, 1, [](double x) { return std::asin(x); }},
    {PLIM_EW_ACOS, -1, 1, [](double x) { return std::acos(x); }},
    {PLIM_EW_ATAN, -9, 9, [](double x) { return std::atan(x); }},
    {PLIM_EW_SINH, -5, 5, [](double x) { return std::sinh(x); }},
    {PLIM_EW_COSH, -5, 5, [](double x) { return std::cosh(x); }},
    {PLIM_EW_TANH, -5, 5, [](double x) { return std::tanh(x); }},
    {PLIM_EW_ASINH, -9, 9, [](double x) { return std::asinh(x); }},
    {PLIM_EW_ACOSH, 1, 9, [](double x) { return std::acosh(x); }},
    {PLIM_EW_ATANH, -0.9, 0.9, [](double x) { return std::atanh(x); }},
    {PLIM_EW_SIGMOID, -9, 9, [](double x) { return 1 / (1 + std::exp(-x)); }},
    {PLIM_EW_RELU, -9, 9, [](double x) { return std::fmax(x, 0); }},
    {PLIM_EW_LEAKY_RELU, -9, 9, [](double x) { return x < 0 ? 0.125 * x : x; }, 0.125},
    {PLIM_EW_ELU, -5, 5, [](double x) { return x < 0 ? 1.5 * (std::exp(x) - 1) : x; }, 1.5},
    {PLIM_EW_SELU, -5, 5, [](double x) { return 1.05 * (x < 0 ? 1.67 * (std::exp(x) - 1) : x); }, 1.67, 1.05},
    {PLIM_EW_CELU, -5, 5, [](double x) { return x < 0 ? 2 * (std::exp(x / 2) - 1) : x; }, 2},
    {PLIM_EW_HARD_SIGMOID, -9, 9, [](double x) { return clamp(0.2 * x + 0.5, 0, 1); }, 0.2, 0.5},
    {PLIM_EW_HARD_SWISH, -9, 9, [](double x) { return x * clamp(x / 6 + 0.5, 0, 1); }},
    {PLIM_EW_SILU, -9, 9, [](double x) { return x / (1 + std::exp(-x)); }},
    {PLIM_EW_GELU_ERF, -4, 4, [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }},
    {PLIM_EW_GELU_TANH, -4, 4,
     [](double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }},
    {PLIM_EW_SOFTPLUS, -9, 9, [](double x) { return std::log(1 + std::exp(x)); }},
    {PLIM_EW_SOFTSIGN, -9, 9, [](double x) { return x / (1 + std::fabs(x)); }},
    {PLIM_EW_MISH, -5, 5, [](double x) { return x * std::tanh(std::log(1 + std::exp(x))); }},
    {PLIM_EW_THRESHOLDED_RELU, -9, 9, [](double x) { return x > 1 ? x : 0; }, 1},
    {PLIM_EW_SHRINK, -3, 3, [](double x) { return x < -1  ? x + 0.5
                                                  : x > 1 ? x - 0.5
                                                          : 0; }, 1, 0.5},
    {PLIM_EW_CLIP, -9, 9, [](double x) { return clamp(x, -2, 3); }, -2, 3},
    {PLIM_EW_NOT, -1, 1, [](double x) { return double(x == 0); }},
    {PLIM_EW_IS_NAN, -1, 1, [](double) { return 0.0; }},
    {PLIM_EW_IS_INF, -1, 1, [](double) { return 0.0; }, 1, 1},
    {PLIM_EW_IDENTITY, -9, 9, [](double x) { return x; }},
};

struct BinaryCase {
  int64_t op;
  double lo, hi;
  std::function<double(double, double)> f;
};

const BinaryCase binaryCases[] = {
    {PLIM_EW_ADD, -9, 9, [](double x, double y) { return x + y; }},
    {PLIM_EW_SUB, -9, 9, [](double x, double y) { return x - y; }},
    {PLIM_EW_MUL, -9, 9, [](double x, double y) { return x * y; }},
    {PLIM_EW_DIV, 1, 9, [](double x, double y) { return x / y; }},
    {PLIM_EW_MOD, -9, 9, [](double x, double y) { return x - y * std::floor(x / y); }},
    {PLIM_EW_FMOD, -9, 9, [](double x, double y) { return x - y * std::trunc(x / y); }},
    {PLIM_EW_POW, 0.5, 3, [](double x, double y) { return std::exp(y * std::log(x)); }},
    {PLIM_EW_MIN, -9, 9, [](double x, double y) { return x < y ? x : y; }},
    {PLIM_EW_MAX, -9, 9, [](double x, double y) { return x > y ? x : y; }},
    {PLIM_EW_EQUAL, -2, 2, [](double x, double y) { return double(x == y); }},
    {PLIM_EW_NOT_EQUAL, -2, 2, [](double x, double y) { return double(x != y); }},
    {PLIM_EW_LESS, -9, 9, [](double x, double y) { return double(x < y); }},
    {PLIM_EW_LESS_EQUAL, -9, 9, [](double x, double y) { return double(x <= y); }},
    {PLIM_EW_GREATER, -9, 9, [](double x, double y) { return double(x > y); }},
    {PLIM_EW_GREATER_EQUAL, -9, 9, [](double x, double y) { return double(x >= y); }},
    {PLIM_EW_PRELU, -9, 9, [](double x, double y) { return x < 0 ? x * y : x; }},
    {PLIM_EW_ATAN2, -9, 9, [](double x, double y) { return std::atan2(x, y); }},
};

// Relative error of a few roundings of the dtype.
double tolerance(uint8_t dtype) {
  return dtype == PLIM_F64 ? 1e-14 : dtype == PLIM_F32 ? 2e-6 : dtype == PLIM_F16 ? 1e-3 : 8e-3;
}

const uint8_t floats[] = {PLIM_F32, PLIM_F16, PLIM_BF16, PLIM_F64};
const Form forms[] = {Form::Row, Form::Permuted, Form::Negative};

} // namespace

TEST(Elementwise, UnaryOperationsMatchDoublePrecisionInEveryForm) {
  Random random(1);
  for (const UnaryCase &c : unaryCases)
    for (uint8_t dtype : floats)
      for (Form form : forms) {
        SCOPED_TRACE(testing::Message() << "op " << c.op << " dtype " << int(dtype));
        Tensor x(dtype, {3, 7, 19}, form, &random), y(dtype, {3, 7, 19}, form, &random);
        x.fill(random, c.lo, c.hi);
        ASSERT_EQ(runKernel("elementwise.apply", {&x, &y}, {c.op, word(c.a), word(c.b)}), 0);
        EXPECT_LE(worstError(y, [&](int64_t i) { return c.f(x.get(i)); }, tolerance(dtype), tolerance(dtype)), 1);
      }
}

TEST(Elementwise, BinaryOperationsMatchDoublePrecisionAndBroadcast) {
  Random random(2);
  Dims dims = {2, 5, 3, 7};
  for (const BinaryCase &c : binaryCases)
    for (uint8_t dtype : floats)
      for (const Dims &small : {Dims{2, 5, 3, 7}, Dims{5, 1, 1}, Dims{7}, Dims{}, Dims{2, 1, 3, 1}}) {
        SCOPED_TRACE(testing::Message() << "op " << c.op << " dtype " << int(dtype));
        Tensor x(dtype, dims, Form::Permuted, &random), z(dtype, dims);
        Tensor y = Tensor(dtype, small).fill(random, c.lo, c.hi).broadcastTo(dims);
        x.fill(random, c.lo, c.hi);
        ASSERT_EQ(runKernel("elementwise.apply", {&x, &y, &z}, {c.op, 0, 0}), 0);
        // Modulo jumps where the quotient is near an integer: skip what rounding decides.
        bool jumps = c.op == PLIM_EW_MOD || c.op == PLIM_EW_FMOD;
        auto expected = [&](int64_t i) {
          double q = x.get(i) / y.get(i);
          return jumps && std::fabs(q - std::nearbyint(q)) < 0.02 ? z.get(i) : c.f(x.get(i), y.get(i));
        };
        EXPECT_LE(worstError(z, expected, tolerance(dtype), tolerance(dtype)), 1);
      }
}

TEST(Elementwise, IntegersWrapAndNeverTrap) {
  const int64_t lowest = std::numeric_limits<int64_t>::min(), highest = std::numeric_limits<int64_t>::max();
  struct Case {
    int64_t op;
    uint8_t dtype;
    int64_t x, y, expected;
  };
  for (const Case &c : {
           Case{PLIM_EW_ADD, PLIM_I64, highest, 1, lowest},
           {PLIM_EW_ADD, PLIM_U8, 200, 100, 44},
           {PLIM_EW_SUB, PLIM_U8, 1, 2, 255},
           {PLIM_EW_MUL, PLIM_I32, 65536, 65536, 0},
           {PLIM_EW_MUL, PLIM_I64, highest, 2, -2},
           {PLIM_EW_DIV, PLIM_I64, -7, 2, -3},
           {PLIM_EW_DIV, PLIM_I64, 7, 0, 0},
           {PLIM_EW_DIV, PLIM_I64, lowest, -1, lowest},
           {PLIM_EW_DIV, PLIM_U64, -1, 2, highest},
           {PLIM_EW_MOD, PLIM_I32, -7, 3, 2},
           {PLIM_EW_MOD, PLIM_I32, 7, -3, -2},
           {PLIM_EW_MOD, PLIM_I64, lowest, -1, 0},
           {PLIM_EW_FMOD, PLIM_I32, -7, 3, -1},
           {PLIM_EW_FMOD, PLIM_I32, 7, 0, 0},
           {PLIM_EW_POW, PLIM_I64, 3, 5, 243},
           {PLIM_EW_POW, PLIM_I32, -2, 3, -8},
           {PLIM_EW_POW, PLIM_I32, 2, -1, 0},
           {PLIM_EW_POW, PLIM_I32, -1, -3, -1},
           {PLIM_EW_MIN, PLIM_U64, -1, 1, 1},
           {PLIM_EW_MAX, PLIM_I64, -1, 1, 1},
           {PLIM_EW_BIT_AND, PLIM_I32, 12, 10, 8},
           {PLIM_EW_BIT_OR, PLIM_I32, 12, 10, 14},
           {PLIM_EW_BIT_XOR, PLIM_I32, 12, 10, 6},
           {PLIM_EW_SHIFT_LEFT, PLIM_U8, 1, 9, 0},
           {PLIM_EW_SHIFT_LEFT, PLIM_U32, 3, 4, 48},
           {PLIM_EW_SHIFT_LEFT, PLIM_U64, 1, 64, 0},
           {PLIM_EW_SHIFT_RIGHT, PLIM_U64, -1, 63, 1},
           {PLIM_EW_SHIFT_RIGHT, PLIM_I64, -8, 1, -4},
           {PLIM_EW_AND, PLIM_BOOL, 1, 0, 0},
           {PLIM_EW_OR, PLIM_BOOL, 1, 0, 1},
           {PLIM_EW_XOR, PLIM_BOOL, 1, 1, 0},
           {PLIM_EW_EQUAL, PLIM_I64, highest, highest - 1, 0}, // equal as doubles
           {PLIM_EW_LESS, PLIM_U64, 1, -1, 1},
       }) {
    SCOPED_TRACE(testing::Message() << "op " << c.op << " of " << c.x << " and " << c.y);
    Tensor x(c.dtype, {1}), y(c.dtype, {1}), z(c.dtype, {1});
    x.setInt(0, c.x);
    y.setInt(0, c.y);
    ASSERT_EQ(runKernel("elementwise.apply", {&x, &y, &z}, {c.op, 0, 0}), 0);
    EXPECT_EQ(z.getInt(0), c.expected);
  }
}

TEST(Elementwise, UnaryIntegerForms) {
  Tensor x(PLIM_I32, {3}), y(PLIM_I32, {3});
  x.fillWith([](int64_t i) { return double(i * 5 - 5); }); // -5 0 5
  auto check = [&](int64_t op, double a, double b, std::vector<int64_t> expected) {
    ASSERT_EQ(runKernel("elementwise.apply", {&x, &y}, {op, word(a), word(b)}), 0);
    for (int64_t i = 0; i < 3; ++i)
      EXPECT_EQ(y.getInt(i), expected[size_t(i)]) << "op " << op;
  };
  check(PLIM_EW_NEG, 0, 0, {5, 0, -5});
  check(PLIM_EW_ABS, 0, 0, {5, 0, 5});
  check(PLIM_EW_SIGN, 0, 0, {-1, 0, 1});
  check(PLIM_EW_BIT_NOT, 0, 0, {4, -1, -6});
  check(PLIM_EW_CLIP, -2, 1e300, {-2, 0, 5});
  check(PLIM_EW_RELU, 0, 0, {0, 0, 5});
  check(PLIM_EW_NOT, 0, 0, {0, 1, 0});
}

TEST(Elementwise, NanGoesThroughAndTestsSeeIt) {
  const double nan = NAN, inf = INFINITY;
  Tensor x(PLIM_F32, {4}), y(PLIM_F32, {4}), z(PLIM_F32, {4}), test(PLIM_BOOL, {4});
  std::vector<double> xs = {nan, 1, -inf, inf}, ys = {1, nan, 2, -2};
  x.fillWith([&](int64_t i) { return xs[size_t(i)]; });
  y.fillWith([&](int64_t i) { return ys[size_t(i)]; });
  for (int64_t op : {PLIM_EW_MIN, PLIM_EW_MAX, PLIM_EW_ADD}) {
    ASSERT_EQ(runKernel("elementwise.apply", {&x, &y, &z}, {op, 0, 0}), 0);
    EXPECT_TRUE(std::isnan(z.get(0)) && std::isnan(z.get(1)));
  }
  for (int64_t op : {PLIM_EW_RELU, PLIM_EW_CLIP, PLIM_EW_SIGN, PLIM_EW_SOFTPLUS}) {
    ASSERT_EQ(runKernel("elementwise.apply", {&x, &z}, {op, word(-1), word(1)}), 0);
    EXPECT_TRUE(std::isnan(z.get(0))) << op;
  }
  ASSERT_EQ(runKernel("elementwise.apply", {&x, &test}, {PLIM_EW_IS_NAN, 0, 0}), 0);
  EXPECT_TRUE(test.getInt(0) == 1 && test.getInt(1) == 0 && test.getInt(3) == 0);
  ASSERT_EQ(runKernel("elementwise.apply", {&x, &test}, {PLIM_EW_IS_INF, word(0), word(1)}), 0);
  EXPECT_TRUE(test.getInt(0) == 0 && test.getInt(2) == 0 && test.getInt(3) == 1);
}

TEST(Elementwise, WhereKeepsWideIntegersExact) {
  Tensor c(PLIM_BOOL, {2, 3}), x(PLIM_I64, {2, 3}), out(PLIM_I64, {2, 3}, Form::Row);
  Tensor y = Tensor(PLIM_I64, {1}).broadcastTo({2, 3});
  for (int64_t i = 0; i < 6; ++i) {
    c.setInt(i, i % 2);
    x.setInt(i, (int64_t(1) << 60) + i);
  }
  y.setInt(0, -3);
  ASSERT_EQ(runKernel("elementwise.apply", {&c, &x, &y, &out}, {PLIM_EW_WHERE, 0, 0}), 0);
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(out.getInt(i), i % 2 ? (int64_t(1) << 60) + i : -3);
}

TEST(Elementwise, TernaryOperations) {
  Random random(3);
  Tensor x(PLIM_F32, {5, 6}), lo(PLIM_F32, {5, 6}), hi(PLIM_F32, {5, 6}), out(PLIM_F32, {5, 6});
  x.fill(random, -3, 3);
  lo.fill(random, -2, 0);
  hi.fill(random, 0, 2);
  ASSERT_EQ(runKernel("elementwise.apply", {&x, &lo, &hi, &out}, {PLIM_EW_CLAMP, 0, 0}), 0);
  EXPECT_EQ(worstError(out, [&](int64_t i) { return clamp(x.get(i), lo.get(i), hi.get(i)); }, 0, 1e-9), 0);
  ASSERT_EQ(runKernel("elementwise.apply", {&x, &lo, &hi, &out}, {PLIM_EW_MULTIPLY_ADD, 0, 0}), 0);
  EXPECT_LE(worstError(out, [&](int64_t i) { return x.get(i) * lo.get(i) + hi.get(i); }, 1e-6, 1e-6), 1);
}

TEST(Elementwise, MixedTypesComputeInTheWiderOne) {
  Tensor x(PLIM_I64, {1}), y(PLIM_F32, {1}), out(PLIM_I64, {1});
  x.setInt(0, 16777217); // not a float
  y.set(0, 1.0);
  ASSERT_EQ(runKernel("elementwise.apply", {&x, &y, &out}, {PLIM_EW_POW, 0, 0}), 0);
  EXPECT_EQ(out.getInt(0), 16777217);
}

TEST(Elementwise, EmptyTensorsAndWrongUse) {
  Tensor x(PLIM_F32, {3, 0, 2}), y(PLIM_F32, {3, 0, 2}), i(PLIM_I32, {2}), j(PLIM_I32, {2}), k(PLIM_I32, {3});
  EXPECT_EQ(runKernel("elementwise.apply", {&x, &y}, {PLIM_EW_EXP, 0, 0}), 0);
  i.fillWith([](int64_t) { return 1.0; });
  EXPECT_EQ(runKernel("elementwise.apply", {&i, &j}, {PLIM_EW_EXP, 0, 0}), PLIM_KERNEL_UNSUPPORTED);
  EXPECT_EQ(runKernel("elementwise.apply", {&i, &k}, {PLIM_EW_NEG, 0, 0}), PLIM_KERNEL_UNSUPPORTED);
  EXPECT_EQ(runKernel("elementwise.apply", {&i, &j}, {PLIM_EW_ADD, 0, 0}), PLIM_KERNEL_UNSUPPORTED);
  EXPECT_EQ(runKernel("elementwise.apply", {&i, &j}, {PLIM_EW_UNARY_END, 0, 0}), PLIM_KERNEL_UNSUPPORTED);
}

TEST(Cast, EveryPairOfTypesKeepsSmallIntegers) {
  Random random(4);
  for (int from = PLIM_F32; from <= PLIM_BOOL; ++from)
    for (int to = PLIM_F32; to <= PLIM_BOOL; ++to) {
      SCOPED_TRACE(testing::Message() << from << " to " << to);
      Tensor x(uint8_t(from), {5, 21}, Form::Negative, &random), y(uint8_t(to), {5, 21}, Form::Permuted, &random);
      x.fillWith([](int64_t i) { return double(i); });
      ASSERT_EQ(runKernel("elementwise.cast", {&x, &y}, {}), 0);
      for (int64_t i = 0; i < x.elements(); ++i)
        ASSERT_EQ(y.getInt(i), to == PLIM_BOOL || from == PLIM_BOOL ? i != 0 : i);
    }
}

TEST(Cast, FloatToIntegerTruncatesAndSaturates) {
  std::vector<double> values = {1.9, -1.9, 1e30, -1e30, NAN, 255.5, -0.5, INFINITY};
  auto check = [&](uint8_t from, uint8_t to, std::vector<int64_t> expected) {
    Tensor x(from, {8}), y(to, {8});
    x.fillWith([&](int64_t i) { return values[size_t(i)]; });
    ASSERT_EQ(runKernel("elementwise.cast", {&x, &y}, {}), 0);
    for (int64_t i = 0; i < 8; ++i)
      EXPECT_EQ(y.getInt(i), expected[size_t(i)]) << "element " << i << " to " << int(to);
  };
  const int64_t lowest = std::numeric_limits<int64_t>::min(), highest = std::numeric_limits<int64_t>::max();
  for (uint8_t from : {PLIM_F32, PLIM_F64}) {
    check(from, PLIM_I8, {1, -1, 127, -128, 0, 127, 0, 127});
    check(from, PLIM_U8, {1, 0, 255, 0, 0, 255, 0, 255});
    check(from, PLIM_I32, {1, -1, 2147483647, -2147483648LL, 0, 255, 0, 2147483647});
    check(from, PLIM_I64, {1, -1, highest, lowest, 0, 255, 0, highest});
    check(from, PLIM_U64, {1, 0, -1, 0, 0, 255, 0, -1});
    check(from, PLIM_BOOL, {1, 1, 1, 1, 1, 1, 1, 1});
  }
}

TEST(Cast, IntegersKeepTheirLowBits) {
  Tensor x(PLIM_I64, {3}), y(PLIM_I8, {3}), u(PLIM_U16, {3}), f(PLIM_F32, {3});
  x.setInt(0, 300);
  x.setInt(1, -1);
  x.setInt(2, (int64_t(1) << 62) + 1);
  ASSERT_EQ(runKernel("elementwise.cast", {&x, &y}, {}), 0);
  EXPECT_TRUE(y.getInt(0) == 44 && y.getInt(1) == -1 && y.getInt(2) == 1);
  ASSERT_EQ(runKernel("elementwise.cast", {&x, &u}, {}), 0);
  EXPECT_TRUE(u.getInt(0) == 300 && u.getInt(1) == 65535 && u.getInt(2) == 1);
  ASSERT_EQ(runKernel("elementwise.cast", {&x, &f}, {}), 0);
  EXPECT_EQ(f.get(2), std::ldexp(1.0, 62));
}

TEST(Cast, EveryHalfAndBfloatSurvivesTheRoundTrip) {
  for (uint8_t dtype : {PLIM_F16, PLIM_BF16}) {
    Tensor x(dtype, {65536}), wide(PLIM_F32, {65536}), back(dtype, {65536});
    for (int64_t i = 0; i < 65536; ++i)
      static_cast<uint16_t *>(x.data())[i] = uint16_t(i);
    ASSERT_EQ(runKernel("elementwise.cast", {&x, &wide}, {}), 0);
    EXPECT_EQ(worstError(wide, [&](int64_t i) { return x.get(i); }, 0, 1e-9), 0);
    ASSERT_EQ(runKernel("elementwise.cast", {&wide, &back}, {}), 0);
    for (int64_t i = 0; i < 65536; ++i) {
      if (!std::isnan(x.get(i)))
        ASSERT_EQ(static_cast<uint16_t *>(back.data())[i], i);
      else
        ASSERT_TRUE(std::isnan(back.get(i)));
    }
  }
}

TEST(Cast, NarrowFloatsRoundOnceHalfToEven) {
  Random random(5);
  // Random doubles over the whole range, and values next to ties, where rounding twice would go wrong.
  Tensor x(PLIM_F64, {20000}), half(PLIM_F16, {20000}), bfloat(PLIM_BF16, {20000});
  std::uniform_real_distribution<double> exponent(-30, 20), nudge(-1e-12, 1e-12);
  x.fillWith([&](int64_t i) {
    double v = std::exp2(exponent(random));
    if (i % 2) {
      int e;
      double m = std::frexp(v, &e), unit = i % 4 == 1 ? 2048 : 256; // significands of f16 and bf16
      v = std::ldexp((std::floor(m * unit) + 0.5) / unit * (i % 8 < 4 ? 1 : 1 + nudge(random)), e);
    }
    return i % 3 ? v : -v;
  });
  ASSERT_EQ(runKernel("elementwise.cast", {&x, &half}, {}), 0);
  ASSERT_EQ(runKernel("elementwise.cast", {&x, &bfloat}, {}), 0);
  Tensor expectedHalf(PLIM_F16, {20000}), expectedBfloat(PLIM_BF16, {20000});
  for (int64_t i = 0; i < 20000; ++i) {
    expectedHalf.set(i, x.get(i));
    expectedBfloat.set(i, x.get(i));
    ASSERT_EQ(half.get(i), expectedHalf.get(i)) << x.get(i);
    ASSERT_EQ(bfloat.get(i), expectedBfloat.get(i)) << x.get(i);
  }
}
