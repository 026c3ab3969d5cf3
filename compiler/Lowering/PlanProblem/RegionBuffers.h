//===- RegionBuffers.h - Buffers that live within one branch or loop ---------------------*- C++ -*-===//
#pragma once

#include "dialects/Plan/PlanDialect.h"

#include "llvm/ADT/DenseMap.h"

namespace plim::plan {

/// To the planner a branch or loop is one step. What its regions allocate shares bytes where it is not alive at once;
/// together that is one buffer of the step. Gives its bytes, and for each allocation of any depth its offset in it.
int64_t packRegionBuffers(mlir::Operation *op, llvm::DenseMap<mlir::Value, int64_t> &offsets);

} // namespace plim::plan
