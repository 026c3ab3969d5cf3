//===- RandomStructuredOps.cpp - Random matmuls, attention, convolutions ---------------------===//
#include "test/compiler/Pipelines/RandomGraph.h"

using namespace mlir;

namespace plim::test {

Value OpMaker::packed(Value matrix) {
  return graph::PackOp::create(b, loc, matrix, graph::LayoutAttr::get(b.getContext(), graph::StorageLayout::Panel32));
}

Value OpMaker::project(Value x, int64_t columns) {
  int64_t rows = dimsOf(x).back();
  bool transposed = chance(20);
  Value w = transposed ? parameter({columns, rows}) : parameter({rows, columns});
  if (!transposed && chance(40))
    w = packed(w);
  SmallVector<int64_t> dims(dimsOf(x));
  dims.back() = columns;
  Value bias = chance(50) ? parameter({columns}) : Value();
  Value residual = chance(25) ? (columns == rows && chance(60) ? x : parameter(dims)) : Value();
  auto activation = oneOf({graph::Activation::None, graph::Activation::None, graph::Activation::Relu,
                           graph::Activation::Tanh, graph::Activation::Gelu, graph::Activation::Silu});
  Value y = graph::MatmulOp::create(b, loc, x, w, bias, residual, false, transposed, activation);
  return activation == graph::Activation::None ? scaled(y, 0.3) : y;
}

Value OpMaker::attention(Value x) {
  SmallVector<int64_t> dims(dimsOf(x));
  int64_t batch = dims[0], time = dims[1], channels = dims[2];
  int64_t heads = channels % 4 == 0 ? oneOf<int64_t>({1, 2, 4}) : 1;
  int64_t groups = chance(25) ? 1 : heads; // heads of keys and values
  int64_t depth = channels / heads;
  Value query, key, value;
  if (groups == heads && chance(40)) {
    Value all = project(x, 3 * channels);
    auto part = [&](int64_t i) {
      SmallVector<int64_t> starts = {0, 0, i * channels}, sizes = {batch, time, channels};
      return graph::SliceOp::create(b, loc, all, starts, sizes);
    };
    query = part(0), key = part(1), value = part(2);
  } else {
    query = project(x, channels), key = project(x, groups * depth), value = project(x, groups * depth);
  }
  auto split = [&](Value v, int64_t n) { return transpose(reshape(v, {batch, time, n, depth}), {0, 2, 1, 3}); };
  query = split(query, heads), key = split(key, groups), value = split(value, groups);
  Value mixed;
  if (groups == heads && chance(25)) {
    Value scores = graph::MatmulOp::create(b, loc, query, key, Value(), Value(), false, true);
    mixed = graph::MatmulOp::create(b, loc, keep(graph::SoftmaxOp::create(b, loc, scaled(scores, 0.5), 3)), value);
  } else {
    Value mask;
    if (chance(40))
      mask = chance(70) ? parameter({time, time}) : parameter({batch, 1, 1, time});
    mixed = graph::AttentionOp::create(b, loc, query, key, value, mask, 0.0, chance(40),
                                       graph::AttentionAlgorithm::Auto, pick(2, 5));
  }
  if (chance(25))
    keep(mixed);
  return project(reshape(transpose(mixed, {0, 2, 1, 3}), dims), channels);
}

Value OpMaker::transformerBlock(Value x) {
  SmallVector<int64_t> c = {dimsOf(x).back()};
  Value normed = graph::LayerNormOp::create(b, loc, x, parameter(c), parameter(c), 2);
  x = graph::AddOp::create(b, loc, x, attention(normed));
  Value inner = graph::RmsNormOp::create(b, loc, keep(x), parameter(c), 2);
  inner = graph::GeluOp::create(b, loc, project(inner, 2 * c[0]), chance(50));
  return graph::AddOp::create(b, loc, project(inner, c[0]), x);
}

Value OpMaker::conv(Value x, int64_t channels, int64_t stride) {
  int64_t input = dimsOf(x)[size_t(channelAxis())], k = stride == 2 ? oneOf<int64_t>({2, 3}) : oneOf<int64_t>({1, 3});
  int64_t low = (k - 1) / 2, high = k - 1 - low;
  // Strided: as many positions as there are halves, rounded up.
  SmallVector<int64_t> pads = {low, low, high, high}, strides = {stride, stride}, kernel = {k, k};
  if (stride == 2)
    for (size_t d = 0; d < 2; ++d)
      pads[d] = 0, pads[d + 2] = std::max<int64_t>(0, ((spatial(x)[d] + 1) / 2 - 1) * 2 + k - spatial(x)[d]);
  int64_t groups = !channelsLast && input == channels && input % 2 == 0 && chance(25) ? 2 : 1;
  Value filter;
  if (channelsLast) {
    filter = parameter({k * k * input, channels});
    if (chance(60))
      filter = packed(filter);
  } else {
    filter = parameter({channels, input / groups, k, k});
  }
  Value bias = chance(60) ? parameter({channels}) : Value();
  Value residual = stride == 1 && input == channels && chance(25) ? x : Value();
  auto activation = oneOf(
      {graph::Activation::None, graph::Activation::Relu, graph::Activation::HardSwish, graph::Activation::Sigmoid});
  Value y = graph::ConvOp::create(b, loc, x, filter, bias, residual, strides, pads, ArrayRef<int64_t>(), groups,
                                  channelsLast ? ArrayRef<int64_t>(kernel) : ArrayRef<int64_t>(), layout(), activation);
  return activation == graph::Activation::Sigmoid ? y : scaled(y, 0.2);
}

Value OpMaker::depthwise(Value x) {
  int64_t channels = dimsOf(x)[size_t(channelAxis())];
  SmallVector<int64_t> pads = {1, 1, 1, 1}, kernel = {3, 3};
  Value filter = channelsLast ? parameter({3, 3, channels}) : parameter({channels, 1, 3, 3});
  Value bias = chance(50) ? parameter({channels}) : Value();
  return graph::ConvOp::create(b, loc, x, filter, bias, Value(), ArrayRef<int64_t>(), pads, ArrayRef<int64_t>(),
                               channels, channelsLast ? ArrayRef<int64_t>(kernel) : ArrayRef<int64_t>(), layout(),
                               graph::Activation::Tanh);
}

Value OpMaker::pool(Value x, bool halves) {
  auto kind = oneOf({graph::PoolKind::Max, graph::PoolKind::Average});
  if (halves) {
    SmallVector<int64_t> two = {2, 2};
    return graph::PoolOp::create(b, loc, kind, x, two, two, ArrayRef<int64_t>(), ArrayRef<int64_t>(), chance(50), false,
                                 layout());
  }
  SmallVector<int64_t> kernel = {3, 3}, pads = {1, 1, 1, 1};
  return graph::PoolOp::create(b, loc, kind, x, kernel, ArrayRef<int64_t>(), pads, ArrayRef<int64_t>(), false,
                               chance(30), layout());
}

Value OpMaker::resize(Value x, int64_t rows, int64_t columns) {
  SmallVector<int64_t> sizes = {rows, columns};
  auto mode = oneOf({graph::ResizeMode::Nearest, graph::ResizeMode::Linear, graph::ResizeMode::Cubic});
  auto coordinates =
      oneOf({graph::CoordinateMode::HalfPixel, graph::CoordinateMode::AlignCorners, graph::CoordinateMode::Asymmetric});
  return graph::ResizeOp::create(b, loc, mode, x, sizes, ArrayRef<double>(), coordinates,
                                 graph::NearestMode::RoundPreferFloor, -0.75, layout());
}

Value OpMaker::image(Value x) {
  int64_t channels = dimsOf(x)[size_t(channelAxis())];
  ArrayRef<int64_t> size = spatial(x);
  switch (pick(0, 6)) {
  case 0:
    return depthwise(x);
  case 1:
    return pool(x, false);
  case 2:
    return resize(pool(x, true), size[0], size[1]);
  case 3: {
    SmallVector<int64_t> c = {channels};
    Value variance = graph::AbsOp::create(b, loc, parameter(c));
    return graph::BatchNormOp::create(b, loc, x, parameter(c), parameter(c), parameter(c), variance, 0.5, layout());
  }
  case 4: {
    // Squeeze and excite.
    SmallVector<int64_t> axes = {channelsLast ? 1 : 2, channelsLast ? 2 : 3};
    Value squeezed = graph::ReduceOp::create(b, loc, graph::ReduceKind::Mean, x, axes, true);
    Value gate = graph::HardSigmoidOp::create(b, loc, conv(squeezed, channels));
    return graph::MulOp::create(b, loc, x, gate);
  }
  default:
    return conv(x, channels);
  }
}

} // namespace plim::test
