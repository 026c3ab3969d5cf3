//===- fast_conv_test.cpp - nhwc convolutions against double precision ---------------------===//

#include "fast_launch.h"

#include "kernels/conv/conv.h"

using namespace plim::test;

namespace {

struct Case {
  int64_t images, h, w, in, out;
  int64_t kernelH = 1, kernelW = 1, strideH = 1, strideW = 1, dilationH = 1, dilationW = 1;
  int64_t padH = 0, padW = 0, padEndH = 0, padEndW = 0;
  int64_t flags = PLIM_EPILOGUE_BIAS, activation = PLIM_ACT_RELU, gap = 0;
};

std::vector<int64_t> attrsOf(const Case &c, int64_t filter, int64_t groups) {
  return {PLIM_CONV_NHWC,
          filter,
          c.flags,
          c.activation,
          plim_attr_from_double(0.2),
          plim_attr_from_double(0.6),
          groups,
          c.kernelH,
          c.kernelW,
          0,
          c.strideH,
          c.strideW,
          0,
          c.dilationH,
          c.dilationW,
          0,
          c.padH,
          c.padW,
          0};
}

int64_t outputs(int64_t in, int64_t padding, int64_t kernel, int64_t stride, int64_t dilation) {
  return (in + padding - (kernel - 1) * dilation - 1) / stride + 1;
}

/// X [n, h, w, c] with unused floats after each pixel, so that no two dims are contiguous.
Tensor image(int64_t n, int64_t h, int64_t w, int64_t c, int64_t gap) { return Tensor({n, h, w, c}, gap); }

void check(const char *kernel, const Case &c, unsigned seed) {
  SCOPED_TRACE(std::string(kernel) + ": " + std::to_string(c.h) + "x" + std::to_string(c.w) + "x" +
               std::to_string(c.in) + " -> " + std::to_string(c.out) + ", kernel " + std::to_string(c.kernelH) + "x" +
               std::to_string(c.kernelW) + ", seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const bool depthwise = std::string(kernel) == "conv.nhwc_depthwise";
  int64_t outH = outputs(c.h, c.padH + c.padEndH, c.kernelH, c.strideH, c.dilationH);
  int64_t outW = outputs(c.w, c.padW + c.padEndW, c.kernelW, c.strideW, c.dilationW);
  Tensor x = image(c.images, c.h, c.w, c.in, c.gap), y = image(c.images, outH, outW, c.out, c.gap * 2);
  Tensor bias({c.out}), residual = image(c.images, outH, outW, c.out, c.gap);
  Panels panels(depthwise ? 1 : c.kernelH * c.kernelW * c.in, c.out, random);
  Tensor filter({c.kernelH, c.kernelW, c.out});
  x.fill(random);
  bias.fill(random);
  residual.fill(random);
  filter.fill(random);
  std::vector<Tensor> operands = {x, depthwise ? filter : panels.tensor};
  if (c.flags & PLIM_EPILOGUE_BIAS)
    operands.push_back(bias);
  if (c.flags & PLIM_EPILOGUE_RESIDUAL)
    operands.push_back(residual);
  operands.push_back(y);
  Launch launch(kernel, operands,
                attrsOf(c, depthwise ? PLIM_CONV_FILTER_DEPTHWISE : PLIM_CONV_FILTER_TAPS, depthwise ? c.in : 1));
  launch.runAll();

  std::vector<bool> written(y.memory->bytes() / sizeof(float));
  int64_t step = std::max<int64_t>(1, y.elements() / 1500);
  for (int64_t element = 0; element < y.elements(); ++element) {
    std::vector<int64_t> at = y.indexOf(element);
    written[y.offset(at)] = true;
    if (element % step)
      continue;
    double sum = 0, magnitude = 1;
    for (int64_t ky = 0; ky < c.kernelH; ++ky)
      for (int64_t kx = 0; kx < c.kernelW; ++kx) {
        int64_t iy = at[1] * c.strideH + ky * c.dilationH - c.padH, ix = at[2] * c.strideW + kx * c.dilationW - c.padW;
        if (iy < 0 || ix < 0 || iy >= c.h || ix >= c.w)
          continue;
        for (int64_t i = 0; i < (depthwise ? 1 : c.in); ++i) {
          double value = x({at[0], iy, ix, depthwise ? at[3] : i});
          double term =
              value * (depthwise ? filter({ky, kx, at[3]}) : panels.value((ky * c.kernelW + kx) * c.in + i, at[3]));
          sum += term;
          magnitude += std::abs(term);
        }
      }
    if (c.flags & PLIM_EPILOGUE_BIAS)
      sum += bias({at[3]});
    if (c.flags & PLIM_EPILOGUE_RESIDUAL)
      sum += residual(at);
    expectNear(y(at), activate(sum, c.activation, 0.2, 0.6), magnitude, "element " + std::to_string(element));
    if (testing::Test::HasFailure())
      return;
  }
  for (size_t i = 0; i < written.size(); ++i)
    if (!written[i]) {
      unsigned char pattern[4] = {0xa5, 0xa5, 0xa5, 0xa5};
      ASSERT_EQ(std::memcmp(y.data() + i, pattern, 4), 0) << "write between the pixels of Y";
    }
}

/// Of kernel x kernel taps, padded by half of them; flags, activation and gap by the number.
Case padded(Case c, int64_t kernel, int64_t stride, unsigned number) {
  c.kernelH = c.kernelW = kernel;
  c.strideH = c.strideW = stride;
  c.padH = c.padW = c.padEndH = c.padEndW = kernel / 2;
  c.flags = number % 4;
  c.activation = number % PLIM_ACT_COUNT;
  c.gap = number % 3;
  return c;
}

TEST(ConvPointwise, PixelsWithAndWithoutStrideAreRight) {
  unsigned seed = 0;
  for (int64_t gap : {0, 3})
    for (int64_t stride : {1, 2, 3}) {
      Case c{2, 9, 13, 24, 40};
      c.strideH = stride;
      c.strideW = stride == 3 ? 1 : stride;
      c.gap = gap;
      c.flags = seed % 4;
      c.activation = seed % PLIM_ACT_COUNT;
      check("conv.nhwc_pointwise", c, seed++);
    }
  check("conv.nhwc_pointwise", {1, 7, 7, 1100, 70}, 77);
}

TEST(ConvWinograd, ShapesAndPaddingsAreRight) {
  unsigned seed = 0;
  for (int64_t channels : {1, 3, 16, 33, 64, 130})
    for (int64_t padding : {0, 1, 2}) {
      Case c{2, 9 + padding, 14 - padding, channels, 20 + 7 * channels % 61};
      c.kernelH = c.kernelW = 3;
      c.padH = padding, c.padW = (padding + 1) % 3, c.padEndH = 1, c.padEndW = padding;
      c.flags = seed % 4;
      c.activation = seed % PLIM_ACT_COUNT;
      c.gap = seed % 3;
      check("conv.nhwc_winograd", c, seed++);
    }
  Case large{1, 33, 61, 96, 70};
  large.kernelH = large.kernelW = 3;
  large.padH = large.padW = large.padEndH = large.padEndW = 1;
  check("conv.nhwc_winograd", large, 5);
  Case deep{3, 7, 7, 512, 64};
  deep.kernelH = deep.kernelW = 3;
  deep.padH = deep.padW = deep.padEndH = deep.padEndW = 1;
  check("conv.nhwc_winograd", deep, 6);
}

/// Largest error of a 3x3 convolution over the sum of the magnitudes of its terms.
double largestError(const char *kernel, int64_t side, int64_t in, int64_t out) {
  std::mt19937 random(11);
  Tensor x({1, side, side, in}), y({1, side - 2, side - 2, out});
  Panels panels(9 * in, out, random);
  x.fill(random);
  Case c{1, side, side, in, out};
  c.kernelH = c.kernelW = 3, c.flags = 0, c.activation = PLIM_ACT_NONE;
  Launch launch(kernel, {x, panels.tensor, y}, attrsOf(c, PLIM_CONV_FILTER_TAPS, 1));
  launch.runAll();
  double largest = 0;
  for (int64_t element = 0; element < y.elements(); ++element) {
    std::vector<int64_t> at = y.indexOf(element);
    double sum = 0, magnitude = 0;
    for (int64_t tap = 0; tap < 9; ++tap)
      for (int64_t i = 0; i < in; ++i) {
        double term = double(x({0, at[1] + tap / 3, at[2] + tap % 3, i})) * panels.value(tap * in + i, at[3]);
        sum += term, magnitude += std::abs(term);
      }
    largest = std::max(largest, std::abs(y(at) - sum) / magnitude);
  }
  return largest;
}

TEST(ConvWinograd, ItsErrorIsKnown) {
  for (int64_t channels : {32, 256}) {
    double winograd = largestError("conv.nhwc_winograd", 14, channels, 32);
    double direct = largestError("conv.nhwc_direct", 14, channels, 32);
    EXPECT_LE(winograd, 2e-6) << channels << " channels";
    EXPECT_LE(winograd, 20 * direct) << channels << " channels, direct: " << direct;
  }
}

TEST(ConvWinograd, EmptyImagesAndChannelsAreRight) {
  for (Case c : {Case{0, 8, 8, 4, 4}, Case{1, 2, 9, 4, 4}, Case{2, 5, 5, 0, 33}, Case{2, 5, 5, 7, 0}}) {
    c.kernelH = c.kernelW = 3;
    check("conv.nhwc_winograd", c, 9);
  }
}

TEST(ConvDirect, UsualShapesAreRight) {
  unsigned seed = 0;
  for (int64_t kernel : {1, 2, 3, 5, 7})
    for (int64_t stride : {1, 2})
      for (int64_t channels : {3, 16, 33}) {
        check("conv.nhwc_direct", padded({2, 17, 15, channels, 20 + 7 * kernel}, kernel, stride, seed), seed);
        ++seed;
      }
}

TEST(ConvDirect, SumsThatRestAndPixelsThatConflictAreRight) {
  for (int64_t channels : {128, 512, 1024, 1040}) {
    Case c{1, 9, 30, channels, 200};
    c.kernelH = c.kernelW = 3;
    c.padH = c.padW = c.padEndH = c.padEndW = 1;
    c.flags = PLIM_EPILOGUE_BIAS | PLIM_EPILOGUE_RESIDUAL;
    check("conv.nhwc_direct", c, channels);
    c.strideH = c.strideW = 2;
    check("conv.nhwc_direct", c, channels + 1);
  }
}

TEST(ConvDirect, WideImagesAreCutInColumns) {
  Case c{1, 6, 700, 40, 24};
  c.kernelH = c.kernelW = 3;
  c.padH = c.padW = c.padEndH = c.padEndW = 1;
  check("conv.nhwc_direct", c, 1);
  c.in = 300;
  c.w = 100;
  check("conv.nhwc_direct", c, 2);
}

TEST(ConvDirect, RandomShapesAreRight) {
  std::mt19937 random(42);
  auto pick = [&](int64_t low, int64_t high) { return low + int64_t(random() % (high - low + 1)); };
  for (int i = 0; i < 80; ++i) {
    Case c{pick(1, 2), pick(1, 24), pick(1, 40), pick(1, 50), pick(1, 70)};
    c.kernelH = pick(1, 5), c.kernelW = pick(1, 5);
    c.strideH = pick(1, 3), c.strideW = pick(1, 3);
    c.dilationH = pick(1, 2), c.dilationW = pick(1, 3);
    // Padding may exceed the kernel: whole windows then lie outside.
    c.padH = pick(0, 6), c.padW = pick(0, 6);
    c.padEndH = std::max<int64_t>(0, (c.kernelH - 1) * c.dilationH + 1 - c.h - c.padH) + pick(0, 3);
    c.padEndW = std::max<int64_t>(0, (c.kernelW - 1) * c.dilationW + 1 - c.w - c.padW) + pick(0, 3);
    c.flags = pick(0, 3);
    c.activation = pick(0, PLIM_ACT_COUNT - 1);
    c.gap = pick(0, 2);
    check("conv.nhwc_direct", c, 1000 + i);
    c.out = c.in;
    check("conv.nhwc_depthwise", c, 2000 + i);
  }
}

TEST(ConvDepthwise, TunedKernelsAreRight) {
  unsigned seed = 0;
  for (int64_t kernel : {3, 5})
    for (int64_t stride : {1, 2})
      for (int64_t width : {1, 2, 4, 7, 16, 31})
        for (int64_t channels : {1, 8, 16, 70, 130}) {
          check("conv.nhwc_depthwise", padded({1, 6, width, channels, channels}, kernel, stride, seed), seed);
          ++seed;
        }
}

TEST(Conv, EmptyImagesAreHandled) {
  for (const char *kernel : {"conv.nhwc_pointwise", "conv.nhwc_direct", "conv.nhwc_depthwise"}) {
    check(kernel, {0, 4, 4, 8, 8}, 1);
    check(kernel, {1, 0, 4, 8, 8}, 2);
    check(kernel, {1, 4, 0, 8, 8}, 3);
    check(kernel, {1, 4, 4, 0, 0}, 4);
  }
}

} // namespace
