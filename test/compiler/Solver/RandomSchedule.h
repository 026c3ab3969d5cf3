//===- RandomSchedule.h - Sound schedules without any aim, for tests ---------------------------===//
#ifndef PLIM_TEST_SOLVER_RANDOMSCHEDULE_H
#define PLIM_TEST_SOLVER_RANDOMSCHEDULE_H

#include "compiler/Solver/Schedule.h"

namespace plim::solver {

// What a planner might do: steps run again before a use, values written to the ssd and read back, constants streamed.
// The problem has the levers and links for it; equal seeds, equal schedules.
Schedule randomSchedule(const Problem &problem, uint64_t seed);

// Links between ram and ssd, and leave to recompute, spill and stream.
void offerSsd(Problem &problem);

} // namespace plim::solver

#endif // PLIM_TEST_SOLVER_RANDOMSCHEDULE_H
