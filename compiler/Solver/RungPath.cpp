//===- RungPath.cpp - Joint plans on a grid of ram budgets, for one budget of the ssd ---------===//
#include "compiler/Solver/RungPath.h"
#include "absl/strings/str_cat.h"
#include <algorithm>
#include <cmath>

namespace plim::solver {

RungPath::RungPath(const JointRungs &joint, const RamGrid &grid, const TierBytes &capacity, const FitOptions &options)
    : joint(joint), grid(grid), capacity(capacity), options(options) {
  this->capacity[0] = kUnbounded;
}

const Solution *RungPath::planFor(int64_t ram) {
  auto [at, isNew] = made.try_emplace(ram);
  if (isNew) {
    if (options.progress)
      options.progress(absl::StrCat("a plan for ", ram, " bytes of ram"));
    TierBytes budget = capacity;
    budget[0] = ram;
    at->second = joint.within(budget);
  }
  return at->second ? &*at->second : nullptr;
}

int64_t RungPath::budget(int rung) const {
  const double floor = double(std::max<int64_t>(1, least->peak[0]));
  return int64_t(floor * std::pow(double(grid.top) / floor, double(rung) / double(1 << grid.depth)));
}

const Solution *RungPath::fastest(int64_t ram) {
  const Solution *smaller = smallest(); // of the next smaller rung of the path
  if (!smaller || smaller->peak[0] > ram)
    return nullptr;
  int64_t faster = grid.leastNs; // of the next larger one
  if (faster < 0) {
    const Solution *most = planFor(grid.top);
    if (!most || smaller->ns <= most->ns)
      return smaller;
    if (ram >= grid.top)
      return most;
    faster = most->ns;
  }
  for (int low = 0, high = 1 << grid.depth; high - low > 1 && smaller->peak[0] < grid.top;) {
    const int middle = low + (high - low) / 2;
    const Solution *plan = planFor(budget(middle));
    if (plan && low == 0 && plan->ns < faster)
      plan = slowEnough(middle, faster);
    if (!plan || plan->ns > smaller->ns || plan->ns < faster)
      plan = smaller;
    if (ram >= budget(middle))
      low = middle, smaller = plan;
    else if (plan == smaller)
      break; // so it is with all budgets between
    else
      high = middle, faster = plan->ns;
  }
  return smaller;
}

const Solution *RungPath::slowEnough(int rung, int64_t faster) {
  for (int at = rung / 2; at > 0; at /= 2) {
    const Solution *plan = planFor(budget(at));
    if (!plan || plan->ns >= faster)
      return plan;
  }
  return nullptr;
}

const Solution *RungPath::smallest() {
  if (!searched) {
    if (options.progress)
      options.progress("the smallest budget");
    least = joint.smallest(capacity), searched = true;
  }
  return least ? &*least : nullptr;
}

} // namespace plim::solver
