//===- FromGraphTest.cpp - Graph ops as generated kernels -----------------===//
#include "GraphRunner.h"
#include <bit>
#include <cmath>
#include <gtest/gtest.h>

using namespace plim;
using namespace plim::gen;

namespace {
void expectClose(const std::vector<float> &got, const std::vector<double> &want, double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_LE(std::fabs(got[i] - want[i]), tolerance * std::max(1.0, std::fabs(want[i]))) << "at " << i;
}
} // namespace

TEST(FromGraph, BiasAndActivationOverChannels) {
  GraphRunner runner;
  KernelInfo k = runner.add(functionOf("%x: tensor<2x5x7x24xf32>, %b: tensor<24xf32>, %s: tensor<2x1x1x24xf32>", R"(
    %r = graph.fused(%a = %x : tensor<2x5x7x24xf32>, %c = %b : tensor<24xf32>, %d = %s : tensor<2x1x1x24xf32>)
        -> (tensor<2x5x7x24xf32>) {
      %0 = graph.add %a, %c : (tensor<2x5x7x24xf32>, tensor<24xf32>) -> tensor<2x5x7x24xf32>
      %1 = graph.relu %0 : (tensor<2x5x7x24xf32>) -> tensor<2x5x7x24xf32>
      %2 = graph.mul %1, %d : (tensor<2x5x7x24xf32>, tensor<2x1x1x24xf32>) -> tensor<2x5x7x24xf32>
      graph.yield %2 : tensor<2x5x7x24xf32>
    })"));
  runner.load();
  std::vector<float> x = randomFloats(2 * 35 * 24, 1), b = randomFloats(24, 2), s = randomFloats(48, 3);
  for (plim_isa isa : KernelRunner::levels()) {
    std::vector<float> y(x.size());
    runner.run(k, isa, {x.data(), b.data(), s.data(), y.data()});
    std::vector<double> want;
    for (size_t i = 0; i < x.size(); ++i)
      want.push_back(std::max(double(x[i]) + b[i % 24], 0.0) * s[i / (35 * 24) * 24 + i % 24]);
    expectClose(y, want, 1e-6);
  }
}

TEST(FromGraph, SoftmaxAlongAnyAxis) {
  GraphRunner runner;
  const int64_t shape[3] = {3, 21, 34};
  std::vector<KernelInfo> kernels;
  for (int axis = 0; axis < 3; ++axis)
    kernels.push_back(runner.add(
        functionOf("%x: tensor<3x21x34xf32>", "%r = graph.softmax %x {axis = " + std::to_string(axis) +
                                                  " : i64} : (tensor<3x21x34xf32>) -> tensor<3x21x34xf32>")));
  runner.load();
  std::vector<float> x = randomFloats(3 * 21 * 34, 4);
  for (int axis = 0; axis < 3; ++axis)
    for (plim_isa isa : KernelRunner::levels()) {
      std::vector<float> y(x.size());
      runner.run(kernels[axis], isa, {x.data(), y.data()});
      int64_t inner = axis == 2 ? 1 : axis == 1 ? 34 : 21 * 34, n = shape[axis];
      std::vector<double> want;
      for (size_t i = 0; i < x.size(); ++i) {
        size_t first = i - i / inner % n * inner;
        double sum = 0;
        for (int64_t j = 0; j < n; ++j)
          sum += std::exp(double(x[first + j * inner]) - x[i]);
        want.push_back(1 / sum);
      }
      expectClose(y, want, 1e-6);
    }
}

TEST(FromGraph, LayerNormOverTheLastTwoDimensions) {
  GraphRunner runner;
  KernelInfo k =
      runner.add(functionOf("%x: tensor<6x3x50xf32>, %s: tensor<3x50xf32>, %b: tensor<3x50xf32>",
                            "%r = graph.layer_norm %x scale %s bias %b {axis = 1 : i64, epsilon = 1.0e-5 : f64} : "
                            "(tensor<6x3x50xf32>, tensor<3x50xf32>, tensor<3x50xf32>) -> tensor<6x3x50xf32>"));
  runner.load();
  std::vector<float> x = randomFloats(900, 5), s = randomFloats(150, 6), b = randomFloats(150, 7), y(900);
  std::vector<double> want;
  for (int i = 0; i < 6; ++i) {
    double mean = 0, variance = 0;
    for (int j = 0; j < 150; ++j)
      mean += x[i * 150 + j] / 150.0;
    for (int j = 0; j < 150; ++j)
      variance += (x[i * 150 + j] - mean) * (x[i * 150 + j] - mean) / 150.0;
    for (int j = 0; j < 150; ++j)
      want.push_back((x[i * 150 + j] - mean) / std::sqrt(variance + 1e-5) * s[j] + b[j]);
  }
  for (plim_isa isa : KernelRunner::levels()) {
    runner.run(k, isa, {x.data(), s.data(), b.data(), y.data()});
    expectClose(y, want, 2e-5);
  }
}

TEST(FromGraph, NormsOfImages) {
  GraphRunner runner;
  KernelInfo instance =
      runner.add(functionOf("%x: tensor<2x5x9x11xf32>, %s: tensor<5xf32>, %b: tensor<5xf32>",
                            "%r = graph.instance_norm %x, %s, %b {epsilon = 1.0e-5 : f64} : "
                            "(tensor<2x5x9x11xf32>, tensor<5xf32>, tensor<5xf32>) -> tensor<2x5x9x11xf32>"));
  KernelInfo batch = runner.add(
      functionOf("%x: tensor<2x5x9x11xf32>, %s: tensor<5xf32>, %b: tensor<5xf32>, %m: tensor<5xf32>, %v: tensor<5xf32>",
                 "%r = graph.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64} : (tensor<2x5x9x11xf32>, "
                 "tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) -> tensor<2x5x9x11xf32>"));
  runner.load();
  std::vector<float> x = randomFloats(990, 1), s = randomFloats(5, 2), b = randomFloats(5, 3), m = randomFloats(5, 4),
                     v = randomFloats(5, 5, 0.5, 2), y(990);
  std::vector<double> wantInstance, wantBatch;
  for (int i = 0; i < 10; ++i) {
    double mean = 0, variance = 0;
    for (int j = 0; j < 99; ++j)
      mean += x[i * 99 + j] / 99.0;
    for (int j = 0; j < 99; ++j)
      variance += (x[i * 99 + j] - mean) * (x[i * 99 + j] - mean) / 99.0;
    for (int j = 0; j < 99; ++j) {
      wantInstance.push_back((x[i * 99 + j] - mean) / std::sqrt(variance + 1e-5) * s[i % 5] + b[i % 5]);
      wantBatch.push_back((double(x[i * 99 + j]) - m[i % 5]) / std::sqrt(v[i % 5] + 1e-5) * s[i % 5] + b[i % 5]);
    }
  }
  for (plim_isa isa : KernelRunner::levels()) {
    runner.run(instance, isa, {x.data(), s.data(), b.data(), y.data()});
    expectClose(y, wantInstance, 2e-5);
    runner.run(batch, isa, {x.data(), s.data(), b.data(), m.data(), v.data(), y.data()});
    expectClose(y, wantBatch, 1e-5);
  }
}

TEST(FromGraph, SpatialMeanOfBothLayouts) {
  GraphRunner runner;
  auto text = [](const std::string &type, const std::string &axes, const std::string &result) {
    return functionOf("%x: " + type, "%r = graph.fused(%a = %x : " + type + ") -> (" + result + ") {\n" +
                                         "%0 = graph.reduce mean %a {axes = array<i64: " + axes + ">} : (" + type +
                                         ") -> " + result + "\n%1 = graph.hard_sigmoid %0 : (" + result + ") -> " +
                                         result + "\ngraph.yield %1 : " + result + " }");
  };
  KernelInfo nhwc = runner.add(text("tensor<2x23x31x40xf32>", "1, 2", "tensor<2x1x1x40xf32>"));
  KernelInfo nchw = runner.add(text("tensor<2x40x23x31xf32>", "2, 3", "tensor<2x40x1x1xf32>"));
  runner.load();
  std::vector<float> x = randomFloats(2 * 23 * 31 * 40, 8), y(80);
  for (plim_isa isa : KernelRunner::levels())
    for (bool last : {true, false}) {
      runner.run(last ? nhwc : nchw, isa, {x.data(), y.data()});
      std::vector<double> want;
      for (int n = 0; n < 2; ++n)
        for (int c = 0; c < 40; ++c) {
          double sum = 0;
          for (int p = 0; p < 713; ++p)
            sum += last ? x[(n * 713 + p) * 40 + c] : x[(n * 40 + c) * 713 + p];
          want.push_back(std::min(1.0, std::max(0.0, 0.2 * sum / 713 + 0.5)));
        }
      expectClose(y, want, 1e-5);
    }
}

TEST(FromGraph, AnAttentionMaskOfIntegers) {
  GraphRunner runner;
  KernelInfo k = runner.add(functionOf("%m: tensor<2x19xi64>, %x: tensor<2x4x19x19xf32>", R"(
    %r = graph.fused(%a = %m : tensor<2x19xi64>, %b = %x : tensor<2x4x19x19xf32>) -> (tensor<2x4x19x19xf32>) {
      %one = graph.constant dense<1.0> : tensor<f32>
      %low = graph.constant dense<-1.0e4> : tensor<1x1xf32>
      %0 = graph.cast %a {to = f32} : (tensor<2x19xi64>) -> tensor<2x19xf32>
      %1 = graph.sub %one, %0 : (tensor<f32>, tensor<2x19xf32>) -> tensor<2x19xf32>
      %2 = graph.mul %1, %low : (tensor<2x19xf32>, tensor<1x1xf32>) -> tensor<2x19xf32>
      %3 = graph.reshape %2 {shape = array<i64: 2, 1, 1, 19>} : (tensor<2x19xf32>) -> tensor<2x1x1x19xf32>
      %4 = graph.add %b, %3 : (tensor<2x4x19x19xf32>, tensor<2x1x1x19xf32>) -> tensor<2x4x19x19xf32>
      %5 = graph.softmax %4 {axis = 3 : i64} : (tensor<2x4x19x19xf32>) -> tensor<2x4x19x19xf32>
      graph.yield %5 : tensor<2x4x19x19xf32>
    })"));
  runner.load();
  std::vector<int64_t> mask(38);
  for (int i = 0; i < 38; ++i)
    mask[i] = i % 19 < 5 + i / 19;
  std::vector<float> x = randomFloats(2 * 4 * 361, 9), y(x.size());
  std::vector<double> want;
  for (size_t row = 0; row < x.size() / 19; ++row) {
    auto value = [&](size_t j) { return x[row * 19 + j] + (1.0 - double(mask[row / 76 * 19 + j])) * -1e4; };
    double sum = 0;
    for (int j = 0; j < 19; ++j)
      sum += std::exp(value(j));
    for (int j = 0; j < 19; ++j)
      want.push_back(std::exp(value(j)) / sum);
  }
  for (plim_isa isa : KernelRunner::levels()) {
    runner.run(k, isa, {mask.data(), x.data(), y.data()});
    expectClose(y, want, 1e-6);
  }
}

TEST(FromGraph, HalvesAreComputedInFloatAndRoundedWhereTheyAreCastOrStored) {
  GraphRunner runner;
  KernelInfo rounding = runner.add(functionOf("%x: tensor<3x41xf32>", R"(
    %r = graph.fused(%a = %x : tensor<3x41xf32>) -> (tensor<3x41xf32>) {
      %0 = graph.cast %a {to = f16} : (tensor<3x41xf32>) -> tensor<3x41xf16>
      %1 = graph.cast %0 {to = bf16} : (tensor<3x41xf16>) -> tensor<3x41xbf16>
      %2 = graph.cast %1 {to = f32} : (tensor<3x41xbf16>) -> tensor<3x41xf32>
      graph.yield %2 : tensor<3x41xf32>
    })"));
  KernelInfo sum =
      runner.add(functionOf("%x: tensor<3x41xf16>, %y: tensor<3x41xf16>",
                            "%r = graph.add %x, %y : (tensor<3x41xf16>, tensor<3x41xf16>) -> tensor<3x41xf16>"));
  KernelInfo bytes = runner.add(
      functionOf("%x: tensor<3x41xui8>", "%r = graph.cast %x {to = f32} : (tensor<3x41xui8>) -> tensor<3x41xf32>"));
  runner.load();
  std::vector<float> x = randomFloats(123, 1), y(123);
  std::vector<_Float16> a(x.begin(), x.end()), b(x.rbegin(), x.rend()), c(123);
  std::vector<uint8_t> u(123);
  for (int i = 0; i < 123; ++i)
    u[i] = uint8_t(i * 2 + 5);
  for (plim_isa isa : KernelRunner::levels()) {
    runner.run(rounding, isa, {x.data(), y.data()});
    for (int i = 0; i < 123; ++i) {
      float half = float(_Float16(x[i]));
      ASSERT_EQ(y[i], std::bit_cast<float>(uint32_t(toBf16(half)) << 16));
    }
    runner.run(sum, isa, {a.data(), b.data(), c.data()});
    for (int i = 0; i < 123; ++i)
      ASSERT_EQ(float(c[i]), float(_Float16(float(a[i]) + float(b[i]))));
    runner.run(bytes, isa, {u.data(), y.data()});
    for (int i = 0; i < 123; ++i)
      ASSERT_EQ(y[i], float(u[i]));
  }
}

TEST(FromGraph, OneValueEverywhere) {
  GraphRunner runner;
  KernelInfo floats = runner.add(functionOf("", "%r = graph.fill 2.5 : tensor<3x1x70xf32>"));
  KernelInfo turned = runner.add(functionOf("%x: tensor<4xf32>", R"(
    %r = graph.fused(%a = %x : tensor<4xf32>) -> (tensor<5x4xf32>) {
      %0 = graph.fill 7.0 : tensor<5x4xf32>
      graph.yield %0 : tensor<5x4xf32>
    })"));
  runner.load();
  for (plim_isa isa : KernelRunner::levels()) {
    std::vector<float> y(210), x(4), z(20);
    runner.run(floats, isa, {y.data()});
    EXPECT_EQ(y, std::vector<float>(210, 2.5f));
    runner.run(turned, isa, {x.data(), z.data()});
    EXPECT_EQ(z, std::vector<float>(20, 7.0f));
  }
}

TEST(FromGraph, MovesOfElements) {
  GraphRunner runner;
  KernelInfo transpose = runner.add(functionOf(
      "%x: tensor<2x19x37xf32>",
      "%r = graph.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<2x19x37xf32>) -> tensor<2x37x19xf32>"));
  KernelInfo concat =
      runner.add(functionOf("%x: tensor<4x3x5xi64>, %y: tensor<4x2x5xi64>",
                            "%r = graph.concat %x, %y {axis = 1 : i64} : (tensor<4x3x5xi64>, tensor<4x2x5xi64>) -> "
                            "tensor<4x5x5xi64>"));
  KernelInfo slice = runner.add(functionOf(
      "%x: tensor<9x40xf32>", "%r = graph.slice %x {starts = array<i64: 7, 2>, sizes = array<i64: 3, 19>, steps = "
                              "array<i64: -3, 2>} : (tensor<9x40xf32>) -> tensor<3x19xf32>"));
  KernelInfo pad = runner.add(functionOf(
      "%x: tensor<3x4xf32>", "%r = graph.pad %x {low = array<i64: 1, 0>, high = array<i64: 2, 3>, value = 2.5 : f64} "
                             ": (tensor<3x4xf32>) -> tensor<6x7xf32>"));
  runner.load();
  std::vector<float> x = randomFloats(2 * 19 * 37, 1);
  std::vector<int64_t> i64(60), j64(40);
  for (int i = 0; i < 60; ++i)
    i64[i] = int64_t(i) << 40;
  for (int i = 0; i < 40; ++i)
    j64[i] = -i;
  for (plim_isa isa : KernelRunner::levels()) {
    std::vector<float> y(x.size());
    runner.run(transpose, isa, {x.data(), y.data()});
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(y[i], x[i / 703 * 703 + i % 19 * 37 + i / 19 % 37]);
    std::vector<int64_t> z(100);
    runner.run(concat, isa, {i64.data(), j64.data(), z.data()});
    for (int i = 0; i < 100; ++i)
      ASSERT_EQ(z[i], i % 25 < 15 ? i64[i / 25 * 15 + i % 25] : j64[i / 25 * 10 + i % 25 - 15]);
    y.assign(57, 0);
    runner.run(slice, isa, {x.data(), y.data()});
    for (int i = 0; i < 57; ++i)
      ASSERT_EQ(y[i], x[(7 - i / 19 * 3) * 40 + 2 + i % 19 * 2]);
    y.assign(42, 0);
    runner.run(pad, isa, {x.data(), y.data()});
    for (int i = 0; i < 42; ++i) {
      bool inside = i / 7 >= 1 && i / 7 < 4 && i % 7 < 4;
      ASSERT_EQ(y[i], inside ? x[(i / 7 - 1) * 4 + i % 7] : 2.5f) << i;
    }
  }
}

TEST(FromGraph, ReadsATensorThatIsSeveralOperandsFromTheFirst) {
  GraphRunner runner;
  KernelInfo k = runner.add(functionOf("%x: tensor<7x33xf32>", R"(
    %r:2 = graph.fused(%a = %x : tensor<7x33xf32>, %b = %x : tensor<7x33xf32>)
        -> (tensor<7x33xf32>, tensor<7x33xf32>) {
      %0 = graph.neg %a : (tensor<7x33xf32>) -> tensor<7x33xf32>
      %1 = graph.reduce max %a {axes = array<i64: 1>} : (tensor<7x33xf32>) -> tensor<7x1xf32>
      %2 = graph.sub %b, %1 : (tensor<7x33xf32>, tensor<7x1xf32>) -> tensor<7x33xf32>
      graph.yield %0, %2 : tensor<7x33xf32>, tensor<7x33xf32>
    })"));
  // The first result is written before %x is read for the last time, the second one after.
  EXPECT_EQ(k.inPlace, (llvm::SmallVector<std::pair<unsigned, unsigned>>{{0, 3}}));
  runner.load();
  std::vector<float> x = randomFloats(231, 1), y(231), z = x;
  for (plim_isa isa : KernelRunner::levels()) {
    runner.run(k, isa, {x.data(), nullptr, y.data(), z.data()});
    for (int i = 0; i < 231; ++i) {
      ASSERT_EQ(y[i], -x[i]);
      ASSERT_EQ(z[i], x[i] - *std::max_element(x.begin() + i / 33 * 33, x.begin() + i / 33 * 33 + 33));
    }
  }
}

TEST(FromGraph, RefusesWhatIsNoLoopNest) {
  GraphRunner runner;
  EXPECT_EQ(runner.refusal(functionOf("%x: tensor<4x4xf32>", R"(
    %r = graph.fused(%a = %x : tensor<4x4xf32>) -> (tensor<4x4xf32>) {
      %0 = graph.reduce sum %a {axes = array<i64: 1>, keep_dims = false} : (tensor<4x4xf32>) -> tensor<4xf32>
      %1 = graph.add %a, %0 : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
      graph.yield %1 : tensor<4x4xf32>
    })")),
            "two dimensions of one tensor would be one loop");
  EXPECT_EQ(runner.refusal(functionOf("%x: tensor<4x5x6xf32>", R"(
    %r = graph.fused(%a = %x : tensor<4x5x6xf32>) -> (tensor<4x5x6xf32>) {
      %0 = graph.reduce sum %a {axes = array<i64: 2>} : (tensor<4x5x6xf32>) -> tensor<4x5x1xf32>
      %1 = graph.sub %a, %0 : (tensor<4x5x6xf32>, tensor<4x5x1xf32>) -> tensor<4x5x6xf32>
      %2 = graph.reduce max %1 {axes = array<i64: 1, 2>} : (tensor<4x5x6xf32>) -> tensor<4x1x1xf32>
      %3 = graph.sub %1, %2 : (tensor<4x5x6xf32>, tensor<4x1x1xf32>) -> tensor<4x5x6xf32>
      graph.yield %3 : tensor<4x5x6xf32>
    })")),
            "reductions of a fused region are over different dimensions");
  EXPECT_EQ(
      runner.refusal(functionOf("%x: tensor<4x?xf32>", "%r = graph.relu %x : (tensor<4x?xf32>) -> tensor<4x?xf32>")),
      "a generated kernel with open sizes needs rows of fixed sizes");
  EXPECT_EQ(runner.refusal(functionOf("%x: tensor<4x5xi64>", "%r = graph.reduce sum %x {axes = array<i64: 1>} : "
                                                             "(tensor<4x5xi64>) -> tensor<4x1xi64>")),
            "a generated kernel reduces floats of at most 32 bits");
  EXPECT_EQ(runner.refusal(functionOf("%x: tensor<4x5xf32>", "%r = graph.cumsum %x {axis = 1 : i64} : "
                                                             "(tensor<4x5xf32>) -> tensor<4x5xf32>")),
            "'graph.cumsum' is no loop over the dimensions of its operands");
}
