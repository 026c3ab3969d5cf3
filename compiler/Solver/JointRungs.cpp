//===- JointRungs.cpp - Plans with recomputation and transfers, for given budgets --------------===//
#include "compiler/Solver/JointRungs.h"
#include "compiler/Solver/MoveBuffers.h"
#include "compiler/Solver/PlanStore.h"
#include "compiler/Solver/Simulate.h"
#include "compiler/Solver/Unroll.h"
#include <algorithm>

namespace plim::solver {
namespace {

constexpr int kAttempts = 4; // schedules made for one budget
constexpr int kTrials = 5;   // and, where constants are streamed, for less altogether
// Of the rounds of a grid's plan where constants are streamed: most of such a plan is pruning, and more rounds bring
// little.
constexpr int kStreamShare = 3;

// Drops the aliases that hold storage before or after its values need it, where the ram is over `arena`.
class AliasSettler {
public:
  explicit AliasSettler(const Unrolled &unrolled) : ctx(unrolled.context), p(unrolled.problem), draft(unrolled.draft) {
    const int steps = int(p.steps.size());
    for (int b = 0; b < int(p.buffers.size()); ++b) {
      const bool transient = p.buffers[b].kind == BufferKind::Transient;
      const std::vector<int> &readers = ctx.uses.readers[b];
      made.push_back(transient ? ctx.uses.writer[b] : 0);
      last.push_back(!transient ? steps : readers.empty() ? made[b] : std::max(made[b], readers.back()));
    }
  }

  Draft run(int64_t arena) {
    constexpr int kRounds = 8;
    Draft best = draft;
    int64_t least = INT64_MAX;
    for (int round = 0; round < kRounds; ++round) {
      const Layout layout = layOut(ctx, draft);
      const Usage usage = simulate(ctx, draft, layout);
      if (usage.peak[0] < least)
        least = usage.peak[0], best = draft;
      if (least <= arena || !drop(layout, usage, arena))
        break;
    }
    return best;
  }

private:
  const Context &ctx;
  const Problem &p;
  Draft draft;
  std::vector<int> made, last; // by buffer, steps

