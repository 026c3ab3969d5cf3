//===- resample_test.cpp - pad.apply and resize.apply ----------------------------------------===//

#include "kernels/pad/apply.h"
#include "kernels/resize/apply.h"
#include "kernels/status.h"
#include "test/kernels/launch.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

using namespace plim::test;

namespace {

std::vector<int64_t> padAttrs(int64_t mode, double value, const Dims &begin) {
  std::vector<int64_t> attrs = {mode, word(value)};
  attrs.insert(attrs.end(), begin.begin(), begin.end());
  attrs.resize(PLIM_PAD_WORDS, 0);
  return attrs;
}

// By walking: the coordinate moves as the mode says, one step at a time.
int64_t padSource(int64_t mode, int64_t i, int64_t n) {
  if (i >= 0 && i < n)
    return i;
  if (mode == PLIM_PAD_EDGE)
    return i < 0 ? 0 : n - 1;
  int64_t at = 0, step = i < 0 ? -1 : 1;
  for (int64_t left = std::abs(i); left > 0; --left) {
    int64_t next = at + step;
    if (next >= 0 && next < n)
      at = next;
    else if (mode == PLIM_PAD_WRAP)
      at = (next + n) % n;
    else if (n > 1)
      at -= step, step = -step;
  }
  return at;
}

struct Coordinate {
  double at;
  bool isTie; // within rounding of the f32 arithmetic of a point where NEAREST jumps
};

Coordinate coordinateOf(int64_t rule, int64_t i, int64_t n, int64_t m, double s) {
  double at = 0;
  switch (rule) {
  case PLIM_RESIZE_HALF_PIXEL:
    at = (double(i) + 0.5) / s - 0.5;
    break;
  case PLIM_RESIZE_PYTORCH_HALF_PIXEL:
    at = m > 1 ? (double(i) + 0.5) / s - 0.5 : 0;
    break;
  case PLIM_RESIZE_ALIGN_CORNERS:
    at = m == 1 ? 0 : double(i) * double(n - 1) / double(m - 1);
    break;
  case PLIM_RESIZE_ASYMMETRIC:
    at = double(i) / s;
    break;
  default:
    at = double(n) / 2 * (1 - double(m) / (s * double(n))) + (double(i) + 0.5) / s - 0.5;
  }
  double doubled = at * 2;
  return {at, std::fabs(doubled - std::nearbyint(doubled)) < 1e-4};
}

double cubicWeight(double a, double d) {
  d = std::fabs(d);
  if (d <= 1)
    return (a + 2) * d * d * d - (a + 3) * d * d + 1;
  return d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0;
}

std::vector<int64_t> resizeAttrs(int64_t mode, int64_t coordinate, int64_t rounding, bool exclude,
                                 const std::vector<double> &scales) {
  std::vector<int64_t> attrs(PLIM_RESIZE_WORDS, word(1));
  attrs[PLIM_RESIZE_MODE] = mode;
  attrs[PLIM_RESIZE_COORDINATE] = coordinate;
  attrs[PLIM_RESIZE_ROUNDING] = rounding;
  attrs[PLIM_RESIZE_CUBIC_A] = word(-0.75);
  attrs[PLIM_RESIZE_EXCLUDE_OUTSIDE] = exclude;
  for (size_t i = 0; i < scales.size(); ++i)
    attrs[PLIM_RESIZE_SCALE + i] = word(scales[i]);
  return attrs;
}

// Weight of element `from` of X for coordinate i of Y along one axis: the sum of all taps that clamp to it.
double axisWeight(int64_t mode, const Coordinate &c, int64_t from, int64_t n, bool exclude) {
  double at = mode == PLIM_RESIZE_LINEAR ? std::min(std::max(c.at, 0.0), double(n - 1)) : c.at, total = 0, inside = 0;
  for (int64_t k = int64_t(std::floor(at)) - 2; k <= int64_t(std::floor(at)) + 3; ++k) {
    double d = at - double(k), w = mode == PLIM_RESIZE_LINEAR ? std::max(0.0, 1 - std::fabs(d)) : cubicWeight(-0.75, d);
    bool isInside = k >= 0 && k < n;
    inside += isInside ? w : 0;
    if ((isInside || !(exclude && mode == PLIM_RESIZE_CUBIC)) && std::clamp<int64_t>(k, 0, n - 1) == from)
      total += w;
  }
  return exclude && mode == PLIM_RESIZE_CUBIC ? total / inside : total;
}

} // namespace

