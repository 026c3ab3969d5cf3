//===- RandomProblem.h - Small sound problems for tests ----------------------------------------===//
#ifndef PLIM_TEST_SOLVER_RANDOMPROBLEM_H
#define PLIM_TEST_SOLVER_RANDOMPROBLEM_H

#include "compiler/Solver/Problem.h"
#include <random>

namespace plim::solver {

struct RandomShape {
  int steps = 12;
  bool aliases = true, groups = true, states = true, labels = true;
};

// A graph of elementwise, matmul-like, concat and slice steps over buffers of mixed sizes; equal seeds, equal problems.
Problem randomProblem(uint64_t seed, const RandomShape &shape = {});

} // namespace plim::solver

#endif // PLIM_TEST_SOLVER_RANDOMPROBLEM_H
