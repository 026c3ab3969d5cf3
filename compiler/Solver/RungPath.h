//===- RungPath.h - Joint plans on a grid of ram budgets, for one budget of the ssd -----------===//
#ifndef PLIM_SOLVER_RUNGPATH_H
#define PLIM_SOLVER_RUNGPATH_H

#include "compiler/Solver/JointRungs.h"
#include <map>

namespace plim::solver {

// Budgets of the ram in 2^depth geometric steps, from what the plan of least memory takes to `top`.
struct RamGrid {
  int64_t top = 1;
  int depth = 0;
  // No plan is faster, and from `top` on there is one of this time; -1: not known, so that plans are made for the top.
  int64_t leastNs = -1;
};

class RungPath {
public:
  // All must outlive it; the capacity of the ram is not used.
  RungPath(const JointRungs &joint, const RamGrid &grid, const TierBytes &capacity, const FitOptions &options);

  // The plan of the path to this budget (Ladder.h); null below what `smallest` takes.
  const Solution *fastest(int64_t ram);
  // The plan of least ram that is found; null where none is at any budget.
  const Solution *smallest();
  // The plan for one budget; null where none is found.
  const Solution *planFor(int64_t ram);

private:
  const JointRungs &joint;
  const RamGrid &grid;
  TierBytes capacity; // unbounded in the ram
  const FitOptions &options;
  std::map<int64_t, std::optional<Solution>> made; // by budget
  bool searched = false;
  std::optional<Solution> least;

  int64_t budget(int rung) const;
  const Solution *slowEnough(int rung, int64_t faster);
};

} // namespace plim::solver

#endif // PLIM_SOLVER_RUNGPATH_H
