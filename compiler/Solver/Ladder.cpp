//===- Ladder.cpp - Plans from the fastest to the smallest --------------------------------------===//
#include "compiler/Solver/Ladder.h"
#include "absl/strings/str_cat.h"
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/Bound/Bound.h"
#include "compiler/Solver/JointRungs.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

namespace plim::solver {

// A plan that its independent checker refuses must never leave: it would corrupt memory at run time.
static void mustBeSound(const Problem &problem, const Solution &plan) {
  const std::vector<std::string> faults = check::checkSolution(problem, plan, check::IgnoreCapacity::Yes);
  if (faults.empty())
    return;
  std::fprintf(stderr, "internal error: the planner made an unsound plan: %s\n", faults.front().c_str());
  std::abort();
}

struct Ladder::State {
  State(const Problem &given, const FitOptions &how)
      : problem(given), options(how), context(problem), drafts(context, options) {
    const Levers &levers = problem.levers;
    recomputes = levers.recompute || levers.spill || levers.stream;
  }

  const Problem problem;
  const FitOptions options;
  const Context context;
  DraftRungs drafts;
  bool recomputes = false; // or transfers
  std::optional<JointRungs> joint;
  int64_t floor = 0, top = 0; // of the grid
  int depth = 0;              // the grid has 2^depth budgets
  bool fine = true;
  using Capacity = std::pair<int64_t, int64_t>; // of ram and ssd
  std::map<Capacity, std::optional<Solution>> made, witnesses;
  std::set<const Solution *> checked;

  const Solution *sound(const Solution *plan) {
    if (plan && checked.insert(plan).second)
      mustBeSound(problem, *plan);
    return plan;
  }

  void prepare() {
    if (joint)
      return;
    joint.emplace(context, drafts.leanest(), options);
    top = drafts.first().peak[0];
    floor = std::clamp<int64_t>(leastBytes(problem, {0, 0}).bytes, 1, top);
    const int64_t steps = std::max<int64_t>(1, int64_t(problem.steps.size()));
    const int finest = std::bit_width(unsigned(std::max(1, options.rungs))) - 1;
    const int affordable = std::bit_width(uint64_t(kFineSteps * options.rungs / steps)) - 1;
    depth = std::clamp(affordable, 0, finest);
    fine = depth == finest;
  }

  int64_t budgetAt(int rung) const {
    return int64_t(double(floor) * std::pow(double(top) / double(floor), double(rung) / double(1 << depth)));
  }

  const Solution *planFor(int64_t ram, TierBytes capacity) {
    capacity[0] = ram;
    auto [at, isNew] = made.try_emplace({ram, capacity[int(Tier::Ssd)]});
    if (isNew) {
      if (options.progress)
        options.progress(absl::StrCat("a plan for ", ram, " bytes of ram"));
      at->second = joint->within(capacity);
    }
    return at->second ? &*at->second : nullptr;
  }

  // By bisection (Ladder.h). `faster` is the time of the plan that the next larger rung of the path gives.
  const Solution *fastestJoint(const TierBytes &capacity) {
    int low = 0, high = 1 << depth;
    const Solution *smaller = nullptr;
    int64_t faster = drafts.first().ns;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      const Solution *plan = planFor(budgetAt(middle), capacity);
      const bool found = plan != nullptr;
      if (!smaller && plan && plan->ns < faster)
        plan = slowEnough(low, middle, faster, capacity);
      if (!plan || (smaller && (plan->ns > smaller->ns || plan->ns < faster)))
        plan = smaller;
      if (capacity[0] >= budgetAt(middle)) {
        low = middle, smaller = plan;
      } else if (!found || plan == smaller) {
        return smaller; // so it is with all budgets between
      } else {
        high = middle, faster = plan->ns;
      }
    }
    if (fine)
      return smaller;
    const Solution *own = planFor(capacity[0], capacity);
    return own && (!smaller || (own->ns <= smaller->ns && own->ns >= faster)) ? own : smaller;
  }

  const Solution *slowEnough(int low, int rung, int64_t faster, const TierBytes &capacity) {
    for (int at = (low + rung) / 2; at > low; at = (low + at) / 2) {
      const Solution *plan = planFor(budgetAt(at), capacity);
      if (!plan)
        break;
      if (plan->ns >= faster)
        return plan;
    }
    return planFor(budgetAt(rung), capacity);
  }

  const Solution *fastest(const TierBytes &capacity) {
    if (within(drafts.first().peak, capacity))
      return sound(drafts.fastestWithin(capacity));
    const Solution *draft = drafts.fastestWithin(capacity);
    if (!recomputes)
      return sound(draft);
    prepare();
    const Solution *plan = fastestJoint(capacity);
    if (!plan || (draft && draft->ns <= plan->ns))
      plan = draft;
    if (!plan)
      if (const Solution *least = witness(capacity); least && within(least->peak, capacity))
        plan = least;
    return sound(plan);
  }

  // The joint plan of least ram that was found with the ssd's budget; null where there is none.
  const Solution *witness(TierBytes capacity) {
    prepare();
    capacity[0] = kUnbounded;
    auto [at, isNew] = witnesses.try_emplace({kUnbounded, capacity[int(Tier::Ssd)]});
    if (isNew) {
      if (options.progress)
        options.progress("the smallest budget");
      at->second = joint->smallest(capacity);
    }
    return at->second ? &*at->second : nullptr;
  }

  const Solution &smallest() {
    TierBytes capacity;
    for (int t = 0; t < kTierCount; ++t)
      capacity[t] = problem.tiers[t].capacity;
    const Solution *best = &drafts.smallest();
    if (recomputes)
      if (const Solution *least = witness(capacity); least && least->peak[0] < best->peak[0])
        best = least;
    return *sound(best);
  }

  std::vector<CurvePoint> curve() {
    constexpr int kPoints = 16;
    TierBytes capacity;
    for (int t = 0; t < kTierCount; ++t)
      capacity[t] = problem.tiers[t].capacity;
    const int64_t least = smallest().peak[0], most = std::max(least, drafts.first().peak[0]);
    std::vector<CurvePoint> points;
    for (int k = 0; k <= kPoints; ++k) {
      capacity[0] = k == 0 ? least
                    : k == kPoints
                        ? most
                        : int64_t(double(least) * std::pow(double(most) / double(least), double(k) / kPoints));
      const Solution *plan = fastest(capacity);
      if (!plan)
        continue;
      const CurvePoint point{plan->peak[0], plan->peak[int(Tier::Ssd)], plan->ns};
      while (!points.empty() && points.back().ram >= point.ram && points.back().ns >= point.ns)
        points.pop_back();
      if (points.empty() || point.ns < points.back().ns)
        points.push_back(point);
    }
    return points;
  }
};

Ladder::Ladder(const Problem &problem, const FitOptions &options) : state(std::make_unique<State>(problem, options)) {}
Ladder::~Ladder() = default;

const Solution *Ladder::fastest(const std::array<int64_t, kTierCount> &capacity) { return state->fastest(capacity); }
const Solution &Ladder::smallest() { return state->smallest(); }
std::vector<CurvePoint> Ladder::curve() { return state->curve(); }

} // namespace plim::solver