TEST(Pad, EveryModeGrowsAndCuts) {
  Random random(1);
  for (int64_t mode = 0; mode < PLIM_PAD_MODE_COUNT; ++mode)
    for (uint8_t dtype : {PLIM_F32, PLIM_I64, PLIM_U8, PLIM_F16})
      for (const auto &[begin, out] : {std::pair<Dims, Dims>{{0, 0, 0}, {2, 3, 4}},
                                       {{1, 2, 3}, {5, 9, 11}},
                                       {{-1, 0, -2}, {1, 3, 1}},
                                       {{0, 7, 9}, {2, 20, 30}},
                                       {{2, -1, 0}, {4, 1, 4}},
                                       {{0, -1, 3}, {2, 6, 6}}}) {
        Tensor x(dtype, {2, 3, 4}, Form::Negative, &random), y(dtype, out, Form::Permuted, &random);
        x.fillWith([](int64_t i) { return double(i + 1); });
        ASSERT_EQ(runKernel("pad.apply", {&x, &y}, padAttrs(mode, 77, begin)), 0);
        forEachIndex(out, [&](const Dims &at) {
          Dims from;
          bool inside = true;
          for (size_t d = 0; d < 3; ++d) {
            int64_t i = at[d] - begin[d], n = x.dims()[d];
            inside &= i >= 0 && i < n;
            // First cut, then pad what is left.
            int64_t low = std::max<int64_t>(0, -begin[d]), high = std::min(n, out[d] - begin[d]);
            from.push_back(mode == PLIM_PAD_CONSTANT ? std::clamp<int64_t>(i, 0, n - 1)
                                                     : low + padSource(mode, i - low, high - low));
          }
          ASSERT_EQ(y.at(at), mode == PLIM_PAD_CONSTANT && !inside ? 77 : x.at(from)) << "mode " << mode;
        });
      }
}

TEST(Pad, AnEmptyTensorTakesTheConstantOnly) {
  Tensor x(PLIM_F32, {0, 2}), y(PLIM_F32, {3, 2});
  ASSERT_EQ(runKernel("pad.apply", {&x, &y}, padAttrs(PLIM_PAD_CONSTANT, 5, {1, 0})), 0);
  EXPECT_EQ(worstError(y, [](int64_t) { return 5.0; }, 0, 1e-9), 0);
  EXPECT_EQ(runKernel("pad.apply", {&x, &y}, padAttrs(PLIM_PAD_EDGE, 5, {1, 0})), PLIM_KERNEL_UNSUPPORTED);
}

