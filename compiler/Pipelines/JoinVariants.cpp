//===- JoinVariants.cpp - Modules of one variant each become one module -------------------------===//
#include "compiler/Pipelines/JoinVariants.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"
#include "plim/check.h"
#include "plim/weights.h"

using namespace mlir;

namespace plim {
namespace {

/// The arena of states, which is laid out alike in all variants; null where there is none.
plan::ArenaOp stateArenaOf(plan::ModuleOp module) {
  for (auto program : module.getOps<plan::ProgramOp>())
    for (auto resident : program.getOps<plan::ResidentOp>())
      if (resident.getArena() && SymbolTable::lookupNearestSymbolFrom<plan::StateOp>(program, resident.getSymbolAttr()))
        return SymbolTable::lookupNearestSymbolFrom<plan::ArenaOp>(program, resident.getArenaAttr());
  return {};
}

} // namespace

OwningOpRef<plan::ModuleOp> joinVariants(ArrayRef<Variant> variants) {
  plan::ModuleOp first = variants.front().module;
  MLIRContext *context = first.getContext();
  OwningOpRef<plan::ModuleOp> joined = cast<plan::ModuleOp>(first->clone());
  for (auto program : llvm::make_early_inc_range(joined->getOps<plan::ProgramOp>()))
    program.erase();
  for (auto arena : llvm::make_early_inc_range(joined->getOps<plan::ArenaOp>()))
    arena.erase();
  Block &body = joined->getBody().front();
  plan::ArenaOp states;
  SmallVector<plan::ProgramOp> programs;
  int64_t arenas = 0, ioDepth = 0;
  auto newName = [&](StringRef variant) {
    std::string name;
    do
      name = "arena" + std::to_string(arenas++) + "." + variant.str();
    while (SymbolTable::lookupSymbolIn(*joined, name));
    return StringAttr::get(context, name);
  };
  for (const Variant &variant : variants) {
    plan::ModuleOp module = variant.module;
    ioDepth = std::max<int64_t>(ioDepth, module.getIoDepth());
    plan::ArenaOp ownStates = stateArenaOf(module);
    for (auto arena : llvm::make_early_inc_range(module.getOps<plan::ArenaOp>())) {
      const bool shared = arena == ownStates && states;
      StringAttr name = shared ? states.getSymNameAttr() : newName(variant.name);
      [[maybe_unused]] LogicalResult renamed = SymbolTable::replaceAllSymbolUses(arena, name, module);
      assert(succeeded(renamed) && "plan IR holds no unknown symbol tables");
      if (shared) {
        arena.erase();
        continue;
      }
      arena.setSymNameAttr(name);
      arena->moveBefore(&body, body.end());
      if (arena == ownStates)
        states = arena;
    }
    for (auto program : llvm::make_early_inc_range(module.getOps<plan::ProgramOp>())) {
      program.setSymName((program.getSymName() + "." + variant.name).str());
      program.setVariant(variant.name);
      programs.push_back(program);
    }
  }
  for (plan::ProgramOp program : programs)
    program->moveBefore(&body, body.end());
  joined->setIoDepth(ioDepth);
  plan::layOutConstants(*joined);
  if (int64_t data = plan::weightDataBytes(*joined))
    joined->setWeightsBytes(plim_weight_header_bytes(data) + plim_page(data));
  return joined;
}

} // namespace plim
