//===- select_test.cpp - nonzero, unique, non-max suppression, ranges ------------------------===//

#include "kernels/select/select.h"
#include "kernels/status.h"
#include "test/kernels/launch.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

using namespace plim::test;

namespace {

std::vector<int64_t> integersOf(const Tensor &t) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < t.elements(); ++i)
    values.push_back(t.getInt(i));
  return values;
}

} // namespace

TEST(Nonzero, CoordinatesInOrderOfEveryTypeAndForm) {
  Random random(1);
  for (uint8_t dtype : {PLIM_F32, PLIM_F16, PLIM_I64, PLIM_U8, PLIM_BOOL})
    for (const Dims &dims : {Dims{5}, Dims{3, 4}, Dims{2, 3, 5}, Dims{0, 3}, Dims{1, 1}}) {
      Tensor x(dtype, dims, Form::Negative, &random);
      x.fillWith([&](int64_t) { return random() % 3 == 0 ? 1.0 : 0.0; });
      std::vector<Dims> expected;
      forEachIndex(dims, [&](const Dims &at) {
        if (x.at(at) != 0)
          expected.push_back(at);
      });
      Tensor y(PLIM_I64, {int64_t(expected.size()), int64_t(dims.size())}, Form::Permuted, &random);
      ASSERT_EQ(runKernel("select.nonzero", {&x, &y}, {}), PLIM_KERNEL_OK);
      for (size_t i = 0; i < expected.size(); ++i)
        for (size_t d = 0; d < dims.size(); ++d)
          EXPECT_EQ(y.getInt(y.numberOf({int64_t(i), int64_t(d)})), expected[i][d]);
    }
}

TEST(Nonzero, NanIsNotZeroAndNegativeZeroIs) {
  Tensor x(PLIM_F32, {3}), y(PLIM_I64, {1, 1});
  x.set(0, -0.0);
  x.set(1, std::nan(""));
  x.set(2, 0);
  ASSERT_EQ(runKernel("select.nonzero", {&x, &y}, {}), PLIM_KERNEL_OK);
  EXPECT_EQ(y.getInt(0), 1);
}

TEST(Nonzero, AnotherNumberThanThereAreIsReported) {
  Tensor x(PLIM_I32, {4});
  x.fillWith([](int64_t i) { return i < 2; });
  for (int64_t count : {0, 1, 3, 4}) {
    Tensor y(PLIM_I64, {count, 1});
    EXPECT_EQ(runKernel("select.nonzero", {&x, &y}, {}), PLIM_KERNEL_BAD_INDEX) << count;
  }
}

TEST(Unique, ElementsSortedAndInOrderOfAppearance) {
  Random random(2);
  for (uint8_t dtype : {PLIM_F32, PLIM_I64, PLIM_U8})
    for (int64_t n : {0, 1, 2, 37, 300})
      for (int64_t sorted : {0, 1}) {
        Tensor x(dtype, {n}, Form::Negative, &random);
        x.fillWith([&](int64_t) { return double(random() % uint64_t(n / 3 + 1)); });
        Tensor first(PLIM_I64, {n}), inverse(PLIM_I64, {n}, Form::Permuted, &random), counts(PLIM_I64, {n});
        Tensor count(PLIM_I64, {});
        ASSERT_EQ(runKernel("select.unique", {&x, &first, &inverse, &counts, &count}, {-1, sorted}, 4), PLIM_KERNEL_OK);
        std::vector<double> distinct; // in the order that is wanted
        std::map<double, int64_t> times;
        for (int64_t i = 0; i < n; ++i)
          if (times[x.get(i)]++ == 0)
            distinct.push_back(x.get(i));
        if (sorted)
          std::sort(distinct.begin(), distinct.end());
        ASSERT_EQ(count.getInt(0), int64_t(distinct.size()));
        for (int64_t j = 0; j < n; ++j) {
          bool is = j < int64_t(distinct.size());
          EXPECT_EQ(counts.getInt(j), is ? times[distinct[size_t(j)]] : 0);
          int64_t at = 0;
          while (is && x.get(at) != distinct[size_t(j)])
            ++at;
          EXPECT_EQ(first.getInt(j), at);
        }
        for (int64_t i = 0; i < n; ++i)
          EXPECT_EQ(distinct[size_t(inverse.getInt(i))], x.get(i));
      }
}

TEST(Unique, SlicesAlongAnAxisCompareByTheirElementsInOrder) {
  Random random(3);
  Tensor x(PLIM_F32, {2, 5, 2}, Form::Negative, &random);
  const double columns[5][4] = {{1, 2, 3, 4}, {1, 2, 3, 0}, {1, 2, 3, 4}, {0, 9, 9, 9}, {1, 2, 3, 0}};
  forEachIndex({2, 5, 2}, [&](const Dims &at) { x.set(x.numberOf(at), columns[at[1]][at[0] * 2 + at[2]]); });
  Tensor first(PLIM_I64, {5}), inverse(PLIM_I64, {5}), counts(PLIM_I64, {5}), count(PLIM_I64, {1});
  ASSERT_EQ(runKernel("select.unique", {&x, &first, &inverse, &counts, &count}, {1, 1}, 4), PLIM_KERNEL_OK);
  EXPECT_EQ(count.getInt(0), 3);
  EXPECT_EQ(integersOf(first), (std::vector<int64_t>{3, 1, 0, 0, 0}));
  EXPECT_EQ(integersOf(inverse), (std::vector<int64_t>{2, 1, 2, 0, 1}));
  EXPECT_EQ(integersOf(counts), (std::vector<int64_t>{1, 2, 2, 0, 0}));
}

