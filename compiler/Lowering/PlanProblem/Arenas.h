//===- Arenas.h - Arenas of a module, found or made --------------------------------------*- C++ -*-===//
#pragma once

#include "dialects/Plan/PlanDialect.h"

namespace plim::plan {

/// Appends an arena named @arena<number> before the programs.
ArenaOp createArena(ModuleOp module, ArenaKind kind, Tier tier, int64_t bytes);

/// The arena of constants: the data part of the weight file up to the last one that is kept in memory.
ArenaOp constantArena(ModuleOp module);

/// It, or null where no program keeps a constant yet.
ArenaOp findConstantArena(ModuleOp module);

/// The arena of all states, and where each lies in it: in the order of the module, so that all programs agree.
ArenaOp stateArena(ModuleOp module);
int64_t stateOffset(ModuleOp module, mlir::StringAttr state);

} // namespace plim::plan
