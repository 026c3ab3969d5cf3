//===- CheckSolution.h - Is a solution sound for its problem? ---------------------------------===//
//
// Shares no code with the planner: only the structs of Problem.h. Replays the actions and reports every fault found:
//   - each step runs, reads what an earlier action wrote, and sees the version of each state that the given order says;
//   - each operand lies inside its storage while that is alive, aligned, in the tier of the kernel;
//   - storages and workspaces that are alive at the same time share no byte; inside a storage a write touches no
//     contents that are read later, but where an alias of the problem allows it;
//   - aliases are those of the problem, at their place; a step is left out only where aliases make it empty;
//   - all recorded sums are those of the replay, and the peaks are within the capacities.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_CHECK_CHECKSOLUTION_H
#define PLIM_CHECK_CHECKSOLUTION_H

#include "compiler/Solver/Problem.h"

namespace plim::check {

enum class IgnoreCapacity { No, Yes };

// The faults, empty where there are none. The problem must be sound (solver::validate).
std::vector<std::string> checkSolution(const solver::Problem &problem, const solver::Solution &solution,
                                       IgnoreCapacity ignore = IgnoreCapacity::No);

} // namespace plim::check

#endif // PLIM_CHECK_CHECKSOLUTION_H
