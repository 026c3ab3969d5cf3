//===- reduce_test.cpp - reduce.apply, reduce.arg, softmax.rows, scan.cumsum, sort.top_k -----===//

#include "kernels/reduce/reduce.h"
#include "kernels/scan/cumsum.h"
#include "kernels/softmax/rows.h"
#include "kernels/sort/top_k.h"
#include "kernels/status.h"
#include "test/kernels/launch.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace plim::test;

namespace {

double reduceAll(int64_t op, const std::vector<double> &v) {
  double sum = 0, squares = 0, absolute = 0, product = 1, top = -INFINITY, bottom = INFINITY, exponentials = 0;
  for (double x : v) {
    sum += x;
    squares += x * x;
    absolute += std::fabs(x);
    product *= x;
    top = std::max(top, x);
    bottom = std::min(bottom, x);
    exponentials += std::exp(x);
  }
  switch (op) {
  case PLIM_REDUCE_SUM:
    return sum;
  case PLIM_REDUCE_MEAN:
    return sum / double(v.size());
  case PLIM_REDUCE_MAX:
    return v.empty() ? NAN : top;
  case PLIM_REDUCE_MIN:
    return v.empty() ? NAN : bottom;
  case PLIM_REDUCE_PROD:
    return product;
  case PLIM_REDUCE_L1:
    return absolute;
  case PLIM_REDUCE_L2:
    return std::sqrt(squares);
  case PLIM_REDUCE_SUM_SQUARE:
    return squares;
  case PLIM_REDUCE_LOG_SUM:
    return std::log(sum);
  default:
    return std::log(exponentials);
  }
}

// X's dims with 1, or nothing, at the axes of the mask.
Dims resultDims(const Dims &dims, uint64_t mask, bool keep) {
  Dims result;
  for (size_t i = 0; i < dims.size(); ++i)
    if (!(mask >> i & 1))
      result.push_back(dims[i]);
    else if (keep)
      result.push_back(1);
  return result;
}

// The elements of X that share the coordinates of output `number` on the kept axes, in row-major order.
std::vector<double> slice(const Tensor &x, uint64_t mask, int64_t number) {
  Dims dims = x.dims(), kept = resultDims(dims, mask, false);
  std::vector<double> values;
  forEachIndex(dims, [&](const Dims &at) {
    int64_t out = 0;
    for (size_t i = 0; i < dims.size(); ++i)
      if (!(mask >> i & 1))
        out = out * dims[i] + at[i];
    if (out == number)
      values.push_back(x.at(at));
  });
  return values;
}

} // namespace

TEST(Reduce, EveryOperationOverEverySetOfAxes) {
  Random random(1);
  for (int64_t op = 0; op < PLIM_REDUCE_OP_COUNT; ++op)
    for (uint8_t dtype : {PLIM_F32, PLIM_F16, PLIM_F64})
      for (uint64_t mask = 0; mask < 8; ++mask)
        for (bool keep : {false, true})
          for (Form form : {Form::Row, Form::Negative}) {
            SCOPED_TRACE(testing::Message() << "op " << op << " mask " << mask << " keep " << keep);
            Dims dims = {3, 5, 9};
            Tensor x(dtype, dims, form, &random), y(dtype, resultDims(dims, mask, keep), form, &random);
            x.fill(random, 0.6, 1.3);
            ASSERT_EQ(runKernel("reduce.apply", {&x, &y}, {op, int64_t(mask)}), 0);
            double tolerance = dtype == PLIM_F64 ? 1e-13 : dtype == PLIM_F32 ? 1e-6 : 1e-3;
            EXPECT_LE(
                worstError(y, [&](int64_t i) { return reduceAll(op, slice(x, mask, i)); }, tolerance, tolerance), 1);
          }
}

