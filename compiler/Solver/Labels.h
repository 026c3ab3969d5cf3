//===- Labels.h - Problems whose steps have nothing but one label -----------------------------===//
#ifndef PLIM_SOLVER_LABELS_H
#define PLIM_SOLVER_LABELS_H

#include "compiler/Solver/FitOptions.h"
#include "compiler/Solver/Problem.h"
#include <map>

namespace plim::solver {

// The labels of candidates ("attention=flash"), and what bars each somewhere, or "".
std::map<std::string, std::string> labelsOf(const Problem &problem);

// The problem with nothing but this label where a step offers it (whatever bars it now). It may have a group without a
// choice (validate).
Problem onlyLabel(const Problem &problem, const std::string &label);

// Plans of the problem, the one of least ram found for each label that is not barred, where there are several: choices
// are where the search for all of the problem is weakest. Nothing is spilled, so that they do not depend on the ssd.
// None of problems of more than kLabelSteps steps, where these searches take long.
inline constexpr int64_t kLabelSteps = 1000;
std::vector<Solution> smallestByLabel(const Problem &problem, const FitOptions &options);

// Limits of a search that is one of many.
FitOptions withLessSearch(const FitOptions &options);

} // namespace plim::solver

#endif // PLIM_SOLVER_LABELS_H
