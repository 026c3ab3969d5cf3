//===- RandomOps.cpp - Random ops on tensors of any rank ------------------------------------===//
#include "test/compiler/Pipelines/RandomGraph.h"

using namespace mlir;

namespace plim::test {

Value OpMaker::scaled(Value x, double factor) {
  auto type = RankedTensorType::get({}, b.getF32Type());
  Value constant = graph::ConstantOp::create(b, loc, DenseElementsAttr::get(type, float(factor)));
  return graph::MulOp::create(b, loc, x, constant);
}

Value OpMaker::transpose(Value x, ArrayRef<int64_t> permutation) {
  return graph::TransposeOp::create(b, loc, x, permutation);
}

Value OpMaker::reshape(Value x, ArrayRef<int64_t> dims) { return graph::ReshapeOp::create(b, loc, x, dims); }

Value OpMaker::unary(Value x) {
  switch (pick(0, 15)) {
  case 0:
    return graph::ReluOp::create(b, loc, x);
  case 1:
    return graph::TanhOp::create(b, loc, x);
  case 2:
    return graph::SigmoidOp::create(b, loc, x);
  case 3:
    return graph::SiluOp::create(b, loc, x);
  case 4:
    return graph::LeakyReluOp::create(b, loc, x, 0.1);
  case 5:
    return graph::HardSwishOp::create(b, loc, x);
  case 6:
    return graph::GeluOp::create(b, loc, x, chance(50));
  case 7:
    return graph::AbsOp::create(b, loc, x);
  case 8:
    return graph::NegOp::create(b, loc, x);
  case 9:
    return graph::ClipOp::create(b, loc, x, b.getF64FloatAttr(-1.5), b.getF64FloatAttr(2.0));
  case 10:
    return graph::EluOp::create(b, loc, x);
  case 11:
    return graph::SoftsignOp::create(b, loc, x);
  case 12:
    return graph::ErfOp::create(b, loc, x);
  case 13:
    return graph::SinOp::create(b, loc, x);
  case 14:
    return graph::ExpOp::create(b, loc, graph::TanhOp::create(b, loc, x));
  default:
    return graph::SqrtOp::create(b, loc, graph::AbsOp::create(b, loc, x));
  }
}

Value OpMaker::binary(Value x, Value y) {
  switch (pick(0, 5)) {
  case 0:
    return graph::AddOp::create(b, loc, x, y);
  case 1:
    return graph::SubOp::create(b, loc, x, y);
  case 2:
    return graph::MinOp::create(b, loc, x, y);
  case 3:
    return graph::MaxOp::create(b, loc, x, y);
  case 4:
    return graph::MulOp::create(b, loc, x, graph::SigmoidOp::create(b, loc, y));
  default: {
    Value less = keep(graph::LessOp::create(b, loc, x, y));
    return graph::SelectOp::create(b, loc, less, y, x);
  }
  }
}

Value OpMaker::withParameter(Value x) {
  SmallVector<int64_t> dims(dimsOf(x));
  for (int64_t &d : dims)
    d = chance(50) ? 1 : d;
  Value y = parameter(ArrayRef<int64_t>(dims).drop_front(size_t(pick(0, int64_t(dims.size()) - 1))));
  return binary(x, y);
}

Value OpMaker::join(Value x, Value y) {
  if (dimsOf(x) != dimsOf(y))
    return withParameter(x);
  int64_t rank = int64_t(dimsOf(x).size());
  if (chance(60))
    return binary(x, y);
  // A concatenation, from which elements of both are taken.
  int64_t axis = pick(0, rank - 1);
  SmallVector<Value> pieces = {x, y};
  if (chance(25))
    pieces.push_back(chance(50) ? x : parameter(dimsOf(x)));
  Value all = keep(graph::ConcatOp::create(b, loc, pieces, axis));
  if (chance(50))
    all = unary(all);
  SmallVector<int64_t> starts(size_t(rank), 0), sizes(dimsOf(x)), steps(size_t(rank), 1);
  if (chance(50))
    steps[size_t(axis)] = int64_t(pieces.size());
  else
    starts[size_t(axis)] = pick(0, sizes[size_t(axis)] * (int64_t(pieces.size()) - 1));
  return graph::SliceOp::create(b, loc, all, starts, sizes, steps);
}

Value OpMaker::logic(Value x) {
  Value mask = graph::GreaterOp::create(b, loc, x, parameter({dimsOf(x).back()}));
  if (chance(40))
    mask = graph::NotOp::create(b, loc, mask);
  if (chance(40)) {
    Value other = chance(50) ? maskParameter({dimsOf(x).back()})
                             : Value(graph::LessEqualOp::create(b, loc, x, parameter({1})).getResult());
    mask = chance(50) ? Value(graph::AndOp::create(b, loc, mask, other).getResult())
                      : Value(graph::XorOp::create(b, loc, mask, other).getResult());
  }
  keep(mask);
  if (chance(50))
    return graph::SelectOp::create(b, loc, mask, x, unary(x));
  Value number = graph::CastOp::create(b, loc, mask, TypeAttr::get(b.getF32Type()));
  return graph::AddOp::create(b, loc, x, number);
}

Value OpMaker::integers(Value x) {
  Type integer = chance(60) ? b.getI64Type() : b.getI32Type();
  Value bounded = graph::ClipOp::create(b, loc, scaled(x, 10), b.getF64FloatAttr(-100), b.getF64FloatAttr(100));
  Value i = graph::CastOp::create(b, loc, bounded, TypeAttr::get(integer));
  Value j = graph::AbsOp::create(b, loc, i);
  i = keep(chance(50) ? Value(graph::AddOp::create(b, loc, i, j).getResult())
                      : Value(graph::MaxOp::create(b, loc, graph::NegOp::create(b, loc, i), j).getResult()));
  if (chance(30))
    i = graph::CumsumOp::create(b, loc, i, pick(0, int64_t(dimsOf(x).size()) - 1), chance(30), chance(30));
  Value back = graph::CastOp::create(b, loc, i, TypeAttr::get(b.getF32Type()));
  return graph::AddOp::create(b, loc, x, scaled(back, 0.01));
}

Value OpMaker::indexing(Value x) {
  int64_t axis = pick(0, int64_t(dimsOf(x).size()) - 1), size = dimsOf(x)[size_t(axis)];
  SmallVector<int64_t> dims(dimsOf(x));
  switch (pick(0, 4)) {
  case 0:
    return graph::GatherOp::create(b, loc, x, indices({size}, size), axis);
  case 1:
    return graph::GatherElementsOp::create(b, loc, x, indices(dims, size), axis);
  case 2: {
    Value largest = keep(graph::ArgReduceOp::create(
        b, loc, oneOf({graph::ArgReduceKind::Max, graph::ArgReduceKind::Min}), x, axis, true, chance(50)));
    return graph::SubOp::create(b, loc, x, graph::GatherElementsOp::create(b, loc, x, largest, axis));
  }
  case 3: {
    auto top = graph::TopKOp::create(b, loc, x, pick(1, size), axis, chance(50), true);
    keep(top.getIndices());
    return graph::ScatterElementsOp::create(b, loc, x, top.getIndices(), unary(top.getValues()), axis,
                                            graph::ScatterReduction::None);
  }
  default: {
    // Rows of the first dimension, then one more gathered dimension that a reduction takes away again.
    Value rows = graph::GatherOp::create(b, loc, x, indices({size, 2}, size), axis);
    SmallVector<int64_t> axes = {axis + 1};
    return graph::ReduceOp::create(b, loc, graph::ReduceKind::Mean, rows, axes, false);
  }
  }
}

Value OpMaker::normalize(Value x) {
  int64_t rank = int64_t(dimsOf(x).size()), axis = pick(std::max<int64_t>(0, rank - 2), rank - 1);
  ArrayRef<int64_t> inner = dimsOf(x).drop_front(size_t(axis));
  switch (pick(0, 4)) {
  case 0:
    return graph::SoftmaxOp::create(b, loc, x, pick(0, rank - 1), chance(20));
  case 1:
    return graph::RmsNormOp::create(b, loc, x, chance(70) ? parameter(inner) : Value(), axis);
  case 2:
    if (rank == 4 && !channelsLast) {
      SmallVector<int64_t> c = {dimsOf(x)[1]};
      if (chance(40))
        return graph::GroupNormOp::create(b, loc, x, parameter(c), parameter(c), c[0] % 2 ? 1 : 2);
      if (chance(50))
        return graph::InstanceNormOp::create(b, loc, x, parameter(c), parameter(c));
    }
    [[fallthrough]];
  default:
    return graph::LayerNormOp::create(b, loc, x, chance(80) ? parameter(inner) : Value(),
                                      chance(80) ? parameter(inner.take_back(1)) : Value(), axis);
  }
}

Value OpMaker::reduceAndSpread(Value x) {
  SmallVector<int64_t> axes;
  for (int64_t d = 0; d < int64_t(dimsOf(x).size()); ++d)
    if (chance(50))
      axes.push_back(d);
  auto kind = oneOf({graph::ReduceKind::Mean, graph::ReduceKind::Max, graph::ReduceKind::Min, graph::ReduceKind::L1,
                     graph::ReduceKind::L2, graph::ReduceKind::LogSumExp, graph::ReduceKind::Sum});
  Value reduced = keep(graph::ReduceOp::create(b, loc, kind, x, axes, true));
  Value gate = graph::SigmoidOp::create(b, loc, reduced);
  return graph::MulOp::create(b, loc, x, gate);
}

Value OpMaker::permuted(Value x) {
  SmallVector<int64_t> permutation(dimsOf(x).size()), back(permutation.size());
  for (size_t d = 0; d < permutation.size(); ++d)
    permutation[d] = int64_t(d);
  for (size_t d = permutation.size(); d-- > 1;)
    std::swap(permutation[d], permutation[size_t(pick(0, int64_t(d)))]);
  for (size_t d = 0; d < permutation.size(); ++d)
    back[size_t(permutation[d])] = int64_t(d);
  Value y = transpose(x, permutation);
  if (chance(70))
    y = chance(50) ? unary(y) : normalize(y);
  return transpose(chance(30) ? keep(y) : y, back);
}

Value OpMaker::reshaped(Value x) {
  SmallVector<int64_t> dims(dimsOf(x));
  Value y;
  if (chance(40)) {
    y = reshape(x, {-1, dims.back()});
  } else if (chance(50)) {
    SmallVector<int64_t> more(dims);
    more.insert(more.begin() + pick(0, int64_t(more.size())), 1);
    y = reshape(x, more);
  } else {
    y = reshape(x, {dims[0], -1});
  }
  if (chance(60))
    y = chance(50) ? unary(y) : normalize(y);
  return reshape(chance(30) ? keep(y) : y, dims);
}

Value OpMaker::inPieces(Value x) {
  int64_t rank = int64_t(dimsOf(x).size()), axis = pick(0, rank - 1), size = dimsOf(x)[size_t(axis)];
  if (size < 2)
    return unary(x);
  SmallVector<Value> pieces;
  for (int64_t at = 0; at < size;) {
    int64_t length = pick(1, std::min<int64_t>(size - at, size / 2 + 1));
    SmallVector<int64_t> starts(size_t(rank), 0), sizes(dimsOf(x));
    starts[size_t(axis)] = at, sizes[size_t(axis)] = length;
    Value piece = graph::SliceOp::create(b, loc, x, starts, sizes);
    pieces.push_back(chance(70) ? unary(piece) : piece);
    at += length;
  }
  if (chance(40))
    std::reverse(pieces.begin(), pieces.end());
  return graph::ConcatOp::create(b, loc, pieces, axis);
}

Value OpMaker::padded(Value x) {
  size_t rank = dimsOf(x).size();
  SmallVector<int64_t> low(rank), high(rank), starts(rank), sizes(dimsOf(x));
  for (size_t d = 0; d < rank; ++d) {
    low[d] = chance(50) ? pick(0, std::min<int64_t>(2, sizes[d] - 1)) : 0;
    high[d] = chance(50) ? pick(0, std::min<int64_t>(2, sizes[d] - 1)) : 0;
    starts[d] = pick(0, low[d] + high[d]);
  }
  auto mode = oneOf({graph::PadMode::Constant, graph::PadMode::Edge, graph::PadMode::Reflect});
  Value y = graph::PadOp::create(b, loc, x, low, high, mode, 0.25);
  if (chance(60))
    y = unary(keep(y));
  return graph::SliceOp::create(b, loc, y, starts, sizes);
}

Value OpMaker::repeated(Value x) {
  SmallVector<int64_t> dims(dimsOf(x));
  dims.insert(dims.begin(), pick(2, 3));
  Value y = graph::BroadcastOp::create(b, loc, x, dims);
  y = binary(y, parameter(dims));
  SmallVector<int64_t> first = {0};
  return graph::ReduceOp::create(b, loc, oneOf({graph::ReduceKind::Mean, graph::ReduceKind::Max}), y, first, false);
}

Value OpMaker::anywhere(Value x) {
  switch (pick(0, 12)) {
  case 0:
    return withParameter(x);
  case 1:
    return logic(x);
  case 2:
    return integers(x);
  case 3:
    return indexing(x);
  case 4:
    return normalize(x);
  case 5:
    return reduceAndSpread(x);
  case 6:
    return permuted(x);
  case 7:
    return reshaped(x);
  case 8:
  case 9:
    return inPieces(x);
  case 10:
    return padded(x);
  case 11:
    return repeated(x);
  default:
    return unary(x);
  }
}

} // namespace plim::test
