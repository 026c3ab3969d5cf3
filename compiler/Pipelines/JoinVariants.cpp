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

/// The constants of a joined module.
class JoinedConstants {
public:
  JoinedConstants(plan::ModuleOp joined, ConstantNumbers &numbers) : joined(joined), numbers(numbers) {}

  /// Those of a module that are there already go by their names there; the others come, named as nothing else is.
  void take(plan::ModuleOp module, ArrayRef<lowering::ConstantSource> constants) {
    llvm::StringMap<StringAttr> renamed;
    for (const lowering::ConstantSource &constant : constants) {
      StringAttr &name = names[numbers.numberOf(constant)];
      if (!name) {
        name = newName(constant.name);
        sources.push_back({name.str(), constant.op});
        auto op = cast<plan::ConstantOp>(SymbolTable::lookupSymbolIn(module, constant.name)).clone();
        op.setSymNameAttr(name);
        op.setOffset(end);
        end += llvm::alignTo(op.getBytes(), plan::kAlign);
        joined.getBody().front().push_back(op);
      }
      renamed[constant.name] = name;
    }
    module.walk([&](plan::ResidentOp resident) {
      if (auto name = renamed.find(resident.getSymbol()); name != renamed.end())
        resident.setSymbolAttr(FlatSymbolRefAttr::get(name->second));
    });
    module.walk([&](plan::StateOp state) {
      if (state.getInitAttr())
        state.setInitAttr(FlatSymbolRefAttr::get(renamed.at(*state.getInit())));
    });
  }

  std::vector<lowering::ConstantSource> sources;

private:
  StringAttr newName(StringRef wanted) {
    std::string name = wanted.str();
    while (SymbolTable::lookupSymbolIn(joined, name))
      name += "'";
    return StringAttr::get(joined.getContext(), name);
  }

  plan::ModuleOp joined;
  ConstantNumbers &numbers;
  DenseMap<unsigned, StringAttr> names; // by number
  int64_t end = 0;
};

} // namespace

JoinedVariants joinVariants(ArrayRef<Variant> variants, ConstantNumbers &numbers) {
  plan::ModuleOp first = variants.front().module;
  MLIRContext *context = first.getContext();
  OwningOpRef<plan::ModuleOp> joined = cast<plan::ModuleOp>(first->cloneWithoutRegions());
  Block &body = joined->getBody().emplaceBlock();
  JoinedConstants constants(*joined, numbers);
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
    constants.take(module, variant.constants);
    if (module == first)
      for (auto state : llvm::make_early_inc_range(module.getOps<plan::StateOp>()))
        state->moveBefore(&body, body.end());
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
  return {std::move(joined), std::move(constants.sources)};
}

} // namespace plim
