//===- pool_test.cpp - pool.reference --------------------------------------------------------===//

#include "kernels/pool/pool.h"
#include "test/kernels/launch.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>

using namespace plim::test;

namespace {

struct Case {
  Dims spatial, out, kernel, stride, dilation, pad, padEnd;
};

const Case cases[] = {
    {{7, 9}, {3, 4}, {2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}},
    {{7, 9}, {4, 5}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {{6, 6}, {3, 3}, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {0, 0}}, // ceil mode: windows stick out
    {{8, 5}, {4, 3}, {2, 3}, {1, 1}, {4, 1}, {0, 0}, {0, 0}},
    {{10}, {5}, {3}, {2}, {1}, {1}, {0}},
    {{3, 4, 5}, {2, 2, 3}, {2, 3, 2}, {1, 2, 2}, {1, 1, 1}, {0, 1, 0}, {0, 1, 1}},
};

void runCase(const Case &c, int64_t layout, int64_t kind, bool countPad, uint8_t dtype, Form form) {
  Random random(5);
  int64_t batch = 2, channels = 35;
  auto dims = [&](const Dims &spatial) {
    Dims d = {batch};
    if (layout == PLIM_CONV_NCHW)
      d.push_back(channels);
    d.insert(d.end(), spatial.begin(), spatial.end());
    if (layout == PLIM_CONV_NHWC)
      d.push_back(channels);
    return d;
  };
  Tensor x(dtype, dims(c.spatial), form, &random), y(dtype, dims(c.out), form, &random);
  x.fill(random, -50, 50);
  std::vector<int64_t> attrs(PLIM_POOL_WORDS, 77);
  attrs[PLIM_POOL_LAYOUT] = layout;
  attrs[PLIM_POOL_KIND] = kind;
  attrs[PLIM_POOL_COUNT_INCLUDE_PAD] = countPad;
  for (size_t d = 0; d < c.spatial.size(); ++d) {
    attrs[PLIM_POOL_KERNEL + d] = c.kernel[d];
    attrs[PLIM_POOL_STRIDE + d] = c.stride[d];
    attrs[PLIM_POOL_DILATION + d] = c.dilation[d];
    attrs[PLIM_POOL_PAD + d] = c.pad[d];
    attrs[PLIM_POOL_PAD_END + d] = c.padEnd[d];
  }
  ASSERT_EQ(runKernel("pool.reference", {&x, &y}, attrs), 0);
  size_t firstSpatial = layout == PLIM_CONV_NHWC ? 1 : 2;
  forEachIndex(y.dims(), [&](const Dims &at) {
    double sum = 0, top = -INFINITY;
    int64_t inside = 0, padded = 0;
    forEachIndex(c.kernel, [&](const Dims &tap) {
      Dims in = at;
      bool isInside = true, isPadded = true;
      for (size_t d = 0; d < tap.size(); ++d) {
        int64_t p = at[firstSpatial + d] * c.stride[d] + tap[d] * c.dilation[d] - c.pad[d];
        isInside &= p >= 0 && p < c.spatial[d];
        isPadded &= p >= -c.pad[d] && p < c.spatial[d] + c.padEnd[d];
        in[firstSpatial + d] = p;
      }
      padded += isPadded;
      if (!isInside)
        return;
      ++inside;
      sum += x.at(in);
      top = std::max(top, x.at(in));
    });
    double e = kind == PLIM_POOL_MAX ? top : sum / double(countPad ? padded : inside);
    ASSERT_NEAR(y.at(at), e, dtype == PLIM_F16 ? 0.05 : 1e-5);
  });
}

} // namespace

TEST(PoolReference, WindowsLayoutsAndDtypes) {
  for (const Case &c : cases)
    for (int64_t layout : {PLIM_CONV_NCHW, PLIM_CONV_NHWC})
      for (Form form : {Form::Row, Form::Negative}) {
        runCase(c, layout, PLIM_POOL_MAX, false, PLIM_F32, form);
        runCase(c, layout, PLIM_POOL_MAX, false, PLIM_I8, form);
        runCase(c, layout, PLIM_POOL_AVERAGE, false, PLIM_F32, form);
        runCase(c, layout, PLIM_POOL_AVERAGE, true, PLIM_F32, form);
        runCase(c, layout, PLIM_POOL_AVERAGE, true, PLIM_F16, form);
      }
}

TEST(PoolReference, MaximumSeesNanAndMinusInfinity) {
  Tensor x(PLIM_F32, {1, 1, 4}), y(PLIM_F32, {1, 1, 2});
  std::vector<double> values = {NAN, 3, -INFINITY, -INFINITY};
  x.fillWith([&](int64_t i) { return values[size_t(i)]; });
  std::vector<int64_t> attrs(PLIM_POOL_WORDS, 0);
  attrs[PLIM_POOL_KERNEL] = attrs[PLIM_POOL_STRIDE] = 2;
  attrs[PLIM_POOL_DILATION] = 1;
  ASSERT_EQ(runKernel("pool.reference", {&x, &y}, attrs), 0);
  EXPECT_TRUE(std::isnan(y.get(0)));
  EXPECT_EQ(y.get(1), -INFINITY);
}
