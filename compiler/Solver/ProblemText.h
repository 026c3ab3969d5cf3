//===- ProblemText.h - The text format of problems and solutions -----------------------------===//
//
// Documented in docs/reference/problem-format.md. Reading reports all errors of a file at once, each with its line.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_PROBLEMTEXT_H
#define PLIM_SOLVER_PROBLEMTEXT_H

#include "compiler/Solver/Problem.h"
#include <optional>
#include <string_view>

namespace plim::solver {

std::string printProblem(const Problem &problem);
std::string printSolution(const Solution &solution);

// On failure nothing is returned and `errors` has a message "line N: ..." for each fault.
std::optional<Problem> parseProblem(std::string_view text, std::vector<std::string> &errors);
std::optional<Solution> parseSolution(std::string_view text, std::vector<std::string> &errors);

} // namespace plim::solver

#endif // PLIM_SOLVER_PROBLEMTEXT_H
