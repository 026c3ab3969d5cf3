//===- MovementCandidates.cpp - Ops that move elements by position -----------------------===//
#include "compiler/Lowering/Candidates/Candidates.h"
#include "kernels/copy/concat.h"

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

} // namespace

void registerMovementCandidates(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, graph::GraphDialect *) {
    using namespace graph;
    TransposeOp::attachInterface<CandidateModel<TransposeOp, stridedCopy<TransposeOp>>>(*context);
    SliceOp::attachInterface<CandidateModel<SliceOp, stridedCopy<SliceOp>>>(*context);
    BroadcastOp::attachInterface<CandidateModel<BroadcastOp, broadcast>>(*context);
    ConcatOp::attachInterface<CandidateModel<ConcatOp, concat>>(*context);
  });
}

} // namespace plim::lowering
