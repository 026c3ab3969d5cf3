//===- LaunchLevers.h - What a launch lets the planner do ----------------------------------------------===//
#ifndef PLIM_COMPILER_LOWERING_PLANPROBLEM_LAUNCHLEVERS_H
#define PLIM_COMPILER_LOWERING_PLANPROBLEM_LAUNCHLEVERS_H

#include "compiler/Lowering/PlanProblem/PlanProblem.h"

namespace plim::plan {

/// The axes along which the launch may run in pieces, of the step that it is. The step has its reads.
void addSplits(PlanProblem &extracted, LaunchOp launch, solver::Step &step);

/// The operands of the launch, step `number`, that may share bytes. `isShared`, by buffer: several steps write it, or
/// one reads and writes it.
void addAliases(PlanProblem &extracted, LaunchOp launch, int number, const std::vector<bool> &isShared);

} // namespace plim::plan

#endif
