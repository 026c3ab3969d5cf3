//===- CheckSolution.h - Is a solution sound for its problem? ---------------------------------===//
//
// Shares no code with the planner: only the structs of Problem.h. Replays the actions and reports every fault found:
//   - each step runs, in one numerics class; impure ones once and in order; each reads what an earlier action wrote,
//   and
//     sees the version of each state that the given order says;
//   - transfers are on the queue for their tiers, and in flight until their one wait: nothing reads the target before
//   it,
//     and source and target keep their bytes;
//   - each operand lies inside its storage while that is alive, aligned, in the tier of the kernel; what the ssd reads
//   or
//     writes is whole blocks of the run's arenas or of the weight file;
//   - storages and workspaces that are alive at the same time share no byte, but for the two of a move that slides;
//   inside
//     a storage a write touches no contents that are needed later, but where an alias of the problem allows it;
//   - aliases are those of the problem, at their place; a step is left out only where aliases make it empty;
//   - levers that are off are not used, and what is not movable has one place;
//   - all recorded sums and the time are those of the replay, and the peaks are within the capacities.
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
