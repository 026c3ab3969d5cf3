//===- Ladder.h - Plans from the fastest to the smallest, found without looking at the budget ---===//
//
// Two kinds of plans. Those of DraftRungs are a fixed list. Those of JointRungs (recomputation, spilling, streaming)
// are made for a fixed grid of budgets: of the ssd, `kSsdRungs` from none to all that could be spilled; of the ram, for
// each of these, FitOptions::rungs in geometric steps from a floor that no plan goes below to the peak of the fastest
// draft. Making all of them takes long, so a budget has only those made that decide about it, by bisection of the ram's
// grid:
//
//   - a rung where no plan is found makes all smaller budgets fail;
//   - a rung's plan must take no less time than that of the next larger rung of the path, and no more than that of the
//     next smaller one. One that is slower is replaced by the smaller rung's plan, which fits too. One that is faster
//     is replaced likewise, or by the next one down that is slow enough.
//
// So on every path time falls as budgets grow, whatever the planner does, and all budgets between two rungs get the
// same plan. A budget gets the fastest of the drafts that fit and of what the paths of all ssd rungs within it give;
// where there is none, the plan of least memory, if that fits. What a budget gets never depends on what was asked
// before.
//
// Monotone in every tier by construction: a budget is met if and only if it is at least what `smallest` takes, so a
// larger one is never refused; and a larger one never gets a slower plan. The latter has one exception: the plan of
// least memory is searched for only where nothing else fits, as that takes long, and may be faster than what larger
// budgets get. Problems of up to kSmallestFirstSteps steps, where that is likely, have it first, and no exception.
//
// Problems of more than kFineSteps steps have no grid: a plan is made for the budget itself, from scratch, and drafts
// other than the fastest only where it fails. What they accept is still at least what fits `smallest`, but not exactly
// that, and time falls with the budget only as far as the planner has it so.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_LADDER_H
#define PLIM_SOLVER_LADDER_H

#include "compiler/Solver/FitOptions.h"
#include "compiler/Solver/Problem.h"
#include <memory>

namespace plim::solver {

inline constexpr int64_t kSmallestFirstSteps = 100;
inline constexpr int64_t kFineSteps = 2000;         // without transfers
inline constexpr int64_t kFineTransferSteps = 1000; // with them; they take several plans for each

struct CurvePoint {
  int64_t ram = 0, ssd = 0, ns = 0; // what a plan takes
};

class Ladder {
public:
  explicit Ladder(const Problem &problem, const FitOptions &options = {});
  ~Ladder();
  // The fastest plan that fits; null where none does. Valid until the ladder goes.
  const Solution *fastest(const std::array<int64_t, kTierCount> &capacity);
  // Of least ram, within the problem's capacities of the other tiers where there is one.
  const Solution &smallest();
  // Plans at sixteen budgets between the smallest and the largest that is of use, by rising ram and falling time.
  std::vector<CurvePoint> curve();

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace plim::solver

#endif // PLIM_SOLVER_LADDER_H
