//===- RungPath.cpp - Joint plans on a grid of ram budgets, for one budget of the ssd ---------===//
#include "compiler/Solver/RungPath.h"
#include "absl/strings/str_cat.h"
#include <cmath>

namespace plim::solver {

int64_t RamGrid::budget(int rung) const {
  return int64_t(double(floor) * std::pow(double(top) / double(floor), double(rung) / double(1 << depth)));
}

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

const Solution *RungPath::fastest(int64_t ram) {
  int low = 0, high = 1 << grid.depth;
  const Solution *smaller = nullptr; // of the next smaller rung of the path
  int64_t faster = grid.leastNs;     // of the next larger one
  const Solution *least = grid.smallestFirst ? smallest() : nullptr;
  if (least && least->peak[0] > ram)
    least = nullptr;
  if (grid.leastNs < 0) {
    const Solution *most = planFor(grid.top);
    if (!most || (least && least->ns <= most->ns))
      return least;
    if (ram >= grid.top)
      return most;
    faster = most->ns;
  }
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    const Solution *plan = planFor(grid.budget(middle));
    const bool found = plan != nullptr;
    if (plan && !smaller && plan->ns < faster)
      plan = slowEnough(low, middle, faster);
    if (!plan || (smaller && (plan->ns > smaller->ns || plan->ns < faster)))
      plan = smaller;
    if (least && (!plan || plan->ns > least->ns))
      plan = least;
    if (ram >= grid.budget(middle))
      low = middle, smaller = plan;
    else if (!found || plan == smaller || plan == least)
      return plan; // so it is with all budgets between
    else
      high = middle, faster = plan->ns;
  }
  return smaller ? smaller : least;
}

const Solution *RungPath::slowEnough(int low, int rung, int64_t faster) {
  for (int at = low + (rung - low) / 2; at > low; at = low + (at - low) / 2) {
    const Solution *plan = planFor(grid.budget(at));
    if (!plan)
      break;
    if (plan->ns >= faster)
      return plan;
  }
  const Solution *last = smallest();
  return last && last->ns >= faster && last->peak[0] <= grid.budget(rung) ? last : planFor(grid.budget(rung));
}

const Solution *RungPath::smallest() {
  if (least)
    return *least;
  if (options.progress)
    options.progress("the smallest budget");
  witness = joint.smallest(capacity);
  least = witness ? &*witness : nullptr;
  if (grid.depth == 0 || (grid.leastNs < 0 && !planFor(grid.top)))
    return *least;
  for (int low = 0, high = 1 << grid.depth; high - low > 1;) {
    const int middle = low + (high - low) / 2;
    const Solution *plan = planFor(grid.budget(middle));
    (plan ? high : low) = middle;
    if (plan && (!*least || plan->peak[0] < (*least)->peak[0]))
      least = plan;
  }
  return *least;
}

} // namespace plim::solver
