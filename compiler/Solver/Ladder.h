//===- Ladder.h - Plans from the fastest to the smallest, found without looking at the budget ---===//
//
// Two kinds of plans. Those of DraftRungs are a fixed list. Those of JointRungs (recomputation, spilling, streaming)
// are made for a fixed grid of budgets: of the ssd, four from none to all that could be spilled; for each of these the
// plan of least ram, and FitOptions::rungs budgets of the ram in geometric steps from what that takes to the peak of
// the fastest draft. Making all of them takes long, so a budget has only those made that decide about it: the plan of
// least ram, then rungs by bisection. A rung's plan must take no less time than that of the next larger rung of the
// path, and no more than that of the next smaller one; where it does not, or none is found, the smaller rung's plan
// takes its place, which fits too. (Where that is the plan of least ram, the next one down that is slow enough.)
//
// So on every path time falls as budgets grow, whatever the planner does, and all budgets between two rungs get the
// same plan. A budget gets the fastest of the drafts that fit, of the smallest plans with one label (Labels.h) that
// fit, and of what the paths of all ssd rungs within it give. It never depends on what was asked before.
//
// Monotone in every tier by construction: a budget is met if and only if it is at least what `smallest` takes, so a
// larger one is never refused; and a larger one never gets a slower plan.
//
// With FitOptions::quick there is no grid: a plan is made for the budget itself, from scratch, then drafts where that
// fails, then the plan of least ram. What `smallest` takes is met, but larger budgets may get slower plans, and
// somewhat smaller ones may be met too.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_LADDER_H
#define PLIM_SOLVER_LADDER_H

#include "compiler/Solver/FitOptions.h"
#include "compiler/Solver/Problem.h"
#include <memory>

namespace plim::solver {

// A budget of the ram and the fastest plan for it, which lives as long as its ladder.
struct CurvePoint {
  int64_t budget = 0;
  const Solution *plan = nullptr;
};

// A plan that its independent checker refuses must never leave, as it would corrupt memory at run time: ends the
// process.
void mustBeSound(const Problem &problem, const Solution &plan);

class Ladder {
public:
  explicit Ladder(const Problem &problem, const FitOptions &options = {});
  ~Ladder();
  // The fastest plan that fits; null where none does. Valid until the ladder goes.
  const Solution *fastest(const std::array<int64_t, kTierCount> &capacity);
  // Whether no plan of any kind takes less time than this one of the ladder's; false where that is not known.
  bool isFastest(const Solution &plan);
  // Of least ram, within the problem's capacities of the other tiers where there is one.
  const Solution &smallest();
  // Plans at budgets in so many geometric steps from what `smallest` takes to what the fastest plan takes: those that
  // are faster than all before, by rising budget. Within the problem's capacities of the other tiers.
  std::vector<CurvePoint> curve(int steps = 16);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace plim::solver

#endif // PLIM_SOLVER_LADDER_H
