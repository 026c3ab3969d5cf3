//===- DynamicCandidates.cpp - Ops whose sizes are values of the run ----------------------===//
#include "compiler/Lowering/Candidates/Candidates.h"
#include "kernels/select/select.h"

using namespace mlir;

namespace plim::lowering {
namespace {

/// Of a reshape that cannot be a view: the same elements in order.
template <typename OpTy> void reshape(OpTy op, Candidates &candidates) {
  LaunchBuilder(candidates).read(op.getInput()).write(op.getResult()).offer("copy.strided", {});
}

void range(graph::DynamicRangeOp op, Candidates &candidates) {
  LaunchBuilder(candidates).read(op.getStart()).read(op.getStep()).write(op.getResult()).offer("fill.range", {});
}

void nonzero(graph::NonzeroOp op, Candidates &candidates) {
  LaunchBuilder(candidates).read(op.getInput()).write(op.getResult()).offer("select.nonzero", {});
}

void unique(graph::UniqueOp op, Candidates &candidates) {
  LaunchBuilder launch(candidates);
  launch.read(op.getInput());
  for (Value result : op->getResults())
    launch.write(result);
  launch.offer("select.unique", {op.getAxis(), op.getSorted()});
}

void nonMaxSuppression(graph::NonMaxSuppressionOp op, Candidates &candidates) {
  LaunchBuilder launch(candidates);
  for (Value operand : op->getOperands())
    launch.read(operand);
  launch.write(op.getSelected()).write(op.getCount()).offer("select.non_max_suppression", {op.getCenter()});
}

} // namespace

void registerDynamicCandidates(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, graph::GraphDialect *) {
    using namespace graph;
    ReshapeOp::attachInterface<CandidateModel<ReshapeOp, reshape<ReshapeOp>>>(*context);
    DynamicReshapeOp::attachInterface<CandidateModel<DynamicReshapeOp, reshape<DynamicReshapeOp>>>(*context);
    DynamicRangeOp::attachInterface<CandidateModel<DynamicRangeOp, range>>(*context);
    NonzeroOp::attachInterface<CandidateModel<NonzeroOp, nonzero>>(*context);
    UniqueOp::attachInterface<CandidateModel<UniqueOp, unique>>(*context);
    NonMaxSuppressionOp::attachInterface<CandidateModel<NonMaxSuppressionOp, nonMaxSuppression>>(*context);
  });
}

} // namespace plim::lowering
