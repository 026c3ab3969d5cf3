//===- FixedCosts.h - What is reserved whatever the plan -----------------------------------*- C++ -*-===//
#pragma once

#include "compiler/Solver/Problem.h"
#include "dialects/Plan/PlanDialect.h"

namespace plim::plan {

/// The runtime's tables and stacks, by the runtime's own function, and the constants and states of other programs,
/// which share arenas with those of this one. Precondition: the problem's buffers are complete.
void addFixedCosts(ProgramOp program, solver::Problem &problem);

} // namespace plim::plan
