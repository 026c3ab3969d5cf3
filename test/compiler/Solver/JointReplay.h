//===- JointReplay.h - Plays a joint plan action by action ---------------------------------------===//
//
// Shares nothing with the planner but the problem and the schedule: recounts which instances hold data, which copies
// are in flight, and how many bytes are alive.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_TEST_SOLVER_JOINTREPLAY_H
#define PLIM_TEST_SOLVER_JOINTREPLAY_H

#include "compiler/Solver/Schedule.h"

namespace plim::solver {

struct Replay {
  std::vector<std::string> errors;
  // Most bytes alive at one action: transients and streamed constants in the ram with workspace, rounded up to their
  // alignment, or to that of the ssd where a copy meets them. No alias is taken.
  int64_t live = 0;
  std::vector<int64_t> liveAt; // by action
  int64_t spilled = 0;         // bytes written to the ssd
  int64_t ns = 0;              // as Solution::ns says
  int runs = 0, copies = 0;
};

Replay replay(const Problem &problem, const Schedule &schedule);

} // namespace plim::solver

#endif // PLIM_TEST_SOLVER_JOINTREPLAY_H
