//===- FixedCosts.h - What is reserved whatever the plan -----------------------------------*- C++ -*-===//
#pragma once

#include "compiler/Lowering/PlanProblem/PlanProblem.h"

namespace plim::plan {

/// Pieces of transfers in flight on one queue: as many as keep a disk busy.
inline constexpr int64_t kIoDepth = 4;

/// The runtime's tables and stacks, by the runtime's own function, and the constants and states of other programs,
/// which share arenas with those of this one. Tables of transfers are left out. Precondition: the problem's buffers are
/// complete.
void addFixedCosts(ProgramOp program, solver::Problem &problem);

/// What the runtime reserves for tables and stacks where a program has this solution.
int64_t tableBytes(ProgramOp program, const solver::Solution &solution);

/// The same where all programs of the module together stream so many constants, and each of them may spill.
int64_t tableBytes(ProgramOp program, const solver::Solution &solution, int64_t streamed, bool spills);

/// Bytes of constants in memory that none of these problems reads, and of gaps between constants.
int64_t unreadConstantBytes(ModuleOp module, llvm::ArrayRef<PlanProblem> programs);

} // namespace plim::plan