  bool drop(const Layout &layout, const Usage &usage, int64_t arena) {
    std::vector<std::vector<int>> inside(layout.storages.size());
    for (int b = 0; b < int(p.buffers.size()); ++b)
      inside[layout.members[b].storage].push_back(b);
    std::vector<int> over(usage.live.size() + 1, 0); // steps before it that are over
    for (size_t k = 0; k < usage.live.size(); ++k)
      over[k + 1] = over[k] + (usage.live[k] > arena);
    bool any = false;
    for (size_t s = 0; s < inside.size(); ++s) {
      const StorageLife &life = layout.storages[s];
      if (life.region != Region::Transient || inside[s].size() < 2 || over[life.death] == over[life.birth])
        continue;
      for (int b : inside[s]) {
        const int alias = layout.members[b].alias;
        if (alias < 0 || (p.aliases[alias].kind == AliasKind::InPlace && sameBytes(b, p.aliases[alias].base)))
          continue;
        draft.refused[alias] = 1, any = true;
      }
    }
    return any;
  }
  bool sameBytes(int a, int b) const { return bytesOf(p, a, draft.choices) == bytesOf(p, b, draft.choices); }
};

} // namespace

JointRungs::JointRungs(const Context &context, const Draft &start, const FitOptions &options)
    : context(context), options(options), planner(context, start.order) {
  if (options.store)
    key = PlanStore::keyOf(context.problem, start, options);
  const Layout layout = layOut(context, start);
  resident = residentBytes(context.problem, layout), startPeak = leastPeak(context, start)[0];
  if (!context.problem.levers.stream)
    return;
  std::array<int64_t, kTierCount> constants{};
  for (const StorageLife &life : layout.storages)
    if (life.region == Region::Constant)
      constants[int(life.tier)] = alignUp(constants[int(life.tier)], life.align) + alignUp(life.bytes, kAlign);
  resident[0] -= alignUp(constants[0], context.problem.granule);
  for (const Buffer &b : context.problem.buffers)
    if (b.kind == BufferKind::Constant && b.tier == Tier::Ssd)
      startPeak += alignUp(b.bytes, kSsdAlign); // not counted where it lies
}

JointOptions JointRungs::request(const TierBytes &capacity) const {
  JointOptions request;
  const int64_t steps = int64_t(context.problem.steps.size());
  request.iterations = options.quick ? int(options.jointRounds * 3000 / std::max<int64_t>(1500, steps))
                                     : int(options.jointRounds * 1000 / std::max<int64_t>(1000, steps));
  if (context.problem.levers.stream && !options.quick)
    request.iterations /= kStreamShare;
  request.rescues = options.jointRescues;
  request.capacity = capacity;
  const int64_t granule = context.problem.granule;
  if (capacity[0] != kUnbounded)
    request.capacity[0] = std::max<int64_t>(0, capacity[0] - resident[0]) / granule * granule;
  int64_t &ssd = request.capacity[int(Tier::Ssd)];
  if (!context.problem.levers.spill)
    ssd = 0;
  else if (ssd != kUnbounded)
    ssd = std::max<int64_t>(0, ssd - resident[int(Tier::Ssd)]) / granule * granule;
  return request;
}

JointRungs::Placed JointRungs::place(const Schedule &schedule, const TierBytes &capacity) const {
  const Unrolled unrolled(context.problem, schedule);
  const int64_t granule = context.problem.granule;
  const TierBytes bytes = residentBytes(unrolled.problem, layOut(unrolled.context, unrolled.draft));
  const int64_t arena = std::max<int64_t>(0, capacity[0] - bytes[0]) / granule * granule;
  const Draft draft = AliasSettler(unrolled).run(arena);
  PackOptions packing;
  packing.passes = options.packPasses, packing.exactNodes = options.exactNodes;
  packing.capacity = arena, packing.lowest = arena == 0;
  const Layout layout = layOut(unrolled.context, draft);
  const Usage usage = simulate(unrolled.context, draft, layout);
  // Where it cannot fit, only how much it is over is asked, and by little where the next plan is for less by that.
  if (arena > 0 && usage.peak[0] > arena && !context.problem.levers.stream)
    packing.exactNodes = 0;
  Placed placed{assemble(unrolled, draft, packing), {}};
  if (plim::solver::within(placed.plan.peak, capacity))
    return placed;
  if (context.problem.levers.move && usage.peak[0] <= arena)
    placed.moved = moveBuffers(context.problem, placed.plan, layout.ns, arena, packing);
  placed.excess.assign(schedule.actions.size(), 0);
  for (size_t k = 0; k < usage.live.size(); ++k)
    placed.excess[k] = std::max<int64_t>(0, usage.live[k] - arena);
  for (const Storage &st : placed.plan.storages)
    if (st.region == Region::Transient && st.tier == Tier::Ram && st.offset + st.bytes > arena)
      for (int k = st.birth; k < st.death; ++k)
        placed.excess[k] = std::max(placed.excess[k], st.offset + st.bytes - arena);
  return placed;
}

template <typename SearchT>
std::optional<Solution> JointRungs::recalled(const char *call, const TierBytes &capacity, const SearchT &search) const {
  if (!options.store)
    return search();
  if (auto known = options.store->find(context.problem, key, call, capacity))
    return std::move(*known);
  std::optional<Solution> plan = search();
  options.store->add(key, call, capacity, plan);
  return plan;
}

std::optional<Solution> JointRungs::within(const TierBytes &capacity) const {
  return recalled("within", capacity, [&] { return searchWithin(capacity, request(capacity)); });
}

std::optional<Solution> JointRungs::smallest(const TierBytes &capacity) const {
  return recalled("smallest", capacity, [&] { return searchSmallest(capacity); });
}

std::optional<Solution> JointRungs::searchWithin(const TierBytes &capacity, JointOptions request) const {
  std::optional<Solution> best;
  if (context.problem.levers.stream) {
    // With less in some slots another set of constants is kept, and the arena has another size: what was too much in it
    // says little then. A plan that is made for so much less altogether is much the same.
    const std::optional<JointPlan> joint = planner.plan(request);
    if (!joint)
      return std::nullopt;
    request.from = joint->search;
    if (best = planForLess(*joint, capacity, request); best)
      return best;
  }
  auto consider = [&](Solution &plan) {
    if (plim::solver::within(plan.peak, capacity) && (!best || plan.ns < best->ns))
      best = std::move(plan);
  };
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::optional<JointPlan> joint = planner.plan(request);
    if (!joint)
      break;
    Placed placed = place(joint->schedule, capacity);
    const bool had = best.has_value();
    consider(placed.plan);
    if (placed.moved)
      consider(*placed.moved);
    if (placed.excess.empty() || had)
      break;
    // Less where it was too much; moves are kept if that costs more.
    std::vector<int64_t> excess(context.problem.steps.size(), 0); // by slot
    for (size_t k = 0; k < placed.excess.size(); ++k)
      excess[joint->slots[k]] = std::max(excess[joint->slots[k]], placed.excess[k]);
    request.capacityAt.resize(excess.size(), request.capacity[0]);
    for (size_t slot = 0; slot < excess.size(); ++slot)
      request.capacityAt[slot] -= excess[slot];
  }
  return best;
}

