//===- FixedCosts.h - What is reserved whatever the plan -----------------------------------*- C++ -*-===//
#pragma once

#include "compiler/Solver/Problem.h"
#include "dialects/Plan/PlanDialect.h"

namespace plim::plan {

/// Pieces of transfers in flight on one queue: as many as keep a disk busy.
inline constexpr int64_t kIoDepth = 4;

/// The runtime's tables and stacks, by the runtime's own function, and the constants and states of other programs,
/// which share arenas with those of this one. Tables of transfers are left out. Precondition: the problem's buffers are
/// complete.
void addFixedCosts(ProgramOp program, solver::Problem &problem);

/// What the runtime reserves for tables and stacks where a program has this solution.
int64_t tableBytes(ProgramOp program, const solver::Solution &solution);

} // namespace plim::plan