TEST(Unique, NanIsLastAndOne) {
  Tensor x(PLIM_F32, {5});
  const double nan = std::nan(""), values[] = {nan, 2, nan, -std::numeric_limits<double>::infinity(), 2};
  x.fillWith([&](int64_t i) { return values[i]; });
  Tensor first(PLIM_I64, {5}), inverse(PLIM_I64, {5}), counts(PLIM_I64, {5}), count(PLIM_I64, {1});
  ASSERT_EQ(runKernel("select.unique", {&x, &first, &inverse, &counts, &count}, {-1, 1}, 4), PLIM_KERNEL_OK);
  EXPECT_EQ(integersOf(inverse), (std::vector<int64_t>{2, 1, 2, 0, 1}));
}

TEST(NonMaxSuppression, AgreesWithAGreedySearchInDoublePrecision) {
  Random random(4);
  for (int round = 0; round < 20; ++round) {
    int64_t batches = 1 + round % 2, classes = 1 + round % 3, n = round % 5 * 7, most = 1 + round % 6;
    bool center = round % 4 == 3;
    Tensor boxes(PLIM_F32, {batches, n, 4}, Form::Permuted, &random), scores(PLIM_F32, {batches, classes, n});
    boxes.fillWith([&](int64_t i) { return double(random() % 64) / 8 + (center && i % 4 >= 2 ? 1 : 0); });
    scores.fill(random, 0, 1);
    Tensor limit(PLIM_I64, {}), overlap(PLIM_F32, {}), least(PLIM_F32, {});
    limit.setInt(0, most);
    overlap.set(0, 0.3);
    least.set(0, 0.25);
    auto corner = [&](int64_t b, int64_t i, int64_t axis, bool high) {
      double p = boxes.at({b, i, axis}), q = boxes.at({b, i, axis + 2});
      if (center)
        return high ? p + q / 2 : p - q / 2;
      return high ? std::max(p, q) : std::min(p, q);
    };
    std::vector<int64_t> expected;
    for (int64_t b = 0; b < batches; ++b)
      for (int64_t c = 0; c < classes; ++c) {
        std::vector<int64_t> taken;
        std::vector<bool> gone(size_t(n), false);
        while (int64_t(taken.size()) < most) {
          int64_t best = -1;
          for (int64_t i = 0; i < n; ++i)
            if (!gone[size_t(i)] && scores.at({b, c, i}) > least.get(0) &&
                (best < 0 || scores.at({b, c, i}) > scores.at({b, c, best})))
              best = i;
          if (best < 0)
            break;
          gone[size_t(best)] = true;
          bool isFree = std::all_of(taken.begin(), taken.end(), [&](int64_t other) {
            double shared = 1, one = 1, two = 1;
            for (int64_t axis = 0; axis < 2; ++axis) {
              double low = std::max(corner(b, best, axis, false), corner(b, other, axis, false));
              shared *= std::max(0.0, std::min(corner(b, best, axis, true), corner(b, other, axis, true)) - low);
              one *= corner(b, best, axis, true) - corner(b, best, axis, false);
              two *= corner(b, other, axis, true) - corner(b, other, axis, false);
            }
            return !(shared > 0 && shared / (one + two - shared) > overlap.get(0));
          });
          if (!isFree)
            continue;
          taken.push_back(best);
          expected.insert(expected.end(), {b, c, best});
        }
      }
    int64_t rows = batches * classes * std::min(n, most);
    Tensor selected(PLIM_I64, {rows, 3}, Form::Permuted, &random), count(PLIM_I64, {});
    ASSERT_EQ(runKernel("select.non_max_suppression", {&boxes, &scores, &limit, &overlap, &least, &selected, &count},
                        {center}, 2),
              PLIM_KERNEL_OK);
    ASSERT_EQ(count.getInt(0) * 3, int64_t(expected.size()));
    expected.resize(size_t(rows) * 3);
    EXPECT_EQ(integersOf(selected), expected);
  }
}

TEST(NonMaxSuppression, MoreBoxesThanThereIsRoomForAreReported) {
  Tensor boxes(PLIM_F32, {1, 2, 4}), scores(PLIM_F32, {1, 1, 2}), most(PLIM_I64, {}), overlap(PLIM_F32, {});
  const double corners[] = {0, 0, 1, 1, 5, 5, 6, 6};
  boxes.fillWith([&](int64_t i) { return corners[i]; });
  scores.fillWith([](int64_t) { return 1; });
  most.setInt(0, 2);
  Tensor least(PLIM_F32, {}), selected(PLIM_I64, {1, 3}), count(PLIM_I64, {});
  overlap.set(0, 0.5);
  least.set(0, 0);
  EXPECT_EQ(
      runKernel("select.non_max_suppression", {&boxes, &scores, &most, &overlap, &least, &selected, &count}, {0}, 2),
      PLIM_KERNEL_BAD_INDEX);
}

TEST(Fill, RangeFromStartByStep) {
  Random random(5);
  for (uint8_t dtype : {PLIM_F32, PLIM_F64, PLIM_I64, PLIM_I32, PLIM_U8})
    for (int64_t n : {0, 1, 100}) {
      Tensor start(dtype, {}), step(dtype, {1}), y(dtype, {n}, Form::Negative, &random);
      start.set(0, 3);
      step.set(0, dtype == PLIM_F32 ? 0.1 : 2);
      ASSERT_EQ(runKernel("fill.range", {&start, &step, &y}, {}), PLIM_KERNEL_OK);
      EXPECT_LE(worstError(y, [&](int64_t i) { return 3 + double(i) * step.get(0); }, 1e-7, 0), 1.0);
    }
}
