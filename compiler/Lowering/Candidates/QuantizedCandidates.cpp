//===- QuantizedCandidates.cpp - Products of operands that are stored in few bits ---------===//
#include "compiler/Lowering/Candidates/Candidates.h"
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

} // namespace

void registerQuantizedCandidates(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, graph::GraphDialect *) {
    graph::QuantizedMatmulOp::attachInterface<CandidateModel<graph::QuantizedMatmulOp, quantizedMatmul>>(*context);
  });
}

} // namespace plim::lowering
