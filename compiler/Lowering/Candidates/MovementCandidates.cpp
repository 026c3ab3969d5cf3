//===- MovementCandidates.cpp - Ops that move elements by position -----------------------===//
#include "compiler/Lowering/Candidates/Candidates.h"
#include "kernels/copy/concat.h"
#include "kernels/fill/fill.h"
#include "kernels/gather/gather.h"
#include "kernels/pad/apply.h"
#include "kernels/scatter/scatter.h"

using namespace mlir;

namespace plim::lowering {
namespace {

/// Transpositions and slices are strided copies of what they start from.
template <typename OpTy> void stridedCopy(OpTy op, Candidates &candidates) {
  StridedView view = viewThrough(op.getResult());
  if (llvm::any_of(view.strides, [](int64_t s) { return s < 0; }))
    return;
  LaunchBuilder()
      .readAs(view.value, view.dims, view.strides, view.offset)
      .write(op.getResult())
      .offer("copy.strided", {}, candidates);
}

void broadcast(graph::BroadcastOp op, Candidates &candidates) {
  LaunchBuilder()
      .readBroadcast(op.getInput(), staticDims(op.getResult()))
      .write(op.getResult())
      .offer("copy.strided", {}, candidates);
}

void concat(graph::ConcatOp op, Candidates &candidates) {
  LaunchBuilder launch;
  for (Value v : op.getInputs())
    launch.read(v);
  launch.write(op.getResult()).offer("copy.concat", {int64_t(op.getAxis())}, candidates);
}

void pad(graph::PadOp op, Candidates &candidates) {
  SmallVector<int64_t> attrs(PLIM_PAD_WORDS, 0);
  switch (op.getMode()) {
  case graph::PadMode::Constant:
    attrs[PLIM_PAD_MODE] = PLIM_PAD_CONSTANT;
    break;
  case graph::PadMode::Edge:
    attrs[PLIM_PAD_MODE] = PLIM_PAD_EDGE;
    break;
  case graph::PadMode::Reflect:
    attrs[PLIM_PAD_MODE] = PLIM_PAD_REFLECT;
    break;
  case graph::PadMode::Wrap:
    attrs[PLIM_PAD_MODE] = PLIM_PAD_WRAP;
    break;
  }
  attrs[PLIM_PAD_VALUE] = word(op.getValue());
  for (auto [d, low] : llvm::enumerate(op.getLow()))
    attrs[PLIM_PAD_BEGIN + d] = low;
  LaunchBuilder().read(op.getInput()).write(op.getResult()).offer("pad.apply", attrs, candidates);
}

/// Every element START + 0 * coordinate.
void fill(graph::FillOp op, Candidates &candidates) {
  bool isFloat = isa<FloatType>(graph::elementTypeOf(op.getResult()));
  double value = op.getValue();
  LaunchBuilder().write(op.getResult()).offer("fill.iota", {-1, isFloat ? word(value) : int64_t(value), 0}, candidates);
}

template <typename OpTy> void gather(OpTy op, StringRef kernel, int64_t axis, Candidates &candidates) {
  LaunchBuilder().read(op.getInput()).read(op.getIndices()).write(op.getResult()).offer(kernel, {axis}, candidates);
}
void gatherAxis(graph::GatherOp op, Candidates &candidates) {
  gather(op, "gather.axis", int64_t(op.getAxis()), candidates);
}
void gatherElements(graph::GatherElementsOp op, Candidates &candidates) {
  gather(op, "gather.elements", int64_t(op.getAxis()), candidates);
}
void gatherNd(graph::GatherNdOp op, Candidates &candidates) {
  gather(op, "gather.nd", int64_t(op.getBatchDims()), candidates);
}

template <typename OpTy> void scatter(OpTy op, StringRef kernel, int64_t axis, Candidates &candidates) {
  LaunchBuilder()
      .read(op.getInput())
      .read(op.getIndices())
      .read(op.getUpdates())
      .write(op.getResult())
      .offer(kernel, {axis, int64_t(op.getReduction())}, candidates);
}
void scatterElements(graph::ScatterElementsOp op, Candidates &candidates) {
  scatter(op, "scatter.elements", int64_t(op.getAxis()), candidates);
}
void scatterNd(graph::ScatterNdOp op, Candidates &candidates) { scatter(op, "scatter.nd", 0, candidates); }

} // namespace

void registerMovementCandidates(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, graph::GraphDialect *) {
    using namespace graph;
    TransposeOp::attachInterface<CandidateModel<TransposeOp, stridedCopy<TransposeOp>>>(*context);
    SliceOp::attachInterface<CandidateModel<SliceOp, stridedCopy<SliceOp>>>(*context);
    BroadcastOp::attachInterface<CandidateModel<BroadcastOp, broadcast>>(*context);
    PadOp::attachInterface<CandidateModel<PadOp, pad>>(*context);
    FillOp::attachInterface<CandidateModel<FillOp, fill>>(*context);
    GatherOp::attachInterface<CandidateModel<GatherOp, gatherAxis>>(*context);
    GatherElementsOp::attachInterface<CandidateModel<GatherElementsOp, gatherElements>>(*context);
    GatherNdOp::attachInterface<CandidateModel<GatherNdOp, gatherNd>>(*context);
    ScatterElementsOp::attachInterface<CandidateModel<ScatterElementsOp, scatterElements>>(*context);
    ScatterNdOp::attachInterface<CandidateModel<ScatterNdOp, scatterNd>>(*context);
    ConcatOp::attachInterface<CandidateModel<ConcatOp, concat>>(*context);
  });
}

} // namespace plim::lowering