TEST(Resize, NearestUnderEveryCoordinateAndRounding) {
  Random random(2);
  for (int64_t coordinate = 0; coordinate < PLIM_RESIZE_COORDINATE_COUNT; ++coordinate)
    for (int64_t rounding = 0; rounding < PLIM_RESIZE_ROUNDING_COUNT; ++rounding)
      for (const Dims &out : {Dims{2, 8, 10, 3}, Dims{2, 3, 7, 3}, Dims{1, 4, 1, 6}, Dims{2, 4, 5, 7}})
        for (uint8_t dtype : {PLIM_F32, PLIM_U8, PLIM_BF16}) {
          Dims dims = {2, 4, 5, 3};
          std::vector<double> scales;
          for (size_t d = 0; d < 4; ++d)
            scales.push_back(double(out[d]) / double(dims[d]));
          Tensor x(dtype, dims, Form::Negative, &random), y(dtype, out, Form::Permuted, &random);
          x.fillWith([](int64_t i) { return double(i); });
          ASSERT_EQ(runKernel("resize.apply", {&x, &y},
                              resizeAttrs(PLIM_RESIZE_NEAREST, coordinate, rounding, false, scales)),
                    0);
          forEachIndex(out, [&](const Dims &at) {
            Dims from;
            for (size_t d = 0; d < 4; ++d) {
              Coordinate c = coordinateOf(coordinate, at[d], dims[d], out[d], scales[d]);
              // f32 decides near a tie, unless the arithmetic is exact.
              bool exact = scales[d] == 1 || scales[d] == 2;
              if (c.isTie && !exact)
                return;
              double r = rounding == PLIM_RESIZE_ROUND_PREFER_FLOOR  ? std::ceil(c.at - 0.5)
                         : rounding == PLIM_RESIZE_ROUND_PREFER_CEIL ? std::floor(c.at + 0.5)
                         : rounding == PLIM_RESIZE_FLOOR             ? std::floor(c.at)
                                                                     : std::ceil(c.at);
              from.push_back(std::clamp<int64_t>(int64_t(r), 0, dims[d] - 1));
            }
            ASSERT_EQ(y.at(at), x.at(from)) << "coordinate " << coordinate << " rounding " << rounding;
          });
        }
}

TEST(Resize, LinearAndCubicWeighTheirNeighbours) {
  Random random(3);
  for (int64_t mode : {PLIM_RESIZE_LINEAR, PLIM_RESIZE_CUBIC})
    for (int64_t coordinate = 0; coordinate < PLIM_RESIZE_COORDINATE_COUNT; ++coordinate)
      for (bool exclude : {false, true})
        for (const Dims &out : {Dims{2, 8, 10, 3}, Dims{2, 3, 4, 3}, Dims{2, 4, 9, 7}, Dims{2, 4, 5, 3}})
          for (uint8_t dtype : {PLIM_F32, PLIM_F16}) {
            SCOPED_TRACE(testing::Message() << "mode " << mode << " coordinate " << coordinate);
            Dims dims = {2, 4, 5, 3};
            std::vector<double> scales;
            for (size_t d = 0; d < 4; ++d)
              scales.push_back(double(out[d]) / double(dims[d]));
            Tensor x(dtype, dims, Form::Negative, &random), y(dtype, out, Form::Permuted, &random);
            x.fill(random, -1, 1);
            ASSERT_EQ(runKernel("resize.apply", {&x, &y}, resizeAttrs(mode, coordinate, 0, exclude, scales)), 0);
            forEachIndex(out, [&](const Dims &at) {
              double e = 0;
              forEachIndex(dims, [&](const Dims &from) {
                double w = 1;
                for (size_t d = 0; d < 4; ++d)
                  w *= scales[d] == 1 ? double(from[d] == at[d])
                                      : axisWeight(mode, coordinateOf(coordinate, at[d], dims[d], out[d], scales[d]),
                                                   from[d], dims[d], exclude);
                e += w * x.at(from);
              });
              ASSERT_NEAR(y.at(at), e, dtype == PLIM_F16 ? 2e-3 : 1e-5);
            });
          }
}

TEST(Resize, EmptyTensorsAndWrongUse) {
  Tensor x(PLIM_F32, {0, 3}), y(PLIM_F32, {0, 6}), z(PLIM_F32, {2, 6});
  auto attrs = resizeAttrs(PLIM_RESIZE_NEAREST, 0, 0, false, {1, 2});
  EXPECT_EQ(runKernel("resize.apply", {&x, &y}, attrs), 0);
  EXPECT_EQ(runKernel("resize.apply", {&x, &z}, attrs), PLIM_KERNEL_UNSUPPORTED);
  attrs[PLIM_RESIZE_SCALE] = word(0);
  EXPECT_EQ(runKernel("resize.apply", {&x, &y}, attrs), PLIM_KERNEL_UNSUPPORTED);
}
