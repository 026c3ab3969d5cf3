//===- Makespan.h - How long a list of actions takes ------------------------------------------===//
#ifndef PLIM_SOLVER_MAKESPAN_H
#define PLIM_SOLVER_MAKESPAN_H

#include "compiler/Solver/Schedule.h"

namespace plim::solver {

// Predicted, as Solution::ns has it. `runNs` says by action how long a run takes, 0 for all else; an action's reads and
// writes are instances.
int64_t makespan(const Problem &problem, const std::vector<Action> &actions,
                 const std::vector<Schedule::Instance> &instances, const std::vector<int> &choices,
                 const std::vector<int64_t> &runNs);

} // namespace plim::solver

#endif // PLIM_SOLVER_MAKESPAN_H
