//===- ExhaustivePlans.h - The least memory of small graphs, by trying everything ---------------===//
#ifndef PLIM_TEST_SOLVER_EXHAUSTIVEPLANS_H
#define PLIM_TEST_SOLVER_EXHAUSTIVEPLANS_H

#include "compiler/Solver/Problem.h"
#include <random>

namespace plim::solver {

// The least peak of the ram over all orders, and over all recomputations where that lever is on, by a bottleneck
// shortest path over the sets of values in memory. Takes problems of at most 20 values and 20 steps whose sizes are
// multiples of 64, with aliases in place only, without groups, states and required orders. What it counts is what a
// plan cannot avoid: a result in place of a larger operand leaves the rest free, and the caller's outputs are scratch
// until written. Constants that are streamed are there only while a step reads them; spilled values only while touched.
int64_t exhaustiveLeast(const Problem &problem);

struct SmallShape {
  int steps = 8;
  bool inPlace = true, workspaces = true, constants = true;
};
// Such a problem; equal seeds, equal problems.
Problem smallProblem(uint64_t seed, const SmallShape &shape = {});

// The problem with a view step (a reshape) put after some of its steps, through which all readers go. A plan of the
// first gives one of this of the same memory, so its least is no larger.
Problem withReshapes(const Problem &problem, uint64_t seed);

} // namespace plim::solver

#endif // PLIM_TEST_SOLVER_EXHAUSTIVEPLANS_H
