//===- RecurrentCandidates.cpp - The recurrence of LSTM, GRU and RNN ---------------------===//
#include "compiler/Lowering/Candidates/Candidates.h"
#include "kernels/recurrent/recurrent.h"
#include <cmath>

using namespace mlir;

namespace plim::lowering {
namespace {

int64_t functionCode(graph::GateFunction function) {
  switch (function) {
  case graph::GateFunction::Sigmoid:
    return PLIM_GATE_SIGMOID;
  case graph::GateFunction::Tanh:
    return PLIM_GATE_TANH;
  case graph::GateFunction::Relu:
    return PLIM_GATE_RELU;
  case graph::GateFunction::Affine:
    return PLIM_GATE_AFFINE;
  case graph::GateFunction::LeakyRelu:
    return PLIM_GATE_LEAKY_RELU;
  case graph::GateFunction::ThresholdedRelu:
    return PLIM_GATE_THRESHOLDED_RELU;
  case graph::GateFunction::ScaledTanh:
    return PLIM_GATE_SCALED_TANH;
  case graph::GateFunction::HardSigmoid:
    return PLIM_GATE_HARD_SIGMOID;
  case graph::GateFunction::Elu:
    return PLIM_GATE_ELU;
  case graph::GateFunction::Softsign:
    return PLIM_GATE_SOFTSIGN;
  case graph::GateFunction::Softplus:
    return PLIM_GATE_SOFTPLUS;
  }
  llvm_unreachable("function of a gate");
}

int64_t kindCode(graph::RecurrenceKind kind) {
  return kind == graph::RecurrenceKind::LSTM ? PLIM_LSTM : kind == graph::RecurrenceKind::GRU ? PLIM_GRU : PLIM_RNN;
}

void recurrence(graph::RecurrenceOp op, Candidates &candidates) {
  int64_t flags = 0;
  LaunchBuilder launch(candidates);
  launch.readThrough(op.getProjected()).read(op.getRecurrent());
  auto optional = [&](Value value, int64_t flag) {
    if (!value)
      return;
    launch.readThrough(value);
    flags |= flag;
  };
  optional(op.getBias(), PLIM_RECURRENT_BIAS);
  optional(op.getPeepholes(), PLIM_RECURRENT_PEEPHOLES);
  optional(op.getLengths(), PLIM_RECURRENT_LENGTHS);
  optional(op.getHidden(), PLIM_RECURRENT_HIDDEN);
  optional(op.getCell(), PLIM_RECURRENT_CELL);
  optional(op.getScale(), PLIM_RECURRENT_QUANTIZED);
  optional(op.getZeroPoint(), PLIM_RECURRENT_QUANTIZED);
  // The states of all steps are the largest of the results; often the last ones are all that is asked for.
  if (!op.getSequence().use_empty()) {
    launch.writeThrough(op.getSequence());
    flags |= PLIM_RECURRENT_SEQUENCE;
  }
  launch.write(op.getLastHidden());
  if (op.getLastCell())
    launch.write(op.getLastCell());

  if (op.getLinearBeforeReset())
    flags |= PLIM_RECURRENT_LINEAR_BEFORE_RESET;
  if (op.getInputForget())
    flags |= PLIM_RECURRENT_INPUT_FORGET;
  if (op.getDirection() == graph::Direction::Reverse)
    flags |= PLIM_RECURRENT_REVERSE;
  double clip = op.getClip();
  SmallVector<int64_t> attrs = {flags, kindCode(op.getKind()), word(clip > 0 ? clip : INFINITY)};
  for (auto [function, alpha, beta] : llvm::zip_equal(op.getActivations(), op.getAlphas(), op.getBetas()))
    attrs.append({functionCode(cast<graph::GateFunctionAttr>(function).getValue()), word(alpha), word(beta)});
  if (!graph::layoutOf(op.getRecurrent().getType()))
    launch.offer("recurrent.reference", attrs);
  else
    launch.offer(op.isQuantized() ? "recurrent.quantized" : "recurrent.packed", attrs);
}

} // namespace

void registerRecurrentCandidates(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, graph::GraphDialect *) {
    graph::RecurrenceOp::attachInterface<CandidateModel<graph::RecurrenceOp, recurrence>>(*context);
  });
}

} // namespace plim::lowering
