//===- integer_conv_test.cpp - conv.integer_* against exact integers --------------------------===//

#include "kernels/conv/integer.h"
#include "kernels/status.h"
#include "test/kernels/launch.h"

#include "gtest/gtest.h"

using namespace plim::test;

namespace {

struct Case {
  Dims spatial, kernel, stride, dilation, pad;
  int64_t batch, inputs, outputs, groups;
};

const Case cases[] = {
    {{5, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 2, 3, 4, 1},
    {{9, 8}, {3, 2}, {2, 3}, {2, 1}, {1, 0}, 1, 4, 6, 2},
    {{6, 6}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, 1, 70, 37, 1},
    {{7, 5}, {3, 3}, {1, 2}, {1, 1}, {1, 1}, 2, 35, 35, 35},
    {{11}, {5}, {2}, {2}, {3}, 2, 3, 5, 1},
    {{4, 5, 6}, {2, 3, 2}, {1, 2, 1}, {1, 1, 2}, {1, 1, 0}, 1, 2, 3, 1},
    {{6, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 96, 70, 1},
    {{9}, {3}, {1}, {1}, {1}, 1, 70, 70, 70},
};

int64_t outputSize(const Case &c, size_t d) {
  return (c.spatial[d] + 2 * c.pad[d] - (c.kernel[d] - 1) * c.dilation[d] - 1) / c.stride[d] + 1;
}

Dims imageDims(bool nhwc, int64_t batch, int64_t channels, const Dims &spatial) {
  Dims dims = {batch};
  if (!nhwc)
    dims.push_back(channels);
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  if (nhwc)
    dims.push_back(channels);
  return dims;
}

void fillBytes(Tensor &t, Random &random) {
  int64_t least = t.shape().dtype == PLIM_I8 ? -128 : 0;
  for (int64_t i = 0; i < t.elements(); ++i)
    t.setInt(i, int64_t(random() % 256) + least);
}

/// A convolution in any layout and its exact result, from a direct filter [O, I / groups, kernel...].
struct Convolution {
  const Case &c;
  bool nhwc;
  int64_t filter, flags;
  Dims outputs;
  Tensor x, w, y, direct, xZero, wZero;

  Convolution(const Case &c, bool nhwc, int64_t filter, bool packed, uint8_t xType, uint8_t wType, int64_t flags,
              Random &random, Form form)
      : c(c), nhwc(nhwc), filter(filter), flags(flags), outputs(sizes(c)),
        x(xType, imageDims(nhwc, c.batch, c.inputs, c.spatial), form, &random), w(PLIM_I8, {1}),
        y(PLIM_I32, imageDims(nhwc, c.batch, c.outputs, outputs), form, &random), direct(wType, directDims(c)),
        xZero(xType, {}), wZero(wType, {c.outputs}) {
    for (Tensor *t : {&x, &direct, &xZero, &wZero})
      fillBytes(*t, random);
    int64_t inputs = c.inputs / c.groups, taps = product(c.kernel);
    Dims depthwise = c.kernel;
    depthwise.push_back(c.outputs);
    w = filter == PLIM_CONV_FILTER_DIRECT      ? Tensor(wType, directDims(c), form, &random)
        : filter == PLIM_CONV_FILTER_DEPTHWISE ? Tensor(wType, depthwise, packed ? Form::Row : form, &random)
        : packed                               ? Tensor::panel32(wType, taps * inputs, c.outputs)
                                               : Tensor(wType, {taps * inputs, c.outputs}, form, &random);
    for (int64_t o = 0; o < c.outputs; ++o)
      for (int64_t i = 0; i < inputs; ++i)
        for (int64_t tap = 0; tap < taps; ++tap) {
          int64_t from = (o * inputs + i) * taps + tap;
          int64_t to = filter == PLIM_CONV_FILTER_DIRECT ? from : (tap * inputs + i) * c.outputs + o;
          w.setInt(to, direct.getInt(from));
        }
  }

  static Dims sizes(const Case &c) {
    Dims result;
    for (size_t d = 0; d < c.spatial.size(); ++d)
      result.push_back(outputSize(c, d));
    return result;
  }
  static Dims directDims(const Case &c) {
    Dims dims = {c.outputs, c.inputs / c.groups};
    dims.insert(dims.end(), c.kernel.begin(), c.kernel.end());
    return dims;
  }

  int32_t run(const char *kernel, plim_isa isa) {
    std::vector<int64_t> attrs(PLIM_CONV_WORDS, 77); // words of absent spatial dims must not matter
    attrs[PLIM_CONV_LAYOUT] = nhwc ? PLIM_CONV_NHWC : PLIM_CONV_NCHW;
    attrs[PLIM_CONV_FILTER] = filter;
    attrs[PLIM_CONV_FLAGS] = flags;
    attrs[PLIM_CONV_GROUPS] = c.groups;
    for (size_t d = 0; d < c.spatial.size(); ++d) {
      attrs[PLIM_CONV_KERNEL + d] = c.kernel[d];
      attrs[PLIM_CONV_STRIDE + d] = c.stride[d];
      attrs[PLIM_CONV_DILATION + d] = c.dilation[d];
      attrs[PLIM_CONV_PAD + d] = c.pad[d];
    }
    std::vector<Tensor *> operands = {&x, &w};
    if (flags & PLIM_INTEGER_X_ZERO)
      operands.push_back(&xZero);
    if (flags & PLIM_INTEGER_W_ZERO)
      operands.push_back(&wZero);
    operands.push_back(&y);
    return runKernel(kernel, operands, attrs, 1, isa);
  }

  int64_t expected(int64_t n, int64_t o, const Dims &at) const {
    int64_t inputs = c.inputs / c.groups, group = o / (c.outputs / c.groups), sum = 0;
    int64_t less = flags & PLIM_INTEGER_X_ZERO ? xZero.getInt(0) : 0;
    int64_t weightLess = flags & PLIM_INTEGER_W_ZERO ? wZero.getInt(o) : 0;
    forEachIndex(c.kernel, [&](const Dims &tap) {
      Dims pixel;
      for (size_t d = 0; d < tap.size(); ++d) {
        pixel.push_back(at[d] * c.stride[d] + tap[d] * c.dilation[d] - c.pad[d]);
        if (pixel[d] < 0 || pixel[d] >= c.spatial[d])
          return;
      }
      for (int64_t i = 0; i < inputs; ++i) {
        Dims xIndex = {n};
        if (!nhwc)
          xIndex.push_back(group * inputs + i);
        xIndex.insert(xIndex.end(), pixel.begin(), pixel.end());
        if (nhwc)
          xIndex.push_back(group * inputs + i);
        Dims wIndex = {o, i};
        wIndex.insert(wIndex.end(), tap.begin(), tap.end());
        sum += (x.getInt(x.numberOf(xIndex)) - less) * (direct.getInt(direct.numberOf(wIndex)) - weightLess);
      }
    });
    return sum;
  }

  void expectExact() const {
    forEachIndex(outputs, [&](const Dims &at) {
      for (int64_t n = 0; n < c.batch; ++n)
        for (int64_t o = 0; o < c.outputs; o += o + 1 == c.outputs ? 1 : std::min<int64_t>(5, c.outputs - 1 - o)) {
          Dims index = {n};
          if (!nhwc)
            index.push_back(o);
          index.insert(index.end(), at.begin(), at.end());
          if (nhwc)
            index.push_back(o);
          ASSERT_EQ(y.getInt(y.numberOf(index)), expected(n, o, at)) << "channel " << o;
        }
    });
  }
};

constexpr int64_t bothZeros = PLIM_INTEGER_X_ZERO | PLIM_INTEGER_W_ZERO;

} // namespace

TEST(IntegerConvReference, EveryLayoutFilterAndStrideIsExact) {
  Random random(1);
  for (const Case &c : cases)
    for (Form form : {Form::Row, Form::Negative}) {
      bool isDepthwise = c.groups == c.inputs && c.groups == c.outputs;
      for (int64_t flags : {int64_t(0), bothZeros}) {
        Convolution nchw(c, false, PLIM_CONV_FILTER_DIRECT, false, PLIM_U8, PLIM_I8, flags, random, form);
        ASSERT_EQ(nchw.run("conv.integer_reference", PLIM_ISA_BASE), PLIM_KERNEL_OK);
        ASSERT_NO_FATAL_FAILURE(nchw.expectExact());
        Convolution nhwc(c, true, isDepthwise ? PLIM_CONV_FILTER_DEPTHWISE : PLIM_CONV_FILTER_TAPS, false, PLIM_I8,
                         PLIM_U8, flags, random, form);
        ASSERT_EQ(nhwc.run("conv.integer_reference", PLIM_ISA_BASE), PLIM_KERNEL_OK);
        ASSERT_NO_FATAL_FAILURE(nhwc.expectExact());
      }
    }
}

TEST(IntegerConvNhwc, EveryShapeTypeAndZeroIsExact) {
  for (plim_isa isa : {PLIM_ISA_V3, PLIM_ISA_V4}) {
    if (!cpuHas(isa))
      continue;
    Random random(2);
    for (const Case &c : cases) {
      bool isDepthwise = c.groups == c.inputs && c.groups == c.outputs && c.groups > 1;
      if (c.groups != 1 && !isDepthwise)
        continue;
      const char *kernel = isDepthwise ? "conv.integer_nhwc_depthwise" : "conv.integer_nhwc";
      for (uint8_t xType : {PLIM_U8, PLIM_I8})
        for (uint8_t wType : {PLIM_U8, PLIM_I8})
          for (int64_t flags : {xType == wType ? int64_t(0) : PLIM_INTEGER_X_ZERO, bothZeros}) {
            SCOPED_TRACE(testing::Message() << kernel << " level " << isa << " channels " << c.inputs);
            Convolution conv(c, true, isDepthwise ? PLIM_CONV_FILTER_DEPTHWISE : PLIM_CONV_FILTER_TAPS, true, xType,
                             wType, flags, random, Form::Row);
            ASSERT_EQ(conv.run(kernel, isa), PLIM_KERNEL_OK);
            ASSERT_NO_FATAL_FAILURE(conv.expectExact());
          }
    }
  }
}

TEST(IntegerConv, RefusesWhatDoesNotFit) {
  Random random(3);
  Convolution type(cases[0], true, PLIM_CONV_FILTER_TAPS, true, PLIM_U8, PLIM_I8, bothZeros, random, Form::Row);
  type.xZero = Tensor(PLIM_I8, {});
  EXPECT_EQ(type.run("conv.integer_reference", PLIM_ISA_BASE), PLIM_KERNEL_UNSUPPORTED);
  Convolution channels(cases[0], true, PLIM_CONV_FILTER_TAPS, true, PLIM_U8, PLIM_I8, bothZeros, random, Form::Row);
  channels.wZero = Tensor(PLIM_I8, {3});
  EXPECT_EQ(channels.run("conv.integer_reference", PLIM_ISA_BASE), PLIM_KERNEL_UNSUPPORTED);
  Convolution layout(cases[0], false, PLIM_CONV_FILTER_DIRECT, false, PLIM_U8, PLIM_I8, 0, random, Form::Row);
  if (cpuHas(PLIM_ISA_V3)) {
    EXPECT_EQ(layout.run("conv.integer_nhwc", PLIM_ISA_V3), PLIM_KERNEL_UNSUPPORTED);
  }
}
