//===- Liveness.cpp - Which ops make launches, and which values need bytes ----------------===//
#include "compiler/Lowering/GraphToPlan/Liveness.h"
#include "compiler/Lowering/GraphToPlan/ControlFlow.h"
#include "compiler/Lowering/GraphToPlan/GraphToPlan.h"

using namespace mlir;

namespace plim::lowering {
namespace {

/// Whether an op gives bytes another shape.
bool isView(Operation *op) {
  return isa_and_present<graph::ReshapeOp, graph::DynamicReshapeOp>(op) && !op->hasAttr(SymbolicDims::kCopies);
}

/// Ops that name bytes but make none.
bool isStorageOnly(Operation *op) {
  return isView(op) || isa<graph::ParameterOp, graph::ConstantOp, graph::ReadOp>(op) ||
         op->hasTrait<OpTrait::IsTerminator>();
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
  while (isView(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

bool allReaders(Value value, function_ref<bool(Operation *)> accepts) {
  DenseSet<Value> names{value};
  SmallVector<Value> open{value};
  while (!open.empty())
    for (Operation *user : open.pop_back_val().getUsers()) {
      if (!accepts(user))
        return false;
      if (isa<graph::ReshapeOp, graph::DynamicReshapeOp, graph::TransposeOp, graph::SliceOp, graph::DynamicSliceOp>(
              user) &&
          names.insert(user->getResult(0)).second)
        open.push_back(user->getResult(0));
    }
  return true;
}

/// Asks all ops for their kernels first, then goes backwards from what the function returns.
class LaunchCollector {
public:
  using Append = function_ref<void(Operation *, SmallVectorImpl<graph::KernelCandidate> &)>;
  LaunchCollector(const SymbolicDims &sizes, function_ref<bool(Operation *)> generates, Append append)
      : sizes(sizes), generates(generates), append(append) {}

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
  void demand(graph::IfOp branch);
  void demand(graph::LoopOp loop);
  /// Whether a branch or loop runs: for the bytes that it gives, or for their sizes.
  bool isWanted(Operation *op) const {
    return llvm::any_of(op->getResults(),
                        [&](Value v) { return isNeeded(v) || (!v.use_empty() && !sizes.regionSizes(op).empty()); });
  }
  bool reportMissing();

  void need(Value value) { list.needed.insert(storageOf(value)); }
  bool isNeeded(Value value) const { return list.needed.contains(value); }
  /// Marks the op as launched with what it reads.
  void take(Operation *op, ValueRange operands) {
    list.launches[op];
    for (Value v : operands)
      need(v);
  }

  const SymbolicDims &sizes;
  function_ref<bool(Operation *)> generates;
  Append append;
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
    if (isa<graph::IfOp, graph::LoopOp>(op)) {
      for (Region &region : op.getRegions())
        askForKernels(region.front());
      continue;
    }
    if (op.getNumResults() == 1 && sizes.isMadeOfSizes(op.getResult(0)))
      continue;
    if (generates(&op)) {
      generated.insert(&op);
      continue;
    }
    SmallVector<graph::KernelCandidate, 1> &mine = candidates[&op];
    append(&op, mine);
    if (auto open = dyn_cast<graph::CandidatesOpInterface>(op); open && mine.empty())
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
    // What a region needs of its values, the op that it belongs to says.
    if (op.hasTrait<OpTrait::IsTerminator>() && !isa<graph::YieldOp>(op))
      llvm::for_each(op.getOperands(), [&](Value v) { need(v); });
    else if (!isStorageOnly(&op))
      demand(&op);
    // What a run reads for the sizes of this op.
    for (const SymbolicDims::Definition &definition : sizes.definitions())
      if (definition.op == &op && definition.kind == SymbolicDims::Definition::Load)
        need(definition.tensor);
  }
}

void LaunchCollector::demand(graph::IfOp branch) {
  if (!isWanted(branch))
    return;
  list.launches[branch];
  if (!knownScalar(branch.getCondition()))
    need(branch.getCondition());
  for (Region &region : branch->getRegions()) {
    for (auto [result, value] : llvm::zip_equal(branch.getResults(), region.front().getTerminator()->getOperands()))
      if (isNeeded(result))
        need(value);
    demand(region.front());
  }
}

void LaunchCollector::demand(graph::LoopOp loop) {
  if (!isWanted(loop))
    return;
  list.launches[loop];
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    if (i < loop.getCarriedCount() || isNeeded(loop.getResult(i)))
      need(loop.getYielded(i));
  llvm::for_each(loop.getInitial(), [&](Value v) { need(v); });
  SmallVector<Value> header{loop.getTrips()};
  if (isConditional(loop))
    header.append({loop.getCondition(), loop.getNextCondition()});
  for (Value scalar : header)
    if (!knownScalar(scalar) && scalar != loop.getBlock()->getArgument(1))
      need(scalar);
  demand(*loop.getBlock());
}

void LaunchCollector::demand(Operation *op) {
  if (auto branch = dyn_cast<graph::IfOp>(op))
    return demand(branch);
  if (auto loop = dyn_cast<graph::LoopOp>(op))
    return demand(loop);
  if (op->getNumResults() == 1 && sizes.isMadeOfSizes(op->getResult(0))) {
    if (isNeeded(op->getResult(0)))
      take(op, {});
    return;
  }
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

FailureOr<LaunchList>
collectLaunches(func::FuncOp function, const SymbolicDims &sizes, function_ref<bool(Operation *)> generates,
                function_ref<void(Operation *, SmallVectorImpl<graph::KernelCandidate> &)> append) {
  return LaunchCollector(sizes, generates, append).run(function);
}

} // namespace plim::lowering
