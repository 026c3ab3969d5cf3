//===- NormalizationOps.cpp - Normalisations ---------------------------------------------------------------------===//

#include "dialects/Graph/Windows.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace plim::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/NormalizationOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Norms over dimensions from axis on, whose parameters broadcast to those.
static LogicalResult inferTrailing(std::optional<Location> loc, StringRef op, Value input, ValueRange parameters,
                                   int64_t axis, SmallVectorImpl<Type> &types) {
  Dims dims = dimsOf(input.getType());
  if (failed(checkAxis(loc, op, axis, dims.size())))
    return failure();
  ArrayRef<Dim> normalized = ArrayRef(dims).drop_front(axis);
  for (Value parameter : parameters)
    if (parameter && !broadcastsTo(dimsOf(parameter.getType()), normalized))
      return shapeError(loc, op,
                        "needs a scale and bias that broadcast to " + Twine(toString(normalized)) + ", has " +
                            toString(dimsOf(parameter.getType())));
  types.push_back(tensorOf(dims, elementTypeOf(input)));
  return success();
}

/// Norms of images, whose parameters have one element a channel.
static LogicalResult inferChannels(std::optional<Location> loc, StringRef op, Value input, ValueRange parameters,
                                   ImageLayout layout, SmallVectorImpl<Type> &types) {
  Dims dims = dimsOf(input.getType());
  if (dims.size() < 2)
    return shapeError(loc, op, "needs an input of rank 2 or more, has " + Twine(toString(dims)));
  Dim channels = dims[channelAxis(layout, dims.size())];
  for (Value parameter : parameters) {
    Dims have = dimsOf(parameter.getType());
    if (have.size() != 1 || !canBeEqual(have[0], channels))
      return shapeError(loc, op,
                        "needs parameters of shape " + Twine(toString(channels)) + ", one element a channel, has " +
                            toString(have));
  }
  types.push_back(tensorOf(dims, elementTypeOf(input)));
  return success();
}

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  return inferTrailing(loc, "graph.layer_norm", adaptor.getInput(), {adaptor.getScale(), adaptor.getBias()},
                       adaptor.getAxis(), types);
}

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferTrailing(loc, "graph.rms_norm", adaptor.getInput(), {adaptor.getScale()}, adaptor.getAxis(), types);
}

LogicalResult BatchNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  return inferChannels(loc, "graph.batch_norm", adaptor.getInput(), adaptor.getOperands().drop_front(),
                       adaptor.getLayout(), types);
}

LogicalResult GroupNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  if (failed(inferChannels(loc, "graph.group_norm", adaptor.getInput(), adaptor.getOperands().drop_front(),
                           ImageLayout::NCHW, types)))
    return failure();
  Dim channels = dimsOf(types.front())[1];
  if (adaptor.getGroups() < 1 || (channels.isStatic() && channels.lo % adaptor.getGroups() != 0))
    return shapeError(loc, "graph.group_norm",
                      "needs groups that divide " + Twine(toString(channels)) + " channels, has " +
                          Twine(adaptor.getGroups()));
  return success();
}

LogicalResult InstanceNormOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  return inferChannels(loc, "graph.instance_norm", adaptor.getInput(), adaptor.getOperands().drop_front(),
                       ImageLayout::NCHW, types);
}

//===----------------------------------------------------------------------===//
// Decompositions
//===----------------------------------------------------------------------===//

static Value scalarConstant(OpBuilder &b, Location loc, Type element, double value) {
  auto type = RankedTensorType::get({}, element);
  return ConstantOp::create(b, loc, DenseElementsAttr::get(type, b.getFloatAttr(element, value)));
}

static SmallVector<int64_t> axesFrom(int64_t first, int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(first, rank));
}

/// 1 / sqrt(variance + epsilon)
static Value inverseDeviation(OpBuilder &b, Location loc, Value variance, double epsilon) {
  Value shifted = AddOp::create(b, loc, variance, scalarConstant(b, loc, elementTypeOf(variance), epsilon));
  return RsqrtOp::create(b, loc, shifted);
}

/// (x - mean(x)) / sqrt(var(x) + epsilon), statistics over `axes`.
static Value standardize(OpBuilder &b, Location loc, Value x, ArrayRef<int64_t> axes, double epsilon) {
  auto mean = [&](Value v) -> Value { return ReduceOp::create(b, loc, ReduceKind::Mean, v, axes, true); };
  Value centered = SubOp::create(b, loc, x, mean(x));
  Value variance = mean(MulOp::create(b, loc, centered, centered));
  return MulOp::create(b, loc, centered, inverseDeviation(b, loc, variance, epsilon));
}

static Value scaleAndShift(OpBuilder &b, Location loc, Value x, Value scale, Value bias) {
  if (scale)
    x = MulOp::create(b, loc, x, scale);
  if (bias)
    x = AddOp::create(b, loc, x, bias);
  return x;
}

