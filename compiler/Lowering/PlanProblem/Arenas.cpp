//===- Arenas.cpp - Arenas of a module, found or made ---------------------------------------------------===//

#include "compiler/Lowering/PlanProblem/Arenas.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace plim::plan;

ArenaOp plim::plan::createArena(plim::plan::ModuleOp module, ArenaKind kind, Tier tier, int64_t bytes) {
  OpBuilder builder(module.getContext());
  auto programs = module.getBody().getOps<ProgramOp>();
  if (programs.empty())
    builder.setInsertionPointToEnd(&module.getBody().front());
  else
    builder.setInsertionPoint(*programs.begin());
  size_t number = llvm::range_size(module.getBody().getOps<ArenaOp>());
  std::string name;
  do
    name = "arena" + std::to_string(number++);
  while (SymbolTable::lookupSymbolIn(module, name));
  int64_t align = tier == Tier::Ssd ? kSsdAlign : kAlign;
  auto type = BufferType::get(module.getContext(), llvm::alignTo(bytes, align), tier);
  return ArenaOp::create(builder, module.getLoc(), name, kind, type, 0);
}

/// The arena in which some program has a constant (or a state).
static ArenaOp arenaOfResidents(plim::plan::ModuleOp module, bool ofStates) {
  for (auto program : module.getBody().getOps<ProgramOp>())
    for (auto resident : program.getBody().getOps<ResidentOp>()) {
      bool isState = isa_and_present<StateOp>(SymbolTable::lookupSymbolIn(module, resident.getSymbolAttr()));
      if (resident.getArena() && isState == ofStates)
        return cast<ArenaOp>(SymbolTable::lookupSymbolIn(module, resident.getArenaAttr()));
    }
  return {};
}

ArenaOp plim::plan::findConstantArena(plim::plan::ModuleOp module) { return arenaOfResidents(module, false); }

ArenaOp plim::plan::constantArena(plim::plan::ModuleOp module) {
  ArenaOp known = findConstantArena(module);
  return known ? known : createArena(module, ArenaKind::Persistent, Tier::Ram, weightDataBytes(module));
}

ArenaOp plim::plan::stateArena(plim::plan::ModuleOp module) {
  ArenaOp known = arenaOfResidents(module, true);
  return known ? known : createArena(module, ArenaKind::Persistent, Tier::Ram, stateOffset(module, {}));
}

/// Of no state: the end of the last one.
int64_t plim::plan::stateOffset(plim::plan::ModuleOp module, StringAttr name) {
  int64_t offset = 0;
  for (auto state : module.getBody().getOps<StateOp>()) {
    if (state.getSymNameAttr() == name)
      break;
    offset += llvm::alignTo(state.getBytes(), kAlign);
  }
  return offset;
}
