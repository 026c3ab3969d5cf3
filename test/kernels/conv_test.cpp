//===- conv_test.cpp - conv.reference and conv_transpose.reference ---------------------------===//

#include "kernels/status.h"
#include "test/kernels/conv_cases.h"
#include "test/kernels/epilogue_expectation.h"
#include "test/kernels/launch.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace plim::test;

namespace {

using Case = ConvCase;

const std::vector<Case> cases = convCasesAnd({
    {{4, 4}, {2, 2}, {2, 2}, {1, 1}, {0, 0}, 1, 5, 33, 1},
    {{3, 3}, {3, 3}, {1, 1}, {1, 1}, {2, 2}, 1, 4, 8, 4},
});

std::vector<int64_t> attrsOf(const Case &c, int64_t layout, int64_t filter, int64_t flags, int64_t activation) {
  std::vector<int64_t> attrs = convAttrs(c, layout, filter, flags);
  attrs[PLIM_CONV_ACTIVATION] = activation;
  attrs[PLIM_CONV_ACT_A] = word(0.25);
  attrs[PLIM_CONV_ACT_B] = word(0.5);
  return attrs;
}

// The filter as a dense [tap, input of the group, output] array, from which every form is filled.
struct Filter {
  std::vector<double> values;
  int64_t groupInputs, outputs;
  double at(int64_t tap, int64_t i, int64_t o) const { return values[size_t((tap * groupInputs + i) * outputs + o)]; }
};

int64_t tapNumber(const Case &c, const Dims &tap) {
  int64_t number = 0;
  for (size_t d = 0; d < tap.size(); ++d)
    number = number * c.kernel[d] + tap[d];
  return number;
}

// Lays the filter out in the given form; `packed` for panel32.
Tensor filterTensor(const Case &c, const Filter &f, int64_t form, bool transposed, bool packed, Random &random) {
  int64_t taps = product(c.kernel), groupOutputs = c.outputs / c.groups;
  auto make = [&](const Dims &dims) {
    return packed ? Tensor::panel32(PLIM_F32, dims[0], dims[1]) : Tensor(PLIM_F32, dims, Form::Permuted, &random);
  };
  Dims dims;
  switch (form) {
  case PLIM_CONV_FILTER_TAPS:
    dims = {taps * f.groupInputs, c.outputs};
    break;
  case PLIM_CONV_FILTER_COLUMNS:
    dims = {c.inputs, taps * c.outputs};
    break;
  case PLIM_CONV_FILTER_DEPTHWISE:
    dims = c.kernel;
    dims.push_back(c.outputs);
    break;
  default:
    dims = transposed ? Dims{c.inputs, groupOutputs} : Dims{c.outputs, f.groupInputs};
    dims.insert(dims.end(), c.kernel.begin(), c.kernel.end());
  }
  Tensor t = make(dims);
  forEachIndex(c.kernel, [&](const Dims &tap) {
    for (int64_t i = 0; i < f.groupInputs; ++i)
      for (int64_t o = 0; o < c.outputs; ++o) {
        int64_t number = tapNumber(c, tap), group = o / groupOutputs;
        Dims at;
        if (form == PLIM_CONV_FILTER_TAPS)
          at = {number * f.groupInputs + i, o};
        else if (form == PLIM_CONV_FILTER_COLUMNS)
          at = {i, number * c.outputs + o};
        else if (form == PLIM_CONV_FILTER_DEPTHWISE)
          (at = tap).push_back(o);
        else {
          at = transposed ? Dims{group * f.groupInputs + i, o % groupOutputs} : Dims{o, i};
          at.insert(at.end(), tap.begin(), tap.end());
        }
        t.set(t.numberOf(at), f.at(number, i, o));
      }
  });
  return t;
}

void runCase(const Case &c, bool transposed, int64_t layout, int64_t form, bool packed, int64_t flags,
             int64_t activation) {
  SCOPED_TRACE(testing::Message() << "transposed " << transposed << " layout " << layout << " filter " << form
                                  << " packed " << packed << " flags " << flags);
  Random random(11);
  Form tensorForm = packed ? Form::Row : Form::Negative;
  Dims outSpatial = convOutputs(c, transposed);
  Tensor x(PLIM_F32, imageDims(layout, c.batch, c.inputs, c.spatial), tensorForm, &random);
  Tensor y(PLIM_F32, imageDims(layout, c.batch, c.outputs, outSpatial), tensorForm, &random);
  Tensor residual(PLIM_F32, y.dims(), Form::Permuted, &random), bias(PLIM_F32, {c.outputs});
  x.fill(random, -1, 1);
  residual.fill(random, -1, 1);
  bias.fill(random, -1, 1);
  Filter f = {{}, c.inputs / c.groups, c.outputs};
  std::uniform_real_distribution<double> values(-1, 1);
  for (int64_t i = 0; i < product(c.kernel) * f.groupInputs * c.outputs; ++i)
    f.values.push_back(float(values(random)));
  Tensor w = filterTensor(c, f, form, transposed, packed, random);

  // Forwards for both: every pair of an input and a tap adds to one output.
  std::vector<double> sums(size_t(y.elements()), 0.0);
  int64_t groupOutputs = c.outputs / c.groups;
  forEachIndex(transposed ? c.spatial : outSpatial, [&](const Dims &base) {
    forEachIndex(c.kernel, [&](const Dims &tap) {
      Dims other(base.size());
      const Dims &limits = transposed ? outSpatial : c.spatial;
      for (size_t d = 0; d < base.size(); ++d) {
        other[d] = base[d] * c.stride[d] + tap[d] * c.dilation[d] - c.pad[d];
        if (other[d] < 0 || other[d] >= limits[d])
          return;
      }
      const Dims &in = transposed ? base : other, &out = transposed ? other : base;
      for (int64_t n = 0; n < c.batch; ++n)
        for (int64_t o = 0; o < c.outputs; ++o)
          for (int64_t i = 0; i < f.groupInputs; ++i)
            sums[size_t(y.numberOf(imageDims(layout, n, o, out)))] +=
                x.at(imageDims(layout, n, o / groupOutputs * f.groupInputs + i, in)) * f.at(tapNumber(c, tap), i, o);
    });
  });

  std::vector<Tensor *> operands = {&x, &w};
  if (flags & PLIM_EPILOGUE_BIAS)
    operands.push_back(&bias);
  if (flags & PLIM_EPILOGUE_RESIDUAL)
    operands.push_back(&residual);
  operands.push_back(&y);
  ASSERT_EQ(runKernel(transposed ? "conv_transpose.reference" : "conv.reference", operands,
                      attrsOf(c, layout, form, flags, activation)),
            0);
  size_t channelAxis = layout == PLIM_CONV_NHWC ? y.dims().size() - 1 : 1;
  int64_t number = 0;
  forEachIndex(y.dims(), [&](const Dims &at) {
    double e = sums[size_t(number)] + (flags & PLIM_EPILOGUE_BIAS ? bias.get(at[channelAxis]) : 0) +
               (flags & PLIM_EPILOGUE_RESIDUAL ? residual.get(number) : 0);
    e = expectedActivation(activation, e, 0.25, 0.5);
    ASSERT_NEAR(y.get(number), e, 1e-5 * (1 + std::fabs(e)));
    ++number;
  });
}

} // namespace

