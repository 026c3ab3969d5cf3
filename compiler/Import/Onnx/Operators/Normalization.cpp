// Normalisations and softmax.
#include "compiler/Import/Onnx/Operators/Norms.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

double epsilon(NodeImporter &n) { return n.real("epsilon", 1e-5f); }

LogicalResult batchNormalization(NodeImporter &n) {
  n.ignore({"momentum"});
  if (n.integer("training_mode", 0))
    return n.error("training_mode is not supported");
  if (n.integer("spatial", 1) != 1)
    return n.error("attribute 'spatial' must be 1");
  return n.finish(n.make<graph::BatchNormOp>(n[0], n[1], n[2], n[3], n[4], epsilon(n)));
}

LogicalResult instanceNormalization(NodeImporter &n) {
  return n.finish(n.make<graph::InstanceNormOp>(n[0], n[1], n[2], epsilon(n)));
}

/// Scale and bias are one a group before operator set 21, one a channel from then on.
LogicalResult groupNormalization(NodeImporter &n) {
  n.ignore({"stash_type"});
  const int64_t groups = n.integer("num_groups", 0);
  if (n.type(0).getRank() < 2 || n.type(0).isDynamicDim(1))
    return n.error("need [N, C, ...] with a static C");
  const int64_t channels = n.type(0).getDimSize(1);
  if (groups < 1 || channels % groups)
    return n.error("attribute 'num_groups' is " + Twine(groups) + ": need a divisor of " + Twine(channels));
  Value scale = n[1], bias = n[2];
  if (n.version < 21)
    for (Value *value : {&scale, &bias})
      *value = n.reshape(n.make<graph::BroadcastOp>(n.reshape(*value, {groups, 1}), Ints{groups, channels / groups}),
                         {channels});
  return n.finish(n.make<graph::GroupNormOp>(n[0], scale, bias, groups, epsilon(n)));
}

LogicalResult layerNormalization(NodeImporter &n) {
  n.ignore({"stash_type"});
  const auto axis = n.axisOf(n.integer("axis", -1), n.type(0).getRank());
  if (!axis)
    return failure();
  Value result = n.make<graph::LayerNormOp>(n[0], n[1], n[2], uint64_t(*axis), epsilon(n));
  if (!n.wantsOutput(1) && !n.wantsOutput(2))
    return n.finish(result);
  const Statistics statistics = statisticsOf(Term(n, n[0]), *axis, epsilon(n));
  return n.finish({result, statistics.mean, statistics.inverseDeviation});
}

/// ONNX Runtime calls it SimplifiedLayerNormalization, and keeps it in the default domain too.
LogicalResult rmsNormalization(NodeImporter &n) {
  n.ignore({"stash_type"});
  const auto axis = n.axisOf(n.integer("axis", -1), n.type(0).getRank());
  return axis ? n.finish(n.make<graph::RmsNormOp>(n[0], n[1], uint64_t(*axis), epsilon(n))) : failure();
}

/// (x - mean) / standard deviation over the axes.
LogicalResult meanVarianceNormalization(NodeImporter &n) {
  const auto axes = n.axesOf(n.integers("axes").value_or(Ints{0, 2, 3}), n.type(0).getRank());
  if (!axes)
    return failure();
  const Type element = n.type(0).getElementType();
  const auto mean = [&](Value value) { return n.make<graph::ReduceOp>(graph::ReduceKind::Mean, value, *axes, true); };
  Value centred = n.make<graph::SubOp>(n[0], mean(n[0]));
  Value variance = mean(n.make<graph::MulOp>(centred, centred));
  Value deviation = n.make<graph::SqrtOp>(n.make<graph::AddOp>(variance, n.scalar(1e-9, element)));
  return n.finish(n.make<graph::DivOp>(centred, deviation));
}

LogicalResult lpNormalization(NodeImporter &n) {
  const int64_t p = n.integer("p", 2);
  if (p != 1 && p != 2)
    return n.error("attribute 'p' is " + Twine(p) + ": need 1 or 2");
  const auto axis = n.axisOf(n.integer("axis", -1), n.type(0).getRank());
  if (!axis)
    return failure();
  Value norm = n.make<graph::ReduceOp>(p == 1 ? graph::ReduceKind::L1 : graph::ReduceKind::L2, n[0], Ints{*axis}, true);
  // Zeros stay zeros.
  const Type element = n.type(0).getElementType();
  Value isZero = n.make<graph::EqualOp>(norm, n.scalar(0.0, element));
  return n.finish(n.make<graph::DivOp>(n[0], n.make<graph::SelectOp>(isZero, n.scalar(1.0, element), norm)));
}

