//===- QuantizedCandidates.cpp - Matrix products of operands that are stored in few bits --===//
#include "compiler/Lowering/Candidates/Candidates.h"
#include "kernels/matmul/integer.h"
#include "kernels/matmul/quantized.h"

using namespace mlir;

namespace plim::lowering {
namespace {

void quantizedMatmul(graph::QuantizedMatmulOp op, Candidates &candidates) {
  LaunchBuilder launch(candidates);
  launch.read(op.getLhs()).read(op.getRhs());
  int64_t flags = 0;
  for (auto [value, flag] : {std::pair<Value, int64_t>(op.getScale(), PLIM_QUANTIZED_SCALE),
                             {op.getZero(), PLIM_QUANTIZED_ZERO},
                             {op.getBias(), PLIM_EPILOGUE_BIAS},
                             {op.getResidual(), PLIM_EPILOGUE_RESIDUAL}})
    if (value) {
      launch.read(value);
      flags |= flag;
    }
  launch.write(op.getResult());
  SmallVector<int64_t> attrs = {flags, activationCode(op.getActivation()), word(op.getAlpha()), word(op.getBeta())};
  if (graph::layoutOf(op.getRhs().getType()))
    launch.offer("matmul.quantized_panel32", attrs);
  if (candidates.empty())
    launch.offer("matmul.quantized_reference", attrs);
}

void integerMatmul(graph::IntegerMatmulOp op, Candidates &candidates) {
  SizesRef rhs = candidates.of(op.getRhs()), result = candidates.of(op.getResult());
  AffineExpr one = getAffineConstantExpr(1, result.front().getContext());
  Sizes lhsDims(result.drop_back()), rhsDims(rhs.size() == 2 ? SizesRef() : result.drop_back(2));
  lhsDims.push_back(rhs[rhs.size() - 2]);
  rhsDims.append({rhs[rhs.size() - 2], rhs.back()});
  bool packed = graph::layoutOf(op.getRhs().getType()).has_value();
  LaunchBuilder launch(candidates);
  launch.readBroadcast(op.getLhs(), lhsDims);
  if (packed)
    launch.read(op.getRhs());
  else
    launch.readBroadcast(op.getRhs(), rhsDims);
  int64_t flags = 0;
  if (op.getLhsZero()) {
    lhsDims.back() = one;
    flags |= PLIM_INTEGER_A_ZERO;
    launch.readBroadcast(op.getLhsZero(), lhsDims);
  }
  if (op.getRhsZero()) {
    rhsDims[rhsDims.size() - 2] = one;
    flags |= PLIM_INTEGER_B_ZERO;
    launch.readBroadcast(op.getRhsZero(), rhsDims);
  }
  launch.write(op.getResult());
  if (packed)
    launch.offer("matmul.integer_panel32", {flags});
  if (candidates.empty())
    launch.offer("matmul.integer_reference", {flags});
}

} // namespace

void registerQuantizedCandidates(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, graph::GraphDialect *) {
    graph::QuantizedMatmulOp::attachInterface<CandidateModel<graph::QuantizedMatmulOp, quantizedMatmul>>(*context);
    graph::IntegerMatmulOp::attachInterface<CandidateModel<graph::IntegerMatmulOp, integerMatmul>>(*context);
  });
}

} // namespace plim::lowering
