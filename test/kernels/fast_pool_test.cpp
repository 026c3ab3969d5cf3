//===- fast_pool_test.cpp - nhwc pooling and transposed convolution --------------------------===//

#include "fast_launch.h"

#include "kernels/conv/conv.h"
#include "kernels/pool/pool.h"

using namespace plim::test;

namespace {

struct Window {
  int64_t kernel, stride, dilation, pad, padEnd;
  int64_t outputs(int64_t size) const { return (size + pad + padEnd - (kernel - 1) * dilation - 1) / stride + 1; }
};

void checkPool(plim_pool_kind kind, int64_t h, int64_t w, int64_t c, Window wy, Window wx, bool countPad, int64_t extra,
               unsigned seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  // `extra` outputs stick out at the end, as in ceil mode.
  Tensor x({2, h, w, c}, seed % 2), y({2, wy.outputs(h) + extra, wx.outputs(w) + extra, c}, seed % 3);
  x.fill(random);
  Launch launch(kind == PLIM_POOL_MAX ? "pool.nhwc_max" : "pool.nhwc_average", {x, y},
                {PLIM_CONV_NHWC, kind, countPad, wy.kernel, wx.kernel, 0, wy.stride, wx.stride, 0, wy.dilation,
                 wx.dilation, 0, wy.pad, wx.pad, 0, wy.padEnd, wx.padEnd, 0});
  launch.runAll();
  for (int64_t element = 0; element < y.elements(); ++element) {
    std::vector<int64_t> at = y.indexOf(element);
    double largest = -INFINITY, sum = 0;
    int64_t count = 0;
    for (int64_t ky = 0; ky < wy.kernel; ++ky)
      for (int64_t kx = 0; kx < wx.kernel; ++kx) {
        int64_t iy = at[1] * wy.stride + ky * wy.dilation - wy.pad, ix = at[2] * wx.stride + kx * wx.dilation - wx.pad;
        bool inside = iy >= 0 && ix >= 0 && iy < h && ix < w;
        count += countPad ? iy < h + wy.padEnd && ix < w + wx.padEnd : inside;
        if (!inside)
          continue;
        largest = std::max<double>(largest, x({at[0], iy, ix, at[3]}));
        sum += x({at[0], iy, ix, at[3]});
      }
    double want = kind == PLIM_POOL_MAX ? largest : count ? sum / count : 0;
    if (std::isinf(want))
      ASSERT_EQ(y(at), float(want));
    else
      expectNear(y(at), want, 1, "element " + std::to_string(element));
    if (testing::Test::HasFailure())
      return;
  }
}

TEST(Pool, WindowsAreRight) {
  std::mt19937 random(11);
  auto pick = [&](int64_t low, int64_t high) { return low + int64_t(random() % (high - low + 1)); };
  for (int i = 0; i < 80; ++i) {
    auto window = [&](int64_t size) {
      Window w{pick(1, 4), pick(1, 3), pick(1, 2), pick(0, 2), 0};
      w.padEnd = std::max<int64_t>(0, (w.kernel - 1) * w.dilation + 1 - size - w.pad) + pick(0, 2);
      return w;
    };
    int64_t h = pick(1, 12), width = pick(1, 12);
    checkPool(i % 2 ? PLIM_POOL_MAX : PLIM_POOL_AVERAGE, h, width, pick(1, 150), window(h), window(width), pick(0, 1),
              pick(0, 1), i);
  }
}

TEST(Pool, NanStaysInAMaximum) {
  for (int64_t place = 0; place < 4; ++place) {
    Tensor x({1, 2, 2, 20}), y({1, 1, 1, 20});
    std::mt19937 random(1);
    x.fill(random);
    x({0, place / 2, place % 2, 17}) = NAN;
    Launch("pool.nhwc_max", {x, y}, {PLIM_CONV_NHWC, PLIM_POOL_MAX, 0, 2, 2, 0, 2, 2, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0})
        .runAll();
    EXPECT_TRUE(std::isnan(y({0, 0, 0, 17}))) << "place " << place;
    EXPECT_FALSE(std::isnan(y({0, 0, 0, 16})));
  }
}

void checkTransposed(int64_t h, int64_t w, int64_t in, int64_t out, int64_t kh, int64_t kw, int64_t gap,
                     unsigned seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  Tensor x({2, h, w, in}, gap), y({2, h * kh, w * kw, out}, gap * 2), bias({out}), residual({2, h * kh, w * kw, out});
  Panels filter(in, kh * kw * out, random);
  x.fill(random);
  bias.fill(random);
  residual.fill(random);
  int64_t flags = seed % 4, activation = seed % PLIM_ACT_COUNT;
  std::vector<Tensor> operands = {x, filter.tensor};
  if (flags & PLIM_EPILOGUE_BIAS)
    operands.push_back(bias);
  if (flags & PLIM_EPILOGUE_RESIDUAL)
    operands.push_back(residual);
  operands.push_back(y);
  Launch launch("conv_transpose.nhwc", operands,
                {PLIM_CONV_NHWC, PLIM_CONV_FILTER_COLUMNS, flags, activation, plim_attr_from_double(0.25),
                 plim_attr_from_double(0.5), 1, kh, kw, 0, kh, kw, 0, 1, 1, 0, 0, 0, 0});
  launch.runAll();
  for (int64_t element = 0; element < y.elements(); ++element) {
    std::vector<int64_t> at = y.indexOf(element);
    double sum = 0, magnitude = 1;
    for (int64_t i = 0; i < in; ++i) {
      double term =
          double(x({at[0], at[1] / kh, at[2] / kw, i})) * filter.value(i, (at[1] % kh * kw + at[2] % kw) * out + at[3]);
      sum += term;
      magnitude += std::abs(term);
    }
    if (flags & PLIM_EPILOGUE_BIAS)
      sum += bias({at[3]});
    if (flags & PLIM_EPILOGUE_RESIDUAL)
      sum += residual(at);
    expectNear(y(at), activate(sum, activation, 0.25, 0.5), magnitude, "element " + std::to_string(element));
    if (testing::Test::HasFailure())
      return;
  }
}

TEST(ConvTranspose, WindowsThatDoNotOverlapAreRight) {
  unsigned seed = 0;
  for (int64_t out : {1, 2, 3, 8, 24, 32, 50})
    for (int64_t kernel : {1, 2, 3})
      for (int64_t gap : {0, 2})
        checkTransposed(5, 7, 9 + out, out, kernel, kernel == 3 ? 2 : kernel, gap, seed++);
  checkTransposed(3, 4, 1100, 10, 2, 2, 0, 99);
  // Rows of more pixels than lanes and than a block has, with channels that fill no whole number of vectors.
  for (int64_t out : {1, 2, 4, 8, 24})
    for (int64_t channels : {1, 24, 70})
      checkTransposed(3, 37, channels, out, 2, 2, 0, seed++);
  checkTransposed(2, 500, 8, 16, 1, 3, 0, 100);
  checkTransposed(2, 500, 8, 3, 2, 2, 0, 101);
}

TEST(ConvTranspose, OtherGeometryIsRefused) {
  Tensor x({1, 2, 2, 4}), y({1, 5, 5, 3});
  std::mt19937 random(1);
  Panels filter(4, 27, random);
  x.fill(random);
  const plim_kernel_entry *entry = plim_find_kernel_entry("conv_transpose.nhwc");
  void *buffers[] = {x.data(), filter.tensor.data(), y.data()};
  const plim_shape *shapes[] = {&x.shape, &filter.tensor.shape, &y.shape};
  int64_t attrs[19] = {PLIM_CONV_NHWC, PLIM_CONV_FILTER_COLUMNS, 0, 0, 0, 0, 1, 3, 3, 0, 2, 2, 0, 1, 1, 0, 0, 0, 0};
  plim_launch launch = {};
  launch.attrs = attrs;
  launch.buf = buffers;
  launch.shape = shapes;
  launch.tasks = 1;
  launch.operands = 3;
  launch.attr_words = 19;
  EXPECT_NE(entry->kernel->fn[PLIM_ISA_V3](&launch, nullptr, 0, 1), 0);
}

} // namespace
