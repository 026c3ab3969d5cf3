//===- ReductionCandidates.cpp - Reductions, softmax, normalizations ---------------------===//
#include "compiler/Lowering/Candidates/Candidates.h"
#include "dialects/Graph/PartialOps.h"
#include "kernels/norm/norm.h"
#include "kernels/reduce/reduce.h"
#include "kernels/scan/cumsum.h"
#include "kernels/softmax/rows.h"
#include "kernels/sort/top_k.h"

using namespace mlir;

namespace plim::lowering {
namespace {

static_assert(int(graph::ReduceKind::Sum) == PLIM_REDUCE_SUM && int(graph::ReduceKind::Mean) == PLIM_REDUCE_MEAN &&
              int(graph::ReduceKind::Max) == PLIM_REDUCE_MAX && int(graph::ReduceKind::Min) == PLIM_REDUCE_MIN &&
              int(graph::ReduceKind::Prod) == PLIM_REDUCE_PROD && int(graph::ReduceKind::L1) == PLIM_REDUCE_L1 &&
              int(graph::ReduceKind::L2) == PLIM_REDUCE_L2 &&
              int(graph::ReduceKind::SumSquare) == PLIM_REDUCE_SUM_SQUARE &&
              int(graph::ReduceKind::LogSum) == PLIM_REDUCE_LOG_SUM &&
              int(graph::ReduceKind::LogSumExp) == PLIM_REDUCE_LOG_SUM_EXP);

void reduce(graph::ReduceOp op, Candidates &candidates) {
  int64_t axes = 0;
  for (int64_t axis : op.getAxes())
    axes |= int64_t(1) << axis;
  LaunchBuilder launch(candidates);
  launch.read(op.getInput()).write(op.getResult());
  if (op.getKind() == graph::ReduceKind::Mean && axes == 6 && graph::rankOf(op.getInput()) == 4 &&
      graph::elementTypeOf(op.getInput()).isF32())
    launch.offer("reduce.nhwc_spatial_mean", {int64_t(op.getKind()), axes});
  if (candidates.empty())
    launch.offer("reduce.apply", {int64_t(op.getKind()), axes});
}

void partialMean(graph::PartialMeanOp op, Candidates &candidates) {
  LaunchBuilder launch(candidates);
  launch.read(op.getInput());
  if (op.getSums())
    launch.read(op.getSums());
  launch.write(op.getResult())
      .offer("reduce.nhwc_partial_mean", {int64_t(op.getFirst()), int64_t(op.getRows())}, "reduce.nhwc_spatial_mean");
}

void argReduce(graph::ArgReduceOp op, Candidates &candidates) {
  LaunchBuilder(candidates)
      .read(op.getInput())
      .write(op.getResult())
      .offer("reduce.arg",
             {int64_t(op.getAxis()), op.getKind() == graph::ArgReduceKind::Max, int64_t(op.getLastIndex())});
}

void softmax(graph::SoftmaxOp op, Candidates &candidates) {
  LaunchBuilder(candidates)
      .read(op.getInput())
      .write(op.getResult())
      .offer("softmax.rows", {int64_t(op.getAxis()), int64_t(op.getLog())});
}

/// The dims that a normalization over [axis, rank) gives its scale and bias.
SizesRef normalizedDims(const Candidates &candidates, Value input, int64_t axis) {
  return candidates.of(input).drop_front(size_t(axis));
}

void layerNorm(graph::LayerNormOp op, Candidates &candidates) {
  int64_t flags = (op.getScale() ? PLIM_NORM_SCALE : 0) | (op.getBias() ? PLIM_NORM_BIAS : 0);
  int64_t axis = int64_t(op.getAxis());
  LaunchBuilder launch(candidates);
  launch.read(op.getInput());
  if (op.getScale())
    launch.readBroadcast(op.getScale(), normalizedDims(candidates, op.getInput(), axis));
  if (op.getBias())
    launch.readBroadcast(op.getBias(), normalizedDims(candidates, op.getInput(), axis));
  launch.write(op.getResult()).offer("norm.layer", {flags, axis, word(op.getEpsilon()), 1});
}

void rmsNorm(graph::RmsNormOp op, Candidates &candidates) {
  int64_t axis = int64_t(op.getAxis());
  LaunchBuilder launch(candidates);
  launch.read(op.getInput());
  if (op.getScale())
    launch.readBroadcast(op.getScale(), normalizedDims(candidates, op.getInput(), axis));
  launch.write(op.getResult()).offer("norm.rms", {op.getScale() ? PLIM_NORM_SCALE : 0, axis, word(op.getEpsilon()), 1});
}

void batchNorm(graph::BatchNormOp op, Candidates &candidates) {
  int64_t axis = op.getLayout() == graph::ImageLayout::NHWC ? graph::rankOf(op.getInput()) - 1 : 1;
  LaunchBuilder(candidates)
      .read(op.getInput())
      .read(op.getScale())
      .read(op.getBias())
      .read(op.getMean())
      .read(op.getVariance())
      .write(op.getResult())
      .offer("norm.batch", {0, axis, word(op.getEpsilon()), 1});
}

void groupNorm(Value input, Value scale, Value bias, Value result, int64_t groups, double epsilon,
               Candidates &candidates) {
  LaunchBuilder(candidates)
      .read(input)
      .read(scale)
      .read(bias)
      .write(result)
      .offer("norm.group", {PLIM_NORM_SCALE | PLIM_NORM_BIAS, 1, word(epsilon), groups});
}

void groupNormOp(graph::GroupNormOp op, Candidates &candidates) {
  groupNorm(op.getInput(), op.getScale(), op.getBias(), op.getResult(), int64_t(op.getGroups()), op.getEpsilon(),
            candidates);
}

void instanceNorm(graph::InstanceNormOp op, Candidates &candidates) {
  if (std::optional<int64_t> channels = constantOf(candidates.of(op.getInput())[1]))
    groupNorm(op.getInput(), op.getScale(), op.getBias(), op.getResult(), *channels, op.getEpsilon(), candidates);
}

void cumsum(graph::CumsumOp op, Candidates &candidates) {
  LaunchBuilder(candidates)
      .read(op.getInput())
      .write(op.getResult())
      .offer("scan.cumsum", {int64_t(op.getAxis()), int64_t(op.getExclusive()), int64_t(op.getReverse())});
}

void topK(graph::TopKOp op, Candidates &candidates) {
  LaunchBuilder(candidates)
      .read(op.getInput())
      .write(op.getValues())
      .write(op.getIndices())
      .offer("sort.top_k", {int64_t(op.getAxis()), int64_t(op.getLargest())});
}

} // namespace

void registerReductionCandidates(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, graph::GraphDialect *) {
    using namespace graph;
    ReduceOp::attachInterface<CandidateModel<ReduceOp, reduce>>(*context);
    PartialMeanOp::attachInterface<CandidateModel<PartialMeanOp, partialMean>>(*context);
    CumsumOp::attachInterface<CandidateModel<CumsumOp, cumsum>>(*context);
    TopKOp::attachInterface<CandidateModel<TopKOp, topK>>(*context);
    ArgReduceOp::attachInterface<CandidateModel<ArgReduceOp, argReduce>>(*context);
    SoftmaxOp::attachInterface<CandidateModel<SoftmaxOp, softmax>>(*context);
    LayerNormOp::attachInterface<CandidateModel<LayerNormOp, layerNorm>>(*context);
    RmsNormOp::attachInterface<CandidateModel<RmsNormOp, rmsNorm>>(*context);
    BatchNormOp::attachInterface<CandidateModel<BatchNormOp, batchNorm>>(*context);
    GroupNormOp::attachInterface<CandidateModel<GroupNormOp, groupNormOp>>(*context);
    InstanceNormOp::attachInterface<CandidateModel<InstanceNormOp, instanceNorm>>(*context);
  });
}

} // namespace plim::lowering
