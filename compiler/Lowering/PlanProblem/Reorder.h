//===- Reorder.h - Steps of a program in another order ------------------------------------*- C++ -*-===//
#pragma once

#include "dialects/Plan/PlanDialect.h"

namespace plim::plan {

/// Moves buffers to the head of the program and steps to its end in the order of `ops`; views at a scalar's offset go
/// with their first user.
void reorder(ProgramOp program, llvm::ArrayRef<mlir::Operation *> ops);

} // namespace plim::plan
