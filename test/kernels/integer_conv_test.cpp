//===- integer_conv_test.cpp - conv.integer_* against exact integers --------------------------===//

#include "kernels/conv/integer.h"
#include "kernels/status.h"
#include "test/kernels/conv_cases.h"
#include "test/kernels/launch.h"

#include "gtest/gtest.h"

using namespace plim::test;

namespace {

using Case = ConvCase;

const std::vector<Case> cases = convCasesAnd({
    {{6, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 1, 96, 70, 1},
    {{9}, {3}, {1}, {1}, {1}, 1, 70, 70, 70},
});

void fillBytes(Tensor &t, Random &random) {
  int64_t least = t.shape().dtype == PLIM_I8 ? -128 : 0;
  for (int64_t i = 0; i < t.elements(); ++i)
    t.setInt(i, int64_t(random() % 256) + least);
}

/// A convolution in any layout and its exact result, from a direct filter [O, I / groups, kernel...].
struct Convolution {
  const Case &c;
  int64_t layout, filter, flags;
  Dims outputs;
  Tensor x, w, y, direct, xZero, wZero;

  Convolution(const Case &c, int64_t layout, int64_t filter, bool packed, uint8_t xType, uint8_t wType, int64_t flags,
              Random &random, Form form)
      : c(c), layout(layout), filter(filter), flags(flags), outputs(convOutputs(c)),
        x(xType, imageDims(layout, c.batch, c.inputs, c.spatial), form, &random), w(PLIM_I8, {1}),
        y(PLIM_I32, imageDims(layout, c.batch, c.outputs, outputs), form, &random), direct(wType, directDims(c)),
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

  static Dims directDims(const Case &c) {
    Dims dims = {c.outputs, c.inputs / c.groups};
    dims.insert(dims.end(), c.kernel.begin(), c.kernel.end());
    return dims;
  }

  int32_t run(const char *kernel, plim_isa isa) {
    std::vector<Tensor *> operands = {&x, &w};
    if (flags & PLIM_INTEGER_X_ZERO)
      operands.push_back(&xZero);
    if (flags & PLIM_INTEGER_W_ZERO)
      operands.push_back(&wZero);
    operands.push_back(&y);
    return runKernel(kernel, operands, convAttrs(c, layout, filter, flags), 1, isa);
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
        Dims xIndex = imageDims(layout, n, group * inputs + i, pixel), wIndex = {o, i};
        wIndex.insert(wIndex.end(), tap.begin(), tap.end());
        sum += (x.getInt(x.numberOf(xIndex)) - less) * (direct.getInt(direct.numberOf(wIndex)) - weightLess);
      }
    });
    return sum;
  }

  void expectExact() const {
    forEachIndex(outputs, [&](const Dims &at) {
      for (int64_t n = 0; n < c.batch; ++n)
        for (int64_t o = 0; o < c.outputs; o += o + 1 == c.outputs ? 1 : std::min<int64_t>(5, c.outputs - 1 - o))
          ASSERT_EQ(y.getInt(y.numberOf(imageDims(layout, n, o, at))), expected(n, o, at)) << "channel " << o;
    });
  }
};

constexpr int64_t bothZeros = PLIM_INTEGER_X_ZERO | PLIM_INTEGER_W_ZERO;

} // namespace

TEST(IntegerConvReference, EveryLayoutFilterAndStrideIsExact) {
  Random random(1);
  for (const Case &c : cases)
    for (Form form : {Form::Row, Form::Negative}) {
      bool isDepthwise = c.isDepthwise();
      for (int64_t flags : {int64_t(0), bothZeros}) {
        Convolution nchw(c, PLIM_CONV_NCHW, PLIM_CONV_FILTER_DIRECT, false, PLIM_U8, PLIM_I8, flags, random, form);
        ASSERT_EQ(nchw.run("conv.integer_reference", PLIM_ISA_BASE), PLIM_KERNEL_OK);
        ASSERT_NO_FATAL_FAILURE(nchw.expectExact());
        Convolution nhwc(c, PLIM_CONV_NHWC, isDepthwise ? PLIM_CONV_FILTER_DEPTHWISE : PLIM_CONV_FILTER_TAPS, false,
                         PLIM_I8, PLIM_U8, flags, random, form);
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
      bool isDepthwise = c.isDepthwise() && c.groups > 1;
      if (c.groups != 1 && !isDepthwise)
        continue;
      const char *kernel = isDepthwise ? "conv.integer_nhwc_depthwise" : "conv.integer_nhwc";
      for (uint8_t xType : {PLIM_U8, PLIM_I8})
        for (uint8_t wType : {PLIM_U8, PLIM_I8})
          for (int64_t flags : {xType == wType ? int64_t(0) : PLIM_INTEGER_X_ZERO, bothZeros}) {
            SCOPED_TRACE(testing::Message() << kernel << " level " << isa << " channels " << c.inputs);
            Convolution conv(c, PLIM_CONV_NHWC, isDepthwise ? PLIM_CONV_FILTER_DEPTHWISE : PLIM_CONV_FILTER_TAPS, true,
                             xType, wType, flags, random, Form::Row);
            ASSERT_EQ(conv.run(kernel, isa), PLIM_KERNEL_OK);
            ASSERT_NO_FATAL_FAILURE(conv.expectExact());
          }
    }
  }
}

TEST(IntegerConv, RefusesWhatDoesNotFit) {
  Random random(3);
  Convolution type(cases[0], PLIM_CONV_NHWC, PLIM_CONV_FILTER_TAPS, true, PLIM_U8, PLIM_I8, bothZeros, random,
                   Form::Row);
  type.xZero = Tensor(PLIM_I8, {});
  EXPECT_EQ(type.run("conv.integer_reference", PLIM_ISA_BASE), PLIM_KERNEL_UNSUPPORTED);
  Convolution channels(cases[0], PLIM_CONV_NHWC, PLIM_CONV_FILTER_TAPS, true, PLIM_U8, PLIM_I8, bothZeros, random,
                       Form::Row);
  channels.wZero = Tensor(PLIM_I8, {3});
  EXPECT_EQ(channels.run("conv.integer_reference", PLIM_ISA_BASE), PLIM_KERNEL_UNSUPPORTED);
  Convolution layout(cases[0], PLIM_CONV_NCHW, PLIM_CONV_FILTER_DIRECT, false, PLIM_U8, PLIM_I8, 0, random, Form::Row);
  if (cpuHas(PLIM_ISA_V3)) {
    EXPECT_EQ(layout.run("conv.integer_nhwc", PLIM_ISA_V3), PLIM_KERNEL_UNSUPPORTED);
  }
}
