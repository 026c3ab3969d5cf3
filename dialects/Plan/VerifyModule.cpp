//===- VerifyModule.cpp - References between the parts of a plan.module ----------------------------===//

#include "dialects/Plan/PlanSteps.h"

using namespace mlir;
using namespace plim::plan;

namespace {
struct ModuleVerifier {
  plim::plan::ModuleOp module;
  SymbolTable symbols;
  bool ok = true;

  explicit ModuleVerifier(plim::plan::ModuleOp module) : module(module), symbols(module) {}

  InFlightDiagnostic fail(Operation *op) {
    ok = false;
    return op->emitOpError();
  }

  /// [offset, offset + bytes) lies in the arena, which has the tier of the buffer.
  void checkArena(Operation *op, FlatSymbolRefAttr name, int64_t offset, BufferType type) {
    auto arena = symbols.lookup<ArenaOp>(name.getAttr());
    if (!arena) {
      fail(op) << "need an arena of the module, have " << name;
      return;
    }
    if (arena.getBufferType().getTier() != type.getTier())
      fail(op) << "need the tier of " << name;
    if (offset + type.getBytes() > arena.getBufferType().getBytes())
      fail(op) << "need a range in [0, " << arena.getBufferType().getBytes() << ") of " << name << ", have [" << offset
               << ", " << offset + type.getBytes() << ")";
  }

  void checkResident(ResidentOp op) {
    BufferType type = op.getBuffer().getType();
    Operation *symbol = symbols.lookup(op.getSymbolAttr().getAttr());
    auto constant = dyn_cast_or_null<ConstantOp>(symbol);
    auto state = dyn_cast_or_null<StateOp>(symbol);
    if (!constant && !state) {
      fail(op) << "need a constant or state of the module, have " << op.getSymbolAttr();
      return;
    }
    int64_t bytes = constant ? constant.getBytes() : state.getBytes();
    if (type.getBytes() != bytes)
      fail(op) << "need the " << bytes << " bytes of " << op.getSymbolAttr() << ", have " << type.getBytes();
    if (op.getInFile() && !constant)
      fail(op) << "need a constant for what lies in the weight file, have state " << op.getSymbolAttr();
    if (op.getArena())
      checkArena(op, op.getArenaAttr(), *op.getOffset(), type);
  }

  void checkProgram(ProgramOp program) {
    program.getBody().walk([&](Operation *op) {
      if (auto resident = dyn_cast<ResidentOp>(op))
        checkResident(resident);
      else if (auto view = dyn_cast<ViewOp>(op); view && view.getArena())
        checkArena(view, view.getArenaAttr(), view.getOffset(), view.getBuffer().getType());
    });
    for (auto [io, value] : llvm::zip_equal(program.getIos().getAsRange<IOAttr>(), program.getIOArguments())) {
      if (!io.getState())
        continue;
      auto state = symbols.lookup<StateOp>(io.getState().getAttr());
      if (!state)
        fail(program) << "io '" << io.getName() << "': need a state of the module, have " << io.getState();
      else if (state.getBytes() != cast<BufferType>(value.getType()).getBytes())
        fail(program) << "io '" << io.getName() << "': need the " << state.getBytes() << " bytes of " << io.getState();
    }
  }

  void check() {
    if (module.getWorkers() < 1 || module.getWorkers() > 4096)
      fail(module) << "need 1 to 4096 workers, have " << module.getWorkers();
    if (module.getIoDepth() < 1)
      fail(module) << "need an io_depth of at least 1, have " << module.getIoDepth();
    if (module.getStackBytes() < 0 || module.getStackBytes() % 4096)
      fail(module) << "need stack_bytes that are a multiple of 4096, have " << module.getStackBytes();
    for (Operation &op : module.getBody().getOps()) {
      if (!isa<ConstantOp, StateOp, ArenaOp, ProgramOp>(op))
        fail(&op) << "need constants, states, arenas and programs in plan.module";
      else if (auto state = dyn_cast<StateOp>(op); state && state.getInit()) {
        auto init = symbols.lookup<ConstantOp>(state.getInitAttr().getAttr());
        if (!init || init.getBytes() != state.getBytes())
          fail(state) << "need a constant of " << state.getBytes() << " bytes to start from, have "
                      << state.getInitAttr();
      } else if (auto program = dyn_cast<ProgramOp>(op)) {
        checkProgram(program);
      }
    }
  }
};
} // namespace

LogicalResult plim::plan::ModuleOp::verifyRegions() {
  ModuleVerifier verifier(*this);
  verifier.check();
  return success(verifier.ok);
}