std::optional<Solution> JointRungs::planForLess(const JointPlan &first, const TierBytes &capacity,
                                                JointOptions request) const {
  std::optional<JointPlan> next;
  for (int trial = 0; trial < kTrials; ++trial) {
    const JointPlan &joint = next ? *next : first;
    Placed placed = place(joint.schedule, capacity);
    for (auto *plan : {&placed.plan, placed.moved ? &*placed.moved : nullptr})
      if (plan && plim::solver::within(plan->peak, capacity))
        return std::move(*plan);
    request.capacity[0] -= std::max(placed.plan.peak[0] - capacity[0], context.problem.granule)
                           << std::max(0, trial - 1);
    request.from = joint.search;
    next = trial + 1 < kTrials ? planner.plan(request) : std::nullopt;
    if (!next)
      break;
  }
  return std::nullopt;
}

std::optional<Solution> JointRungs::searchSmallest(const TierBytes &capacity) const {
  TierBytes enough = capacity;
  enough[0] = std::min(capacity[0], 2 * startPeak);
  const std::optional<JointPlan> joint = planner.smallest(request(enough));
  if (!joint)
    return std::nullopt;
  // As little as its packing comes to; moves may bring that down to what is alive at one time.
  TierBytes least = capacity;
  least[0] = 0;
  Placed placed = place(joint->schedule, least);
  Solution best = std::move(placed.plan);
  const int64_t alive = best.peak[0] - best.arena[0] + alignUp(best.live[0], context.problem.granule);
  if (best.peak[0] > alive) {
    least[0] = alive;
    if (Placed again = place(joint->schedule, least); again.moved && again.moved->peak[0] < best.peak[0])
      best = std::move(*again.moved);
    else if (again.plan.peak[0] < best.peak[0])
      best = std::move(again.plan);
  }
  // Without moves, other plans of that size may pack better.
  constexpr int kTries = 4, kBrief = 60; // rounds of each
  int64_t low = alive;
  for (int k = 0; k < kTries && best.peak[0] > low; ++k) {
    least[0] = k == 0 ? alive : low + (best.peak[0] - low) / 2;
    JointOptions brief = request(least);
    brief.rescues = std::min(brief.rescues, kBrief), brief.iterations = std::min(brief.iterations, kBrief);
    if (std::optional<Solution> plan = searchWithin(least, brief))
      best = std::move(*plan);
    else
      low = least[0];
  }
  return best;
}

} // namespace plim::solver