TEST(Reduce, LongRowsAccumulateInDouble) {
  Tensor x(PLIM_F32, {1, 100001}), y(PLIM_F32, {1});
  x.fillWith([](int64_t i) { return i ? 1e-4 : 1e4; });
  ASSERT_EQ(runKernel("reduce.apply", {&x, &y}, {PLIM_REDUCE_SUM, 2}), 0);
  EXPECT_NEAR(y.get(0), 1e4 + 100000 * double(1e-4f), 1e-3); // f32 would lose each of the small ones
}

TEST(Reduce, NothingGivesTheNeutralElement) {
  Tensor x(PLIM_F32, {2, 0}), y(PLIM_F32, {2}), i(PLIM_I32, {2, 0}), j(PLIM_I32, {2});
  auto check = [&](int64_t op, double e) {
    ASSERT_EQ(runKernel("reduce.apply", {&x, &y}, {op, 2}), 0);
    EXPECT_TRUE(std::isnan(e) ? std::isnan(y.get(1)) : y.get(1) == e) << "op " << op << " gives " << y.get(1);
  };
  check(PLIM_REDUCE_SUM, 0);
  check(PLIM_REDUCE_PROD, 1);
  check(PLIM_REDUCE_MEAN, NAN);
  check(PLIM_REDUCE_MAX, NAN);
  check(PLIM_REDUCE_LOG_SUM_EXP, -INFINITY);
  ASSERT_EQ(runKernel("reduce.apply", {&i, &j}, {PLIM_REDUCE_MIN, 2}), 0);
  EXPECT_EQ(j.getInt(0), std::numeric_limits<int32_t>::max());
  ASSERT_EQ(runKernel("reduce.apply", {&i, &j}, {PLIM_REDUCE_MAX, 2}), 0);
  EXPECT_EQ(j.getInt(0), std::numeric_limits<int32_t>::min());
  ASSERT_EQ(runKernel("reduce.apply", {&i, &j}, {PLIM_REDUCE_MEAN, 2}), 0);
  EXPECT_EQ(j.getInt(0), 0);
  Tensor none(PLIM_F32, {0, 3}), nothing(PLIM_F32, {0});
  EXPECT_EQ(runKernel("reduce.apply", {&none, &nothing}, {PLIM_REDUCE_SUM, 2}), 0);
}

TEST(Reduce, IntegersStayExactAndWrap) {
  Tensor x(PLIM_I64, {3}), y(PLIM_I64, {});
  x.setInt(0, int64_t(1) << 62);
  x.setInt(1, 1);
  x.setInt(2, -5);
  auto check = [&](int64_t op, int64_t e) {
    ASSERT_EQ(runKernel("reduce.apply", {&x, &y}, {op, 1}), 0);
    EXPECT_EQ(y.getInt(0), e) << "op " << op;
  };
  check(PLIM_REDUCE_SUM, (int64_t(1) << 62) - 4);
  check(PLIM_REDUCE_MEAN, ((int64_t(1) << 62) - 4) / 3);
  check(PLIM_REDUCE_MAX, int64_t(1) << 62);
  check(PLIM_REDUCE_MIN, -5);
  check(PLIM_REDUCE_L1, (int64_t(1) << 62) + 6);
  check(PLIM_REDUCE_PROD, int64_t(uint64_t(-5) << 62));
}

TEST(Reduce, NanAndHugeValues) {
  Tensor x(PLIM_F32, {3}), y(PLIM_F32, {1});
  for (int at = 0; at < 3; ++at) {
    x.fillWith([&](int64_t i) { return i == at ? NAN : 1.0; });
    for (int64_t op : {PLIM_REDUCE_MAX, PLIM_REDUCE_MIN, PLIM_REDUCE_SUM, PLIM_REDUCE_LOG_SUM_EXP}) {
      ASSERT_EQ(runKernel("reduce.apply", {&x, &y}, {op, 1}), 0);
      EXPECT_TRUE(std::isnan(y.get(0))) << "op " << op << " loses the NaN at " << at;
    }
  }
  x.fillWith([](int64_t) { return 1000.0; });
  ASSERT_EQ(runKernel("reduce.apply", {&x, &y}, {PLIM_REDUCE_LOG_SUM_EXP, 1}), 0);
  EXPECT_NEAR(y.get(0), 1000 + std::log(3.0), 1e-3);
}

