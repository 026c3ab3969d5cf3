//===- RandomPlan.h - Sound plans with transfers and recomputation, made at random --------------===//
#ifndef PLIM_TEST_CHECK_RANDOMPLAN_H
#define PLIM_TEST_CHECK_RANDOMPLAN_H

#include "compiler/Solver/Problem.h"

namespace plim::check {

// All levers on, and links between ram and ssd and inside the ram.
void allowTransfers(solver::Problem &problem);

// Runs the steps in the given order, each value in a storage of its own (no aliases), and drops and makes again, spills
// and reads back, moves and streams what the dice say. Good for little but to be checked: no plan is worse.
solver::Solution randomPlan(const solver::Problem &problem, uint64_t seed);

} // namespace plim::check

#endif // PLIM_TEST_CHECK_RANDOMPLAN_H
