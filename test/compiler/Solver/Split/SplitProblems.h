//===- SplitProblems.h - Problems of splitting that tests share -------------------------------------===//
#ifndef PLIM_TEST_COMPILER_SOLVER_SPLIT_SPLITPROBLEMS_H
#define PLIM_TEST_COMPILER_SOLVER_SPLIT_SPLITPROBLEMS_H

#include "compiler/Solver/Split/Split.h"
#include <random>
#include <string>

namespace plim::solver {

// Fail the test where the text is not sound.
SplitProblem parsed(const std::string &text);
SplitPlan planned(const std::string &text, const SplitProblem &problem);

// Two 3x3 convolutions, the second of stride 2, then a nearest resize by 2, and a mean over the first one's result.
extern const char *const kChain;
// An image through a wide map, its mean, and the map scaled by that: to be kept, or computed again.
extern const char *const kExcite;

// A random chain of steps with random halos, strides, repeats and tiles.
SplitProblem randomProblem(std::mt19937 &random);
std::vector<int> tiledSteps(const SplitProblem &problem);

} // namespace plim::solver

#endif
