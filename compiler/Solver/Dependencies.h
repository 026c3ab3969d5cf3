//===- Dependencies.h - Which step must come before which ------------------------------------===//
//
// Edges of a problem: a buffer's writer before its readers; accesses of a state in the given order wherever one of two
// writes; impure steps in the given order among each other; and the edges that a step names in `after`.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_DEPENDENCIES_H
#define PLIM_SOLVER_DEPENDENCIES_H

#include "compiler/Solver/Problem.h"

namespace plim::solver {

struct Dependencies {
  std::vector<std::vector<int>> before, after; // by step, sorted, no duplicates
};

Dependencies dependenciesOf(const Problem &problem);

// By buffer: the step that writes it (of a state: the last), or -1; and the steps that read it, in the given order.
struct Uses {
  std::vector<int> writer;
  std::vector<std::vector<int>> readers;
};
Uses usesOf(const Problem &problem);

} // namespace plim::solver

#endif // PLIM_SOLVER_DEPENDENCIES_H