/// A parameter [C] as it broadcasts along the channel axis of a tensor of this rank.
static Value alongChannels(OpBuilder &b, Location loc, Value parameter, int64_t axis, int64_t rank) {
  SmallVector<int64_t> shape(rank - axis, 1);
  shape.front() = -1;
  return ReshapeOp::create(b, loc, parameter, shape);
}

FailureOr<SmallVector<Value>> LayerNormOp::decompose(OpBuilder &b) {
  Value x = standardize(b, getLoc(), getInput(), axesFrom(getAxis(), rankOf(getInput())), getEpsilon());
  return SmallVector<Value>{scaleAndShift(b, getLoc(), x, getScale(), getBias())};
}

FailureOr<SmallVector<Value>> RmsNormOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  Value square = MulOp::create(b, loc, getInput(), getInput());
  Value mean = ReduceOp::create(b, loc, ReduceKind::Mean, square, axesFrom(getAxis(), rankOf(getInput())), true);
  Value x = MulOp::create(b, loc, getInput(), inverseDeviation(b, loc, mean, getEpsilon()));
  return SmallVector<Value>{scaleAndShift(b, loc, x, getScale(), Value())};
}

FailureOr<SmallVector<Value>> BatchNormOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  int64_t rank = rankOf(getInput()), axis = channelAxis(getLayout(), rank);
  // x * s + (bias - mean * s) with s = scale / sqrt(variance + epsilon): the vectors are small.
  Value s = MulOp::create(b, loc, getScale(), inverseDeviation(b, loc, getVariance(), getEpsilon()));
  Value shift = SubOp::create(b, loc, getBias(), MulOp::create(b, loc, getMean(), s));
  return SmallVector<Value>{scaleAndShift(b, loc, getInput(), alongChannels(b, loc, s, axis, rank),
                                          alongChannels(b, loc, shift, axis, rank))};
}

/// Reshapes [N, C, ...] to [N, groups, C / groups, ...], standardises and reshapes back.
static FailureOr<SmallVector<Value>> decomposeGroups(OpBuilder &b, Location loc, Value input, Value scale, Value bias,
                                                     int64_t groups, double epsilon) {
  auto type = cast<RankedTensorType>(input.getType());
  if (!type.hasStaticShape())
    return failure();
  SmallVector<int64_t> shape(type.getShape());
  shape[1] /= groups;
  shape.insert(shape.begin() + 1, groups);
  Value split = ReshapeOp::create(b, loc, input, shape);
  Value x = standardize(b, loc, split, axesFrom(2, shape.size()), epsilon);
  Value joined = ReshapeOp::create(b, loc, x, type.getShape());
  return SmallVector<Value>{scaleAndShift(b, loc, joined, alongChannels(b, loc, scale, 1, type.getRank()),
                                          alongChannels(b, loc, bias, 1, type.getRank()))};
}

FailureOr<SmallVector<Value>> GroupNormOp::decompose(OpBuilder &b) {
  return decomposeGroups(b, getLoc(), getInput(), getScale(), getBias(), getGroups(), getEpsilon());
}

FailureOr<SmallVector<Value>> InstanceNormOp::decompose(OpBuilder &b) {
  return decomposeGroups(b, getLoc(), getInput(), getScale(), getBias(), getInput().getType().getDimSize(1),
                         getEpsilon());
}

//===----------------------------------------------------------------------===//
// Aliases and layout
//===----------------------------------------------------------------------===//

SmallVector<plim::graph::Alias> LayerNormOp::getAliases() { return {{0, 0, AliasKind::InPlace}}; }
SmallVector<plim::graph::Alias> RmsNormOp::getAliases() { return {{0, 0, AliasKind::InPlace}}; }
SmallVector<plim::graph::Alias> BatchNormOp::getAliases() { return {{0, 0, AliasKind::InPlace}}; }
SmallVector<plim::graph::Alias> GroupNormOp::getAliases() { return {{0, 0, AliasKind::InPlace}}; }
SmallVector<plim::graph::Alias> InstanceNormOp::getAliases() { return {{0, 0, AliasKind::InPlace}}; }

LayoutBehaviour BatchNormOp::getLayoutBehaviour() { return LayoutBehaviour::Transparent; }

LogicalResult BatchNormOp::permuteAttributes(ArrayRef<int64_t> permutation) {
  int64_t rank = permutation.size();
  int64_t axis = llvm::find(permutation, channelAxis(getLayout(), rank)) - permutation.begin();
  if (axis == channelAxis(ImageLayout::NCHW, rank))
    setLayout(ImageLayout::NCHW);
  else if (axis == channelAxis(ImageLayout::NHWC, rank))
    setLayout(ImageLayout::NHWC);
  else
    return failure();
  return success();
}
