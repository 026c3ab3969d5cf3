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

/// Asks all ops for their kernels first, then goes backwards from what the function returns.
class LaunchCollector {
public:
  LaunchCollector(const graph::SizeSource &sizes, function_ref<bool(Operation *)> generates)
      : sizes(sizes), generates(generates) {}

  FailureOr<LaunchList> run(func::FuncOp function) {
    Block &block = function.getBody().front();
    askForKernels(block);
    demand(block);
    if (!reportMissing())
      return failure();
    return std::move(list);
  }

private:
  void askForKernels(Block &block);
  /// What the ops of a block need, last to first.
  void demand(Block &block);
  void demand(Operation *op);
  bool reportMissing();

  void need(Value value) { list.needed.insert(storageOf(value)); }
  bool isNeeded(Value value) const { return list.needed.contains(value); }
  /// Marks the op as launched with what it reads.
  void take(Operation *op, ValueRange operands) {
    list.launches[op];
    for (Value v : operands)
      need(v);
  }

  const graph::SizeSource &sizes;
  function_ref<bool(Operation *)> generates;
  LaunchList list;
  llvm::DenseMap<Operation *, SmallVector<graph::KernelCandidate, 1>> candidates;
  DenseMap<Value, Operation *> writtenBy; // values that an op writes although another op is their definition
  DenseSet<Operation *> generated;
  SmallVector<Operation *> without; // ops that have no kernel
};

void LaunchCollector::askForKernels(Block &block) {
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
}

void LaunchCollector::demand(Block &block) {
  for (Operation &op : llvm::reverse(block)) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      llvm::for_each(op.getOperands(), [&](Value v) { need(v); });
    else if (!isStorageOnly(&op))
      demand(&op);
  }
}

void LaunchCollector::demand(Operation *op) {
  if (generated.contains(op)) {
    if (llvm::any_of(op->getResults(), [&](Value v) { return isNeeded(v) && !writtenBy.contains(v); }))
      take(op, op->getOperands());
    return;
  }
  auto found = candidates.find(op);
  if (found == candidates.end() || found->second.empty()) {
    llvm::for_each(op->getOperands(), [&](Value v) { need(v); });
    return;
  }
  if (llvm::all_of(op->getResults(), [&](Value v) { return writtenBy.contains(v); }))
    return;
  ArrayRef<graph::LaunchOperand> operands = found->second.front().operands;
  if (llvm::none_of(operands, [&](const graph::LaunchOperand &o) {
        return o.access != graph::Access::Read && isNeeded(o.value);
      }))
    return;
  for (const graph::LaunchOperand &o : operands)
    need(o.value);
  list.launches[op] = std::move(found->second);
}

bool LaunchCollector::reportMissing() {
  bool ok = true;
  for (Operation *op : without) {
    // An op that nothing needs is no obstacle.
    if (llvm::none_of(op->getResults(), [&](Value v) { return isNeeded(v); }))
      continue;
    InFlightDiagnostic diag = op->emitError("no kernel can run '") << op->getName() << "' (" << sourceName(op) << ")";
    diag.attachNote() << "need a library kernel for operands (" << op->getOperandTypes() << ") and results ("
                      << op->getResultTypes() << "), have none";
    ok = false;
  }
  return ok;
}

FailureOr<LaunchList> collectLaunches(func::FuncOp function, const graph::SizeSource &sizes,
                                      function_ref<bool(Operation *)> generates) {
  return LaunchCollector(sizes, generates).run(function);
}

} // namespace plim::lowering
