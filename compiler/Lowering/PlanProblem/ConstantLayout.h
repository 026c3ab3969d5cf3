//===- ConstantLayout.h - The order of constants in the weight file -----------------------*- C++ -*-===//
#pragma once

#include "dialects/Plan/PlanDialect.h"

#include "llvm/ADT/DenseSet.h"

namespace plim::plan {

/// Names of constants. In memory are those that some program keeps or has not decided about, first values of states,
/// and those that nothing uses; what one program streams another may keep.
struct ConstantHomes {
  llvm::DenseSet<mlir::StringAttr> inMemory, streamed;
};
ConstantHomes constantHomes(ModuleOp module);

} // namespace plim::plan
