//===- Fit.h - A plan that fits the budget, or why there is none -----------------------------===//
#ifndef PLIM_SOLVER_FIT_H
#define PLIM_SOLVER_FIT_H

#include "compiler/Solver/Ladder.h"
#include "compiler/Solver/Refusal.h"
#include <optional>

namespace plim::solver {

struct FitResult {
  std::optional<Solution> solution;
  std::optional<Refusal> refusal; // exactly one of the two
};

// What keeps the problem from being planned, empty where nothing does: kernels run on the cpu, so all that they touch
// must be in the ram. fitBudget and Ladder take problems without such faults only.
std::vector<std::string> unplannable(const Problem &problem);

// The fastest plan found that fits all tiers' capacities (Ladder.h says what is monotone). Deterministic.
FitResult fitBudget(const Problem &problem, const FitOptions &options = {});

// The same for each of these budgets of the ram in place of the problem's, all from one ladder: what fitBudget gives,
// in less time.
std::vector<FitResult> fitBudgets(const Problem &problem, const std::vector<int64_t> &ram,
                                  const FitOptions &options = {});

} // namespace plim::solver

#endif // PLIM_SOLVER_FIT_H
