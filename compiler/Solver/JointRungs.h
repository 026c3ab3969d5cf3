//===- JointRungs.h - Plans with recomputation and transfers, for given budgets ----------------===//
//
// From the joint planner's schedule (Joint/Joint.h) to a solution with offsets that fits: aliases that hold storage for
// longer than they save are dropped; where the layout or its packing still takes more than the budget, live buffers are
// moved, or the schedule is made again with less allowed where it was too much.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_JOINTRUNGS_H
#define PLIM_SOLVER_JOINTRUNGS_H

#include "compiler/Solver/DraftRungs.h"
#include "compiler/Solver/Joint/Joint.h"

namespace plim::solver {

class JointRungs {
public:
  // Starts from the order of `start`. All must outlive it.
  JointRungs(const Context &context, const Draft &start, const FitOptions &options);

  // A plan that fits the budgets; nothing where none is found. Deterministic, but not monotone in the budgets.
  std::optional<Solution> within(const TierBytes &capacity) const;
  // The plan of least ram found, whatever its time, with the other tiers' budgets.
  std::optional<Solution> smallest(const TierBytes &capacity) const;

private:
  const Context &context;
  const FitOptions &options;
  const JointPlanner planner;
  std::string key;      // of the plans in the store
  TierBytes resident{}; // what is there whatever the schedule; of the ram without constants that may be streamed
  int64_t startPeak = 0;

  struct Placed {
    Solution plan;
    std::optional<Solution> moved{}; // where the plan does not fit, but with moves does
    std::vector<int64_t> excess{};   // by action: bytes beyond the arena that the budget leaves; empty where it fits
  };
  template <typename SearchT>
  std::optional<Solution> recalled(const char *call, const TierBytes &capacity, const SearchT &search) const;
  std::optional<Solution> searchWithin(const TierBytes &capacity, JointOptions request) const;
  std::optional<Solution> searchSmallest(const TierBytes &capacity) const;
  std::optional<Solution> planForLess(const JointPlan &first, const TierBytes &capacity, JointOptions request) const;
  JointOptions request(const TierBytes &capacity) const;
  Placed place(const Schedule &schedule, const TierBytes &capacity) const;
};

} // namespace plim::solver

#endif // PLIM_SOLVER_JOINTRUNGS_H