TEST(ReduceArg, PositionsOfTheFirstAndLast) {
  Random random(2);
  for (uint8_t dtype : {PLIM_F32, PLIM_I64, PLIM_U8})
    for (int64_t axis = 0; axis < 3; ++axis)
      for (int64_t largest : {0, 1})
        for (int64_t last : {0, 1})
          for (bool keep : {false, true}) {
            Dims dims = {4, 300, 3};
            std::swap(dims[1], dims[size_t(axis)]);
            uint64_t mask = uint64_t(1) << axis;
            Tensor x(dtype, dims, Form::Negative, &random);
            Tensor y(keep ? PLIM_I32 : PLIM_I64, resultDims(dims, mask, keep), Form::Permuted, &random);
            x.fill(random, 0, 9);
            x.fillWith([&](int64_t i) { return std::floor(x.get(i)); }); // many equal ones
            ASSERT_EQ(runKernel("reduce.arg", {&x, &y}, {axis, largest, last}), 0);
            for (int64_t i = 0; i < y.elements(); ++i) {
              std::vector<double> v = slice(x, mask, i);
              double best = largest ? *std::max_element(v.begin(), v.end()) : *std::min_element(v.begin(), v.end());
              int64_t e = last ? v.rend() - std::find(v.rbegin(), v.rend(), best) - 1
                               : std::find(v.begin(), v.end(), best) - v.begin();
              ASSERT_EQ(y.getInt(i), e);
            }
          }
  Tensor empty(PLIM_F32, {2, 0}), y(PLIM_I64, {2});
  EXPECT_EQ(runKernel("reduce.arg", {&empty, &y}, {1, 1, 0}), PLIM_KERNEL_UNSUPPORTED);
}

TEST(Softmax, EveryAxisAndForm) {
  Random random(3);
  for (uint8_t dtype : {PLIM_F32, PLIM_F16, PLIM_F64})
    for (int64_t axis = 0; axis < 3; ++axis)
      for (int64_t logarithm : {0, 1})
        for (Form form : {Form::Row, Form::Permuted, Form::Negative}) {
          Dims dims = {3, 5, 7};
          dims[size_t(axis)] = 301;
          Tensor x(dtype, dims, form, &random), y(dtype, dims, form, &random);
          x.fill(random, -20, 20);
          ASSERT_EQ(runKernel("softmax.rows", {&x, &y}, {axis, logarithm}), 0);
          double tolerance = dtype == PLIM_F64 ? 1e-12 : dtype == PLIM_F32 ? 1e-6 : 2e-3;
          std::vector<double> sums(size_t(product(resultDims(dims, uint64_t(1) << axis, false))), 0.0);
          auto row = [&](const Dims &at) {
            int64_t out = 0;
            for (size_t i = 0; i < 3; ++i)
              if (int64_t(i) != axis)
                out = out * dims[i] + at[i];
            return size_t(out);
          };
          forEachIndex(dims, [&](const Dims &at) { sums[row(at)] += std::exp(x.at(at)); });
          forEachIndex(dims, [&](const Dims &at) {
            double e = logarithm ? x.at(at) - std::log(sums[row(at)]) : std::exp(x.at(at)) / sums[row(at)];
            ASSERT_NEAR(y.at(at), e, tolerance * (1 + std::fabs(e)));
          });
        }
}

