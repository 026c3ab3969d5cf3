//===- Ladder.cpp - Plans from the fastest to the smallest --------------------------------------===//
#include "compiler/Solver/Ladder.h"
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/Labels.h"
#include "compiler/Solver/RungPath.h"
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

namespace plim::solver {

void mustBeSound(const Problem &problem, const Solution &plan) {
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
    hasJoint = levers.recompute || levers.spill || levers.stream;
  }

  const Problem problem;
  const FitOptions options;
  const Context context;
  DraftRungs drafts;
  bool hasJoint = false;
  RamGrid grid;
  std::optional<JointRungs> joint;
  std::map<int64_t, RungPath> paths; // by budget of the ssd
  std::optional<std::vector<Solution>> labelled;
  std::set<const Solution *> checked;

  const Solution *sound(const Solution *plan) {
    if (plan && checked.insert(plan).second)
      mustBeSound(problem, *plan);
    return plan;
  }

  void prepare() {
    if (joint)
      return;
    joint.emplace(context, options.quick ? drafts.firstDraft() : drafts.leanest(), options);
    grid.top = drafts.first().peak[0], grid.leastNs = drafts.isFastest() ? drafts.first().ns : -1;
    grid.depth = std::bit_width(unsigned(std::max(1, options.rungs))) - 1;
  }

  const std::vector<Solution> &byLabel() {
    if (!labelled)
      labelled = smallestByLabel(problem, options);
    return *labelled;
  }

  RungPath &path(TierBytes capacity) {
    prepare();
    const int64_t ssd = capacity[int(Tier::Ssd)];
    return paths.try_emplace(ssd, *joint, grid, capacity, options).first->second;
  }

  // The budgets of the ssd within this one that plans are made for. A quick plan has only the one.
  std::vector<RungPath *> pathsWithin(TierBytes capacity) {
    int64_t fixed = 0, all = 0; // what could be spilled
    for (const FixedCost &cost : problem.fixed)
      fixed += cost.tier == Tier::Ssd ? cost.bytes : 0;
    for (int b = 0; b < int(problem.buffers.size()) && problem.levers.spill; ++b)
      if (const Buffer &buffer = problem.buffers[b]; buffer.kind == BufferKind::Transient) {
        const int64_t bytes = buffer.sizes.empty() ? buffer.bytes : *std::ranges::max_element(buffer.sizes);
        all += alignUp(bytes, std::max(kSsdAlign, problem.granule));
      }
    int64_t &ssd = capacity[int(Tier::Ssd)];
    if (options.quick) {
      ssd = std::min(ssd, fixed + all);
      return {&path(capacity)};
    }
    // Most that is spilled is alive together in the fastest draft.
    const int64_t alive = std::min(all, drafts.first().live[0]);
    std::set<int64_t> budgets{fixed, fixed + alive / 4, fixed + alive, fixed + all};
    std::vector<RungPath *> result;
    for (int64_t most = ssd; int64_t budget : budgets)
      if (budget <= most) {
        ssd = budget;
        result.push_back(&path(capacity));
      }
    return result;
  }

  const Solution *fastest(const TierBytes &capacity) {
    const bool enough = within(drafts.first().peak, capacity);
    if (enough && (drafts.isFastest() || options.quick))
      return sound(&drafts.first());
    const bool fixed = !options.quick || !hasJoint; // plans that do not depend on the budget first
    const Solution *best = fixed ? drafts.fastestWithin(capacity) : nullptr;
    auto consider = [&](const Solution *plan) {
      if (plan && within(plan->peak, capacity) && (!best || plan->ns < best->ns))
        best = plan;
    };
    std::vector<RungPath *> paths;
    if (hasJoint)
      paths = pathsWithin(capacity);
    for (RungPath *path : paths)
      consider(options.quick ? path->planFor(capacity[0]) : path->fastest(capacity[0]));
    if (options.quick && !best)
      consider(drafts.fastestWithin(capacity));
    for (RungPath *path : paths)
      if (options.quick && !best)
        consider(path->smallest());
    if (!options.quick || !best)
      for (const Solution &plan : byLabel())
        consider(&plan);
    return sound(best);
  }

  TierBytes capacities() const {
    TierBytes capacity;
    for (int t = 0; t < kTierCount; ++t)
      capacity[t] = problem.tiers[t].capacity;
    return capacity;
  }

  const Solution &smallest() {
    const Solution *best = &drafts.smallest();
    if (hasJoint)
      for (RungPath *path : pathsWithin(capacities()))
        if (const Solution *least = path->smallest(); least && least->peak[0] < best->peak[0])
          best = least;
    TierBytes others = capacities();
    others[0] = kUnbounded;
    for (const Solution &plan : byLabel())
      if (within(plan.peak, others) && plan.peak[0] < best->peak[0])
        best = &plan;
    return *sound(best);
  }

  std::vector<CurvePoint> curve(int steps) {
    TierBytes capacity = capacities();
    capacity[0] = kUnbounded;
    const int64_t least = smallest().peak[0];
    const Solution *top = fastest(capacity);
    const int64_t most = top ? std::max(least, top->peak[0]) : least;
    std::vector<CurvePoint> points;
    for (int k = 0; k <= steps; ++k) {
      const double ratio = std::pow(double(most) / double(std::max<int64_t>(1, least)), double(k) / steps);
      capacity[0] = k == 0 ? least : k == steps ? most : int64_t(double(least) * ratio);
      const Solution *plan = fastest(capacity);
      if (plan && (points.empty() || plan->ns < points.back().plan->ns))
        points.push_back({capacity[0], plan});
    }
    return points;
  }
};

Ladder::Ladder(const Problem &problem, const FitOptions &options) : state(std::make_unique<State>(problem, options)) {}
Ladder::~Ladder() = default;

const Solution *Ladder::fastest(const std::array<int64_t, kTierCount> &capacity) { return state->fastest(capacity); }
bool Ladder::isFastest(const Solution &plan) {
  return state->drafts.isFastest() && plan.ns <= state->drafts.first().ns;
}
const Solution &Ladder::smallest() { return state->smallest(); }
std::vector<CurvePoint> Ladder::curve(int steps) { return state->curve(steps); }

} // namespace plim::solver
