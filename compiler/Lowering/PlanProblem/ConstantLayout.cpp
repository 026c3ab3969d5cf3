//===- ConstantLayout.cpp - The order of constants in the weight file --------------------------------------===//

#include "compiler/Lowering/PlanProblem/ConstantLayout.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace plim::plan;

int64_t plim::plan::weightDataBytes(plim::plan::ModuleOp module) {
  int64_t end = 0;
  for (auto constant : module.getBody().getOps<ConstantOp>())
    end = std::max(end, constant.getOffset() + constant.getBytes());
  return end;
}

/// Of the programs of one variant, or of all. What only other variants use is not in memory.
static ConstantHomes homesOf(plim::plan::ModuleOp module, std::optional<StringRef> variant) {
  ConstantHomes homes;
  for (auto state : module.getBody().getOps<StateOp>())
    if (state.getInitAttr())
      homes.inMemory.insert(state.getInitAttr().getAttr());
  llvm::DenseSet<StringAttr> foreign;
  for (auto program : module.getBody().getOps<ProgramOp>())
    for (auto resident : program.getBody().getOps<ResidentOp>())
      (variant && program.getVariant() != *variant ? foreign
       : resident.getInFile()                      ? homes.streamed
                                                   : homes.inMemory)
          .insert(resident.getSymbolAttr().getAttr());
  for (auto constant : module.getBody().getOps<ConstantOp>())
    if (StringAttr name = constant.getSymNameAttr(); !homes.streamed.contains(name) && !foreign.contains(name))
      homes.inMemory.insert(name);
  return homes;
}

ConstantHomes plim::plan::constantHomes(plim::plan::ModuleOp module) { return homesOf(module, std::nullopt); }

void plim::plan::layOutConstants(plim::plan::ModuleOp module) {
  llvm::MapVector<StringRef, ConstantHomes> variants;
  for (auto program : module.getBody().getOps<ProgramOp>())
    if (!variants.contains(program.getVariant()))
      variants[program.getVariant()] = homesOf(module, program.getVariant());
  if (variants.size() < 2 && constantHomes(module).streamed.empty())
    return;
  llvm::DenseSet<StringAttr> streamed;
  DenseMap<StringAttr, size_t> firstKeeper; // the first variant that has it in memory
  for (auto [number, entry] : llvm::enumerate(variants)) {
    streamed.insert_range(entry.second.streamed);
    for (StringAttr name : entry.second.inMemory)
      firstKeeper.try_emplace(name, number);
  }
  auto rank = [&](ConstantOp constant) {
    auto keeper = firstKeeper.find(constant.getSymNameAttr());
    return std::pair(keeper == firstKeeper.end() ? variants.size() : keeper->second, constant.getOffset());
  };
  SmallVector<ConstantOp> constants(module.getBody().getOps<ConstantOp>());
  llvm::stable_sort(constants, [&](ConstantOp a, ConstantOp b) { return rank(a) < rank(b); });
  int64_t end = 0;
  DenseMap<StringAttr, int64_t> offsets;
  llvm::StringMap<int64_t> memoryEnd; // by variant
  for (ConstantOp constant : constants) {
    StringAttr name = constant.getSymNameAttr();
    end = llvm::alignTo(end, streamed.contains(name) ? kSsdAlign : kAlign);
    constant.setOffset(end);
    offsets[name] = end;
    end += constant.getBytes();
    for (const auto &[variant, homes] : variants)
      if (homes.inMemory.contains(name))
        memoryEnd[variant] = end;
  }
  for (auto program : module.getBody().getOps<ProgramOp>())
    for (auto resident : program.getBody().getOps<ResidentOp>()) {
      auto offset = offsets.find(resident.getSymbolAttr().getAttr());
      if (!resident.getArena() || offset == offsets.end())
        continue;
      resident.setOffset(offset->second);
      int64_t bytes = llvm::alignTo(memoryEnd[program.getVariant()], kAlign);
      cast<ArenaOp>(SymbolTable::lookupSymbolIn(module, resident.getArenaAttr()))
          .setTypeAttr(TypeAttr::get(BufferType::get(module.getContext(), bytes, Tier::Ram)));
    }
}
