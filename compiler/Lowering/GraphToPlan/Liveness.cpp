//===- Liveness.cpp - Which ops make launches, and which values need bytes ----------------===//
#include "compiler/Lowering/GraphToPlan/Liveness.h"
#include "compiler/Lowering/GraphToPlan/GraphToPlan.h"

using namespace mlir;

namespace plim::lowering {
namespace {

/// Ops that name bytes but make none.
bool isStorageOnly(Operation *op) {
  return isa<graph::ReshapeOp, graph::ParameterOp, graph::ConstantOp>(op) || op->hasTrait<OpTrait::IsTerminator>();
}

bool sameOperands(const graph::KernelCandidate &a, const graph::KernelCandidate &b) {
  if (a.operands.size() != b.operands.size())
    return false;
  for (auto [x, y] : llvm::zip(a.operands, b.operands))
    if (x.value != y.value || x.access != y.access || x.dims != y.dims || x.strides != y.strides ||
        x.offset != y.offset)
      return false;
  return true;
}

} // namespace

Value storageOf(Value value) {
  while (auto reshape = value.getDefiningOp<graph::ReshapeOp>())
    value = reshape.getInput();
  return value;
}

FailureOr<LaunchList> collectLaunches(func::FuncOp function, const graph::SizeSource &sizes,
                                      function_ref<bool(Operation *)> generates) {
  LaunchList list;
  Block &block = function.getBody().front();
  // Candidates of every op, and the values that an op writes although another op is their definition.
  llvm::MapVector<Operation *, SmallVector<graph::KernelCandidate, 1>> candidates;
  DenseMap<Value, Operation *> writtenBy;
  SmallVector<Operation *> without;
  DenseSet<Operation *> generated;
  for (Operation &op : block) {
    if (isStorageOnly(&op))
      continue;
    if (generates(&op)) {
      generated.insert(&op);
      continue;
    }
    SmallVector<graph::KernelCandidate, 1> &mine = candidates[&op];
    if (auto open = dyn_cast<graph::CandidatesOpInterface>(op))
      open.getCandidates(sizes, mine);
    if (mine.empty()) {
      without.push_back(&op);
      continue;
    }
    llvm::erase_if(mine, [&](const graph::KernelCandidate &c) { return !sameOperands(c, mine.front()); });
    for (const graph::LaunchOperand &o : mine.front().operands)
      if (o.access != graph::Access::Read && o.value.getDefiningOp() != &op)
        writtenBy[o.value] = &op;
  }

  auto need = [&](Value v) { list.needed.insert(storageOf(v)); };
  DenseSet<Operation *> launched;
  for (Operation &op : llvm::reverse(block)) {
    if (op.hasTrait<OpTrait::IsTerminator>()) {
      for (Value v : op.getOperands())
        need(v);
      continue;
    }
    if (isStorageOnly(&op))
      continue;
    if (generated.contains(&op)) {
      if (llvm::none_of(op.getResults(), [&](Value v) { return list.needed.contains(v) && !writtenBy.contains(v); }))
        continue;
      launched.insert(&op);
      for (Value v : op.getOperands())
        need(v);
      continue;
    }
    auto found = candidates.find(&op);
    if (found == candidates.end() || found->second.empty()) {
      for (Value v : op.getOperands())
        need(v);
      continue;
    }
    if (llvm::all_of(op.getResults(), [&](Value v) { return writtenBy.contains(v); }))
      continue;
    const graph::KernelCandidate &first = found->second.front();
    bool wanted = llvm::any_of(first.operands, [&](const graph::LaunchOperand &o) {
      return o.access != graph::Access::Read && list.needed.contains(o.value);
    });
    if (!wanted)
      continue;
    launched.insert(&op);
    for (const graph::LaunchOperand &o : first.operands)
      need(o.value);
  }

  for (Operation *op : without) {
    // An op that nothing needs is no obstacle.
    if (llvm::none_of(op->getResults(), [&](Value v) { return list.needed.contains(v); }))
      continue;
    InFlightDiagnostic diag = op->emitError("no kernel can run '") << op->getName() << "' (" << sourceName(op) << ")";
    diag.attachNote() << "need a library kernel for operands (" << op->getOperandTypes() << ") and results ("
                      << op->getResultTypes() << "), have none";
    list.entries.clear();
  }
  if (llvm::any_of(without, [&](Operation *op) {
        return llvm::any_of(op->getResults(), [&](Value v) { return list.needed.contains(v); });
      }))
    return failure();
  for (Operation &op : block)
    if (launched.contains(&op))
      list.entries.push_back(
          {&op, isa<graph::FusedOp>(op) ? SmallVector<graph::KernelCandidate, 1>() : candidates[&op]});
  return list;
}

} // namespace plim::lowering
