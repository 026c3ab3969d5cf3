//===- PlanSteps.cpp - Questions about steps that passes and the encoder share ------------------===//

#include "dialects/Plan/PlanSteps.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace plim::plan;

SmallVector<BufferUse> plim::plan::bufferUses(Operation *step) {
  SmallVector<BufferUse> uses;
  if (auto launch = dyn_cast<LaunchOp>(step)) {
    for (auto [operand, access] :
         llvm::zip_equal(launch.getBuffersMutable(), launch.getAccesses().getAsRange<AccessAttr>()))
      uses.push_back({&operand, access.getMode()});
    for (OpOperand &operand : launch.getWorkspaceMutable())
      uses.push_back({&operand, AccessMode::ReadWrite});
  } else if (auto copy = dyn_cast<CopyOp>(step)) {
    uses.push_back({&copy.getSrcMutable(), AccessMode::Read});
    uses.push_back({&copy.getDstMutable(), AccessMode::Write});
  } else if (auto fill = dyn_cast<FillOp>(step)) {
    uses.push_back({&fill.getDstMutable(), AccessMode::Write});
  } else if (auto load = dyn_cast<LoadScalarOp>(step)) {
    uses.push_back({&load.getBufferMutable(), AccessMode::Read});
  }
  return uses;
}

bool plim::plan::isStep(Operation *op) {
  return isa<LaunchOp, CopyOp, FillOp, WaitOp, CheckOp, LoadScalarOp, EvalOp, IfOp, LoopOp, MarkOp, ReturnOp>(op);
}

static int64_t countTableSteps(Region &region) {
  int64_t steps = 0;
  for (Operation &op : region.getOps())
    steps += plim::plan::countTableSteps(&op);
  return steps;
}

int64_t plim::plan::countTableSteps(Operation *op) {
  if (auto branch = dyn_cast<IfOp>(op)) {
    // BRANCH then-steps, and where there is an else region BRANCH else-steps.
    int64_t steps = 1 + ::countTableSteps(branch.getThenRegion());
    return branch.getElseRegion().empty() ? steps : steps + 1 + ::countTableSteps(branch.getElseRegion());
  }
  if (auto loop = dyn_cast<LoopOp>(op))
    return 2 + ::countTableSteps(loop.getBody()); // LOOP, NEXT
  return isStep(op) ? 1 : 0;
}

Value plim::plan::rootBuffer(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewOp>()) {
    if (!view.getBase())
      break;
    buffer = view.getBase();
  }
  return buffer;
}

FlatSymbolRefAttr plim::plan::stateOf(Value root) {
  if (auto argument = dyn_cast<BlockArgument>(root)) {
    auto program = dyn_cast<ProgramOp>(argument.getOwner()->getParentOp());
    unsigned symbols = program ? program.getSymbols().size() : 0;
    if (!program || argument.getArgNumber() < symbols)
      return {};
    return program.getIOAt(argument.getArgNumber() - symbols).getState();
  }
  auto resident = root.getDefiningOp<ResidentOp>();
  if (!resident)
    return {};
  auto module = resident->getParentOfType<ModuleOp>();
  auto symbol = module ? SymbolTable::lookupSymbolIn(module, resident.getSymbolAttr()) : nullptr;
  return isa_and_present<StateOp>(symbol) ? resident.getSymbolAttr() : FlatSymbolRefAttr();
}

Value plim::plan::tokenOf(Operation *step) {
  return TypeSwitch<Operation *, Value>(step)
      .Case<LaunchOp, CopyOp, FillOp>([](auto op) { return op.getToken(); })
      .Default(Value());
}

static void visitSteps(Region &region, int64_t &number, function_ref<void(Operation *, int64_t)> visit) {
  for (Operation &op : region.getOps()) {
    if (!isStep(&op))
      continue;
    visit(&op, number++);
    if (auto branch = dyn_cast<IfOp>(op)) {
      visitSteps(branch.getThenRegion(), number, visit);
      if (!branch.getElseRegion().empty()) {
        ++number;
        visitSteps(branch.getElseRegion(), number, visit);
      }
    } else if (auto loop = dyn_cast<LoopOp>(op)) {
      visitSteps(loop.getBody(), number, visit);
      ++number;
    }
  }
}

void plim::plan::forEachStep(ProgramOp program, function_ref<void(Operation *, int64_t)> visit) {
  int64_t number = 0;
  visitSteps(program.getBody(), number, visit);
}

std::optional<int64_t> plim::plan::firstStateWrite(ProgramOp program) {
  std::optional<int64_t> first;
  forEachStep(program, [&](Operation *step, int64_t number) {
    if (first)
      return;
    for (BufferUse use : bufferUses(step))
      if (use.writes() && stateOf(rootBuffer(use.operand->get())))
        first = number;
  });
  return first;
}
