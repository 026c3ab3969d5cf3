//===- States.cpp - What lasts from run to run ------------------------------------------------===//
//
// A variable is a plan.state; a read of it names the state's own bytes. The size of states that grow is a state too, an
// i64: the program starts by loading it, checks that the states have room for what the run appends, and ends by storing
// the next size. So what lies beyond the size does not count, and a run that is refused or cancelled has changed
// nothing.
//
// The next value of a state is written in place where it can be: appended behind the old one, or by its producer where
// nothing reads the old one from there on. Else it is copied at the end. Launches that write states are not pure, so
// they stay behind the checks and in order.
//
//===---------------------------------------------------------------------------------------===//
#include "compiler/Lowering/GraphToPlan/ProgramLowering.h"
#include "compiler/Lowering/KernelType.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"

using namespace mlir;

namespace plim::lowering {

void ModuleLowering::declareState(StringRef name, plan::ShapeAttr shape, int64_t bytes, bool durable) {
  if (!startDeclaration(name))
    return;
  plan::StateOp::create(b, module().getLoc(), name, bytes, shape, FlatSymbolRefAttr(), durable);
}

std::string ModuleLowering::sizeStateName(StringRef size) const {
  std::string name = size.str();
  while (taken.contains(name))
    name += ".size";
  return name;
}

Value ProgramLowering::stateResident(StringRef name, plan::ShapeAttr shape, int64_t bytes, bool durable, Location loc) {
  shared.declareState(name, shape, bytes, durable);
  return addResident(name, bytes, loc);
}

void ProgramLowering::addStates() {
  function.walk([&](Operation *op) {
    if (!isa<graph::ReadOp, graph::AssignOp>(op))
      return;
    graph::VariableOp variable = variableOf(op);
    Value &home = stateBuffers[variable];
    if (!home) {
      SmallVector<int64_t> dims = largestDims(variable);
      Type element = variable.getTensorType().getElementType();
      int64_t bytes = graph::elementBytes(element);
      for (int64_t dim : dims)
        bytes *= dim;
      auto shape = plan::ShapeAttr::get(context, plan::DType(kernelType(element)), dims);
      home = stateResident(variable.getSymName(), shape, bytes, variable.getDurable(), variable.getLoc());
    }
    if (auto read = dyn_cast<graph::ReadOp>(op))
      buffers[read] = home;
  });
  for (auto &[value, variable] : sizes.growingStates().heldIn)
    buffers[value] = stateBuffers.lookup(variable);
  auto scalar = plan::ShapeAttr::get(context, plan::DType::I64, {});
  size_t number = sizes.callerSymbols().size();
  for (const SymbolicDims::Symbol &size : sizes.stateSymbols()) {
    Value home = stateResident(shared.sizeStateName(size.name), scalar, 8, /*durable=*/true, function.getLoc());
    sizeBuffers.push_back(home);
    symbolValues[number++] =
        plan::LoadScalarOp::create(b, function.getLoc(), b.getIndexType(), home, 0, plan::DType::I64, size.bounds.lo,
                                   size.bounds.hi, b.getStringAttr(size.name));
  }
  placeNextValues();
}

/// Whether the old value is read by the producer of the next one, or behind it.
bool ProgramLowering::isReadFrom(graph::AssignOp assign, Operation *producer) const {
  auto isBefore = [&](Operation *user) {
    Operation *at = producer->getBlock()->findAncestorOpInBlock(*user);
    return at && at->isBeforeInBlock(producer);
  };
  bool isRead = false;
  func::FuncOp(function).walk([&](graph::ReadOp read) {
    isRead |= read.getVariableAttr() == assign.getVariableAttr() && !allReaders(read, isBefore);
  });
  return isRead;
}

void ProgramLowering::placeNextValues() {
  for (auto assign : function.getBody().front().getOps<graph::AssignOp>()) {
    graph::VariableOp variable = variableOf(assign);
    Value root = storageOf(assign.getValue());
    Operation *producer = root.getDefiningOp();
    if (variable.getSize() || !producer || producer->getBlock() != assign->getBlock() || buffers.contains(root) ||
        isa<graph::ParameterOp, graph::ConstantOp, graph::ReadOp>(producer) ||
        !cast<RankedTensorType>(root.getType()).hasStaticShape())
      continue;
    // A transposition may be written by what it transposes.
    Operation *first = producer;
    if (auto transpose = dyn_cast<graph::TransposeOp>(producer))
      if (Operation *before = transpose.getInput().getDefiningOp(); before && before->getBlock() == assign->getBlock())
        first = before;
    if (!isReadFrom(assign, first))
      buffers[root] = stateBuffers.lookup(variable);
  }
}

void ProgramLowering::appendKernels(Operation *op, SmallVectorImpl<graph::KernelCandidate> &list) const {
  if (!sizes.growingStates().appends.contains(op))
    return;
  auto concat = cast<graph::ConcatOp>(op);
  Value result = concat.getResult(), added = concat.getInputs()[1];
  Sizes strides = sizes.stridesOf(result);
  size_t axis = size_t(concat.getAxis());
  AffineExpr offset = sizes.sizesOf(concat.getInputs()[0])[axis] * strides[axis];
  Candidates candidates{sizes, list};
  LaunchBuilder(candidates)
      .readThrough(added)
      .writeAs(result, sizes.sizesOf(added), strides, offset)
      .offer("copy.strided", {});
}

void ProgramLowering::copyIntoState(Value value, Value from, graph::VariableOp variable, Location loc) {
  SmallVector<graph::KernelCandidate, 1> list;
  Candidates candidates{sizes, list};
  bool isOwn = from == bufferOf(value, "");
  SizesRef dims = sizes.sizesOf(value);
  LaunchBuilder(candidates)
      .readAs(value, dims, isOwn ? sizes.stridesOf(value) : rowMajor(dims))
      .writeAs(value, dims, stridesOfState(variable))
      .offer("copy.strided", {});
  createLaunch(loc, list.front(), ValueRange{from, stateBuffers.lookup(variable)}, variable.getSymName());
}

void ProgramLowering::assignStates() {
  struct Copy {
    graph::AssignOp assign;
    Value from;
  };
  SmallVector<Copy> open;
  for (auto assign : function.getBody().front().getOps<graph::AssignOp>()) {
    Value home = stateBuffers.lookup(variableOf(assign)), from = bufferOf(assign.getValue(), "state");
    if (from != home)
      open.push_back({assign, from});
  }
  // States that swap: all old values are saved before a new one is written.
  for (Copy &copy : open) {
    Value value = copy.assign.getValue();
    if (!isa_and_present<graph::ReadOp>(storageOf(value).getDefiningOp()))
      continue;
    Value saved = plan::AllocOp::create(b, copy.assign.getLoc(),
                                        plan::BufferType::get(context, sizes.largestBytes(value)), "state");
    copyValue(value, saved, copy.assign.getLoc(), "state");
    copy.from = saved;
  }
  for (Copy &copy : open)
    copyIntoState(copy.assign.getValue(), copy.from, variableOf(copy.assign), copy.assign.getLoc());
  for (const StateSizes::Next &next : sizes.growingStates().next) {
    unsigned number = next.symbol - unsigned(sizes.callerSymbols().size());
    if (next.size == getAffineSymbolExpr(next.symbol, context))
      continue;
    Value size = scalarsOf({next.size}, StringAttr())[0];
    StringRef name = sizes.stateSymbols()[number].name;
    plan::CandidateSpec store{.kernel = "fill.scalars", .tasks = 1, .ns = 1, .numerics = "fill.scalars"};
    auto access = plan::AccessAttr::get(plan::AccessMode::Write, plan::ShapeAttr::get(context, plan::DType::I64, {}));
    plan::LaunchOp::create(b, function.getLoc(), {plan::CandidateAttr::get(context, store)},
                           ValueRange{sizeBuffers[number]}, {access}, name, /*pure=*/false, ValueRange{size});
  }
}

} // namespace plim::lowering
