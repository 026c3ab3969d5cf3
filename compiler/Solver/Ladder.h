//===- Ladder.h - Plans from the fastest to the smallest, found without looking at the budget ---===//
//
// Two kinds of plans. Those of DraftRungs are a fixed list. Those of JointRungs (recomputation, spilling, streaming)
// are made for a fixed grid of budgets: `rungs` of them in geometric steps from a floor that no plan can go below to
// the peak of the fastest draft. Making all of them takes long, so a budget has only those made that decide about it,
// by bisection of the grid from its middle:
//
//   - a rung where no plan is found makes all smaller budgets fail;
//   - a rung's plan must take no less time than that of the next larger rung of the path, and no more than that of the
//     next smaller one. One that is slower is replaced by the smaller rung's plan, which fits too. One that is faster
//     is replaced likewise; where there is no smaller one, by the next one down that is slow enough.
//
// So on every path time falls as budgets grow, whatever the planner does; and all budgets between two rungs get the
// same plan or a better draft. A plan for a budget never depends on which budgets were asked before. What is monotone:
// with equal budgets of the other tiers, a larger budget of the ram is never refused where a smaller one is met, and
// its plan never takes longer. (Two exceptions, both for plans that are faster than what larger budgets get: at the
// floor, where no slower plan is below them; and between the rungs of problems of more than kFineSteps steps: those
// have few rungs, and one more plan made for the budget itself.)
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_LADDER_H
#define PLIM_SOLVER_LADDER_H

#include "compiler/Solver/FitOptions.h"
#include "compiler/Solver/Problem.h"
#include <memory>

namespace plim::solver {

struct CurvePoint {
  int64_t ram = 0, ssd = 0, ns = 0; // what a plan takes
};

// Problems of up to so many steps have all of FitOptions::rungs.
inline constexpr int64_t kFineSteps = 1000;

class Ladder {
public:
  explicit Ladder(const Problem &problem, const FitOptions &options = {});
  ~Ladder();
  // The fastest plan that fits; null where none does. Valid until the ladder goes.
  const Solution *fastest(const std::array<int64_t, kTierCount> &capacity);
  // Of least ram, within the problem's capacities of the other tiers.
  const Solution &smallest();
  // Plans at sixteen budgets between the smallest and the largest that is of use, by rising ram and falling time.
  std::vector<CurvePoint> curve();

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace plim::solver

#endif // PLIM_SOLVER_LADDER_H