TEST(Softmax, LargeValuesMaskedValuesAndEmptyRows) {
  Tensor x(PLIM_F32, {2, 2}), y(PLIM_F32, {2, 2});
  std::vector<double> values = {1e38, 1e38, -INFINITY, 3};
  x.fillWith([&](int64_t i) { return values[size_t(i)]; });
  ASSERT_EQ(runKernel("softmax.rows", {&x, &y}, {1, 0}), 0);
  EXPECT_TRUE(y.get(0) == 0.5 && y.get(1) == 0.5 && y.get(2) == 0 && y.get(3) == 1);
  Tensor none(PLIM_F32, {3, 0}), nothing(PLIM_F32, {3, 0});
  EXPECT_EQ(runKernel("softmax.rows", {&none, &nothing}, {1, 0}), 0);
  EXPECT_EQ(runKernel("softmax.rows", {&x, &y}, {2, 0}), PLIM_KERNEL_UNSUPPORTED);
}

TEST(Cumsum, EveryAxisAndDirection) {
  Random random(4);
  for (uint8_t dtype : {PLIM_F32, PLIM_I32, PLIM_I64})
    for (int64_t axis = 0; axis < 3; ++axis)
      for (int64_t exclusive : {0, 1})
        for (int64_t reverse : {0, 1}) {
          Dims dims = {3, 4, 6};
          Tensor x(dtype, dims, Form::Negative, &random), y(dtype, dims, Form::Permuted, &random);
          x.fill(random, -9, 9);
          ASSERT_EQ(runKernel("scan.cumsum", {&x, &y}, {axis, exclusive, reverse}), 0);
          forEachIndex(dims, [&](const Dims &at) {
            double e = 0;
            for (int64_t i = 0; i < dims[size_t(axis)]; ++i) {
              Dims from = at;
              from[size_t(axis)] = i;
              int64_t distance = reverse ? i - at[size_t(axis)] : at[size_t(axis)] - i;
              e += distance > 0 || (distance == 0 && !exclusive) ? x.at(from) : 0;
            }
            ASSERT_NEAR(y.at(at), e, 1e-5);
          });
        }
}

TEST(TopK, ValuesAndIndicesInOrder) {
  Random random(5);
  for (uint8_t dtype : {PLIM_F32, PLIM_I64, PLIM_U8})
    for (int64_t axis = 0; axis < 2; ++axis)
      for (int64_t largest : {0, 1})
        for (int64_t k : {0, 1, 7, 40}) {
          Dims dims = {5, 5}, out = {5, 5};
          dims[size_t(axis)] = 40;
          out[size_t(axis)] = k;
          Tensor x(dtype, dims, Form::Negative, &random), values(dtype, out, Form::Permuted, &random);
          Tensor indices(PLIM_I64, out);
          x.fill(random, 0, 20); // integers: many equal ones
          ASSERT_EQ(runKernel("sort.top_k", {&x, &values, &indices}, {axis, largest}, 2), 0);
          for (int64_t row = 0; row < 5; ++row) {
            std::vector<double> v = slice(x, uint64_t(1) << axis, row);
            std::vector<int64_t> order(40);
            std::iota(order.begin(), order.end(), 0);
            std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
              return largest ? v[size_t(a)] > v[size_t(b)] : v[size_t(a)] < v[size_t(b)];
            });
            for (int64_t i = 0; i < k; ++i) {
              Dims at = axis == 0 ? Dims{i, row} : Dims{row, i};
              ASSERT_EQ(indices.at(at), double(order[size_t(i)]));
              ASSERT_EQ(values.at(at), v[size_t(order[size_t(i)])]);
            }
          }
        }
}

TEST(TopK, NanIsTheLargest) {
  Tensor x(PLIM_F32, {4}), values(PLIM_F32, {2}), indices(PLIM_I32, {2});
  std::vector<double> v = {1, NAN, INFINITY, -1};
  x.fillWith([&](int64_t i) { return v[size_t(i)]; });
  ASSERT_EQ(runKernel("sort.top_k", {&x, &values, &indices}, {0, 1}, 2), 0);
  EXPECT_TRUE(indices.getInt(0) == 1 && indices.getInt(1) == 2);
  ASSERT_EQ(runKernel("sort.top_k", {&x, &values, &indices}, {0, 0}, 2), 0);
  EXPECT_TRUE(indices.getInt(0) == 3 && indices.getInt(1) == 0);
}