/// 1 at the first of the largest elements, 0 elsewhere: along one axis from operator set 13, before over all dimensions
/// from the axis on.
LogicalResult hardmax(NodeImporter &n) {
  const int64_t rank = n.type(0).getRank();
  const auto axis = n.axisOf(n.integer("axis", n.version < 13 ? 1 : -1), rank);
  if (!axis || !n.needStatic(n[0], "Hardmax"))
    return failure();
  const Ints shape(n.type(0).getShape());
  Term x(n, n[0]);
  int64_t at = *axis;
  if (n.version < 13) {
    Ints rows{1, 1};
    for (int64_t i = 0; i < rank; ++i)
      rows[i >= at] *= shape[i];
    x = x.reshape(rows);
    at = 1;
  }
  if (!x)
    return failure();
  Term first(n, n.make<graph::ArgReduceOp>(graph::ArgReduceKind::Max, x, uint64_t(at), true));
  Term isFirst = positions(n, x.shape()[at], at, x.rank(), n.b.getI64Type()) == first;
  return n.finish(isFirst.cast(n.type(0).getElementType()).reshape(shape));
}

/// x / (bias + alpha / size * sum of x^2 over `size` channels)^beta; the sum by an average over channels as a
/// dimension.
LogicalResult localResponse(NodeImporter &n) {
  const int64_t size = n.integer("size", 0);
  const double alpha = n.real("alpha", 1e-4f), beta = n.real("beta", 0.75), bias = n.real("bias", 1.0);
  if (size < 1 || size > INT32_MAX)
    return n.error("attribute 'size' is " + Twine(size) + ": need at least 1");
  if (n.type(0).getRank() < 3 || !n.needStatic(n[0], "LRN"))
    return n.error("need [N, C, spatial...], have " + Twine(n.type(0).getRank()) + " dimensions");
  const auto shape = n.type(0).getShape();
  const Type element = n.type(0).getElementType();
  Value squares =
      n.reshape(n.make<graph::MulOp>(n[0], n[0]), {shape[0], 1, shape[1], llvm::product_of(shape.drop_front(2))});
  Value average = n.make<graph::PoolOp>(graph::PoolKind::Average, squares, Ints{size, 1}, Ints{1, 1},
                                        Ints{(size - 1) / 2, 0, size / 2, 0}, Ints{1, 1}, false, true);
  Value scaled = n.make<graph::MulOp>(n.reshape(average, shape), n.scalar(alpha, element));
  Value base = n.make<graph::AddOp>(scaled, n.scalar(bias, element));
  return n.finish(n.make<graph::DivOp>(n[0], n.make<graph::PowOp>(base, n.scalar(beta, element))));
}

/// From operator set 13 along one axis; before, over all dimensions from the axis on.
template <bool log> LogicalResult softmax(NodeImporter &n) {
  const auto shape = n.type(0).getShape();
  const int64_t rank = shape.size();
  if (n.version >= 13) {
    const auto axis = n.axisOf(n.integer("axis", -1), rank);
    return axis ? n.finish(n.make<graph::SoftmaxOp>(n[0], uint64_t(*axis), log)) : failure();
  }
  int64_t axis = n.integer("axis", 1);
  // An axis of `rank` makes rows of one element: every result is 1.
  if (axis < -rank || axis > rank)
    return n.error("axis " + Twine(axis) + ": need " + Twine(-rank) + " to " + Twine(rank));
  axis = axis < 0 ? axis + rank : axis;
  // One dimension that is not 1 is the same as all of them.
  std::optional<int64_t> wide;
  unsigned wides = 0;
  for (int64_t i = axis; i < rank; ++i)
    if (shape[i] != 1) {
      wide = i;
      ++wides;
    }
  if (rank > 0 && wides <= 1)
    return n.finish(n.make<graph::SoftmaxOp>(n[0], uint64_t(wide.value_or(std::min(axis, rank - 1))), log));
  if (!n.needStatic(n[0], "softmax over several dimensions"))
    return failure();
  int64_t rows = 1, columns = 1;
  for (int64_t i = 0; i < rank; ++i)
    (i < axis ? rows : columns) *= shape[i];
  return n.finish(n.reshape(n.make<graph::SoftmaxOp>(n.reshape(n[0], {rows, columns}), uint64_t(1), log), shape));
}

constexpr OperatorRow rows[] = {
    {"BatchNormalization", 5, 5, batchNormalization, 7, noVersion, "", "inference only"},
    {"GroupNormalization", 3, 3, groupNormalization, 18},
    {"Hardmax", 1, 1, hardmax, 7, noVersion, "", "a static shape"},
    {"InstanceNormalization", 3, 3, instanceNormalization},
    {"LRN", 1, 1, localResponse},
    {"LayerNormalization", 2, 3, layerNormalization, 17},
    {"LogSoftmax", 1, 1, softmax<true>},
    {"LpNormalization", 1, 1, lpNormalization},
    {"MeanVarianceNormalization", 1, 1, meanVarianceNormalization, 9},
    {"RMSNormalization", 2, 2, rmsNormalization, 23},
    {"SimplifiedLayerNormalization", 2, 2, rmsNormalization, 7},
    {"Softmax", 1, 1, softmax<false>},
    {"SimplifiedLayerNormalization", 2, 2, rmsNormalization, 1, noVersion, microsoftDomain},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::normalizationOperators() { return rows; }
