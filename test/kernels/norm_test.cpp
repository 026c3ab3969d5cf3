//===- norm_test.cpp - norm.layer, norm.rms, norm.group, norm.batch --------------------------===//

#include "kernels/norm/norm.h"
#include "kernels/status.h"
#include "test/kernels/launch.h"

#include "gtest/gtest.h"

#include <cmath>
#include <map>

using namespace plim::test;

namespace {

struct Moments {
  double count = 0, sum = 0, squares = 0;
  double mean() const { return sum / count; }
  double variance() const { return squares / count - mean() * mean(); }
};

// Sums over the elements that `unitOf` gives the same key.
std::map<Dims, Moments> momentsOf(const Tensor &x, const std::function<Dims(const Dims &)> &unitOf) {
  std::map<Dims, Moments> units;
  forEachIndex(x.dims(), [&](const Dims &at) {
    Moments &m = units[unitOf(at)];
    m.count += 1;
    m.sum += x.at(at);
    m.squares += x.at(at) * x.at(at);
  });
  return units;
}

double toleranceOf(uint8_t dtype) { return dtype == PLIM_F64 ? 1e-10 : dtype == PLIM_F32 ? 3e-6 : 2e-3; }

const double epsilon = 1e-3;

std::vector<Tensor *> operandsOf(int64_t flags, Tensor &x, Tensor &scale, Tensor &bias, Tensor &y) {
  std::vector<Tensor *> operands = {&x};
  if (flags & PLIM_NORM_SCALE)
    operands.push_back(&scale);
  if (flags & PLIM_NORM_BIAS)
    operands.push_back(&bias);
  operands.push_back(&y);
  return operands;
}

} // namespace

TEST(Norm, LayerAndRmsOverTrailingAxes) {
  Random random(1);
  for (uint8_t dtype : {PLIM_F32, PLIM_F16, PLIM_F64})
    for (int64_t axis = 0; axis < 3; ++axis)
      for (int64_t flags = 0; flags < 4; ++flags)
        for (bool rms : {false, true}) {
          if (rms && flags & PLIM_NORM_BIAS)
            continue;
          SCOPED_TRACE(testing::Message() << "axis " << axis << " flags " << flags << " rms " << rms);
          Dims dims = {3, 5, 130}, inner(dims.begin() + axis, dims.end());
          Tensor x(dtype, dims, Form::Negative, &random), y(dtype, dims, Form::Permuted, &random);
          Tensor scale(dtype, inner, Form::Permuted, &random);
          Tensor bias = Tensor(dtype, {inner.back()}).fill(random, -1, 1).broadcastTo(inner);
          x.fill(random, -2, 3);
          scale.fill(random, 0.5, 2);
          std::vector<Tensor *> operands = operandsOf(flags, x, scale, bias, y);
          ASSERT_EQ(runKernel(rms ? "norm.rms" : "norm.layer", operands, {flags, axis, word(epsilon), 1}), 0);
          auto unitOf = [&](const Dims &at) { return Dims(at.begin(), at.begin() + axis); };
          auto units = momentsOf(x, unitOf);
          forEachIndex(dims, [&](const Dims &at) {
            const Moments &m = units[unitOf(at)];
            Dims in(at.begin() + axis, at.end());
            double e = rms ? x.at(at) / std::sqrt(m.squares / m.count + epsilon)
                           : (x.at(at) - m.mean()) / std::sqrt(m.variance() + epsilon);
            e = e * (flags & PLIM_NORM_SCALE ? scale.at(in) : 1) + (flags & PLIM_NORM_BIAS ? bias.at(in) : 0);
            ASSERT_NEAR(y.at(at), e, toleranceOf(dtype) * (1 + std::fabs(e)));
          });
        }
}

TEST(Norm, GroupsOfChannelsFirstOrLast) {
  Random random(2);
  for (uint8_t dtype : {PLIM_F32, PLIM_F16})
    for (int64_t groups : {1, 2, 6})
      for (int64_t axis : {1, 3})
        for (int64_t flags = 0; flags < 4; ++flags) {
          Dims dims = axis == 1 ? Dims{2, 6, 5, 4} : Dims{2, 5, 4, 6};
          Tensor x(dtype, dims, Form::Permuted, &random), y(dtype, dims, Form::Negative, &random);
          Tensor scale(dtype, {6}, Form::Negative, &random), bias(dtype, {6});
          x.fill(random, -2, 3);
          scale.fill(random, 0.5, 2);
          bias.fill(random, -1, 1);
          std::vector<Tensor *> operands = operandsOf(flags, x, scale, bias, y);
          ASSERT_EQ(runKernel("norm.group", operands, {flags, axis, word(epsilon), groups}), 0);
          auto unitOf = [&](const Dims &at) { return Dims{at[0], at[size_t(axis)] / (6 / groups)}; };
          auto units = momentsOf(x, unitOf);
          forEachIndex(dims, [&](const Dims &at) {
            const Moments &m = units[unitOf(at)];
            int64_t c = at[size_t(axis)];
            double e = (x.at(at) - m.mean()) / std::sqrt(m.variance() + epsilon);
            e = e * (flags & PLIM_NORM_SCALE ? scale.get(c) : 1) + (flags & PLIM_NORM_BIAS ? bias.get(c) : 0);
            ASSERT_NEAR(y.at(at), e, toleranceOf(dtype) * (1 + std::fabs(e)));
          });
        }
}

TEST(Norm, BatchUsesTheGivenStatistics) {
  Random random(3);
  for (uint8_t dtype : {PLIM_F32, PLIM_F16})
    for (int64_t axis = 0; axis < 4; ++axis) {
      Dims dims = {3, 4, 5, 7};
      int64_t channels = dims[size_t(axis)];
      Tensor x(dtype, dims, Form::Permuted, &random), y(dtype, dims, Form::Negative, &random);
      std::vector<Tensor> p;
      for (int i = 0; i < 4; ++i)
        p.push_back(Tensor(PLIM_F32, {channels}).fill(random, 0.5, 2));
      x.fill(random, -2, 3);
      ASSERT_EQ(runKernel("norm.batch", {&x, &p[0], &p[1], &p[2], &p[3], &y}, {0, axis, word(epsilon), 1}), 0);
      forEachIndex(dims, [&](const Dims &at) {
        int64_t c = at[size_t(axis)];
        double e = (x.at(at) - p[2].get(c)) / std::sqrt(p[3].get(c) + epsilon) * p[0].get(c) + p[1].get(c);
        ASSERT_NEAR(y.at(at), e, toleranceOf(dtype) * (1 + std::fabs(e)));
      });
    }
}

TEST(Norm, EmptyTensorsAndWrongParameters) {
  Tensor x(PLIM_F32, {0, 4}), y(PLIM_F32, {0, 4}), z(PLIM_F32, {2, 0}), out(PLIM_F32, {2, 0}), scale(PLIM_F32, {3});
  EXPECT_EQ(runKernel("norm.layer", {&x, &y}, {0, 1, word(epsilon), 1}), 0);
  EXPECT_EQ(runKernel("norm.layer", {&z, &out}, {0, 1, word(epsilon), 1}), 0);
  EXPECT_EQ(runKernel("norm.layer", {&x, &scale, &y}, {PLIM_NORM_SCALE, 1, word(epsilon), 1}), PLIM_KERNEL_UNSUPPORTED);
  EXPECT_EQ(runKernel("norm.group", {&x, &y}, {0, 1, word(epsilon), 3}), PLIM_KERNEL_UNSUPPORTED);
}
