//===- ConstantLayout.cpp - The order of constants in the weight file --------------------------------------===//

#include "compiler/Lowering/PlanProblem/ConstantLayout.h"
#include "compiler/Lowering/PlanProblem/Arenas.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"

using namespace mlir;
using namespace plim::plan;

int64_t plim::plan::weightDataBytes(plim::plan::ModuleOp module) {
  int64_t end = 0;
  for (auto constant : module.getBody().getOps<ConstantOp>())
    end = std::max(end, constant.getOffset() + constant.getBytes());
  return end;
}

ConstantHomes plim::plan::constantHomes(plim::plan::ModuleOp module) {
  ConstantHomes homes;
  for (auto state : module.getBody().getOps<StateOp>())
    if (state.getInitAttr())
      homes.inMemory.insert(state.getInitAttr().getAttr());
  for (auto program : module.getBody().getOps<ProgramOp>())
    for (auto resident : program.getBody().getOps<ResidentOp>())
      (resident.getInFile() ? homes.streamed : homes.inMemory).insert(resident.getSymbolAttr().getAttr());
  for (auto constant : module.getBody().getOps<ConstantOp>())
    if (!homes.streamed.contains(constant.getSymNameAttr()))
      homes.inMemory.insert(constant.getSymNameAttr());
  return homes;
}

void plim::plan::layOutConstants(plim::plan::ModuleOp module) {
  ConstantHomes homes = constantHomes(module);
  if (homes.streamed.empty())
    return;
  SmallVector<ConstantOp> constants(module.getBody().getOps<ConstantOp>());
  llvm::stable_sort(constants, [&](ConstantOp a, ConstantOp b) {
    bool memoryA = homes.inMemory.contains(a.getSymNameAttr()), memoryB = homes.inMemory.contains(b.getSymNameAttr());
    return memoryA != memoryB ? memoryA : a.getOffset() < b.getOffset();
  });
  int64_t end = 0, memoryEnd = 0;
  DenseMap<StringAttr, int64_t> offsets;
  for (ConstantOp constant : constants) {
    StringAttr name = constant.getSymNameAttr();
    end = llvm::alignTo(end, homes.streamed.contains(name) ? kSsdAlign : kAlign);
    constant.setOffset(end);
    offsets[name] = end;
    end += constant.getBytes();
    if (homes.inMemory.contains(name))
      memoryEnd = end;
  }
  for (auto program : module.getBody().getOps<ProgramOp>())
    for (auto resident : program.getBody().getOps<ResidentOp>())
      if (auto offset = offsets.find(resident.getSymbolAttr().getAttr());
          resident.getArena() && offset != offsets.end())
        resident.setOffset(offset->second);
  if (ArenaOp arena = findConstantArena(module))
    arena.setTypeAttr(TypeAttr::get(BufferType::get(module.getContext(), llvm::alignTo(memoryEnd, kAlign), Tier::Ram)));
}