TEST(ConvReference, EveryLayoutAndFilterFormMatchesTheSum) {
  for (const Case &c : cases)
    for (int64_t layout : {PLIM_CONV_NCHW, PLIM_CONV_NHWC}) {
      runCase(c, false, layout, PLIM_CONV_FILTER_DIRECT, false, 0, PLIM_ACT_NONE);
      runCase(c, false, layout, PLIM_CONV_FILTER_TAPS, false, 0, PLIM_ACT_NONE);
      runCase(c, false, layout, PLIM_CONV_FILTER_TAPS, true, 0, PLIM_ACT_NONE);
      if (c.isDepthwise())
        runCase(c, false, layout, PLIM_CONV_FILTER_DEPTHWISE, false, 0, PLIM_ACT_NONE);
    }
}

TEST(ConvTransposeReference, EveryLayoutAndFilterFormMatchesTheSum) {
  for (const Case &c : cases)
    for (int64_t layout : {PLIM_CONV_NCHW, PLIM_CONV_NHWC}) {
      runCase(c, true, layout, PLIM_CONV_FILTER_DIRECT, false, 0, PLIM_ACT_NONE);
      runCase(c, true, layout, PLIM_CONV_FILTER_TAPS, true, 0, PLIM_ACT_NONE);
      if (c.groups == 1) {
        runCase(c, true, layout, PLIM_CONV_FILTER_COLUMNS, false, 0, PLIM_ACT_NONE);
        runCase(c, true, layout, PLIM_CONV_FILTER_COLUMNS, true, 0, PLIM_ACT_NONE);
      }
      if (c.isDepthwise())
        runCase(c, true, layout, PLIM_CONV_FILTER_DEPTHWISE, false, 0, PLIM_ACT_NONE);
    }
}

TEST(ConvReference, BiasResidualAndActivation) {
  for (bool transposed : {false, true})
    for (int64_t flags = 0; flags < 4; ++flags)
      for (int64_t activation : {PLIM_ACT_NONE, PLIM_ACT_RELU, PLIM_ACT_HARD_SIGMOID, PLIM_ACT_HARD_SWISH})
        for (int64_t layout : {PLIM_CONV_NCHW, PLIM_CONV_NHWC})
          runCase(cases[1], transposed, layout, PLIM_CONV_FILTER_DIRECT, false, flags, activation);
}

TEST(ConvReference, EmptyBatchAndWrongFilters) {
  Case c = {{4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 0, 2, 3, 1};
  Tensor x(PLIM_F32, {0, 2, 4, 4}), w(PLIM_F32, {3, 2, 3, 3}), y(PLIM_F32, {0, 3, 4, 4});
  w.fillWith([](int64_t) { return 0.0; });
  auto attrs = attrsOf(c, PLIM_CONV_NCHW, PLIM_CONV_FILTER_DIRECT, 0, PLIM_ACT_NONE);
  EXPECT_EQ(runKernel("conv.reference", {&x, &w, &y}, attrs), 0);
  Tensor wrong(PLIM_F32, {3, 1, 3, 3});
  wrong.fillWith([](int64_t) { return 0.0; });
  EXPECT_EQ(runKernel("conv.reference", {&x, &wrong, &y}, attrs), PLIM_KERNEL_UNSUPPORTED);
  attrs[PLIM_CONV_GROUPS] = 2; // does not divide 3
  EXPECT_EQ(runKernel("conv.reference", {&x, &w, &y}, attrs), PLIM_KERNEL_UNSUPPORTED);
}
