//===- DraftRungs.cpp - Plans that run each step once and keep each value in the ram ----------===//
#include "compiler/Solver/DraftRungs.h"
#include "compiler/Solver/Choose.h"
#include "compiler/Solver/MoveBuffers.h"
#include "compiler/Solver/Order.h"
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace plim::solver {

DraftRungs::DraftRungs(const Context &context, const FitOptions &options) : context(context), options(options) {
  add(fastestDraft(context.problem));
  rungs.front().first = true;
  provenFastest = rungs.front().ns == leastNs();
}

// Whether all steps that touch the alias' buffer, but for the one whose copy it saves, have a candidate for that.
bool DraftRungs::followsStrides(const Alias &alias) const {
  auto ok = [&](int s) {
    return s < 0 || s == alias.step ||
           std::ranges::any_of(
               context.problem.steps[s].candidates, [](const Candidate &c) { return (c.flags & kSubrangeOk) != 0; });
  };
  return ok(context.uses.writer[alias.buffer]) && std::ranges::all_of(context.uses.readers[alias.buffer], ok);
}

// No plan takes less: each step once with its fastest candidate, and all that aliases could save.
int64_t DraftRungs::leastNs() const {
  const Problem &p = context.problem;
  std::vector<std::map<int, int64_t>> into(p.steps.size()), made(p.steps.size()); // saved by buffer
  std::vector<std::set<int>> views(p.steps.size());
  for (const Alias &alias : p.aliases) {
    if (!p.levers.alias)
      break;
    if (alias.run > 0 && !followsStrides(alias))
      continue;
    int64_t &most = (alias.kind == AliasKind::Into ? into : made)[alias.step][alias.buffer];
    most = std::max(most, alias.savedNs);
    if (alias.kind == AliasKind::View)
      views[alias.step].insert(alias.buffer);
  }
  auto saved = [&](size_t s, int64_t ns) {
    const bool vanishes = (!into[s].empty() && into[s].size() == p.steps[s].reads.size()) ||
                          (!views[s].empty() && views[s].size() == p.steps[s].writes.size());
    for (const auto *list : {&into[s], &made[s]})
      for (auto [buffer, most] : *list)
        ns -= most;
    return vanishes ? 0 : std::max<int64_t>(0, ns);
  };
  // A step of no group is one of its own.
  std::vector<std::vector<int64_t>> ways;
  for (const Group &group : p.groups)
    ways.emplace_back(group.choices.size(), 0);
  int64_t sum = 0;
  for (size_t s = 0; s < p.steps.size(); ++s) {
    std::vector<int64_t> alone(p.steps[s].candidates.size(), 0);
    std::vector<int64_t> &way = p.steps[s].group < 0 ? alone : ways[p.steps[s].group];
    for (size_t c = 0; c < way.size(); ++c) {
      const Candidate &candidate = p.steps[s].candidates[c];
      // Without the lever choose, steps have the candidate of the first draft.
      const bool allowed = candidate.barredBy.empty() &&
                           (p.levers.choose || p.steps[s].group >= 0 || int(c) == firstDraft().candidates[s]);
      way[c] = allowed && way[c] >= 0 ? way[c] + saved(s, candidate.ns) : -1;
    }
    if (p.steps[s].group < 0)
      ways.push_back(std::move(alone));
  }
  for (const std::vector<int64_t> &way : ways) {
    int64_t least = INT64_MAX;
    for (int64_t ns : way)
      least = ns < 0 ? least : std::min(least, ns);
    sum += least;
  }
  return sum;
}

// Rounds cost time by the number of steps.
int DraftRungs::scaled(int rounds) const {
  constexpr int64_t kSteps = 1000;
  return int(rounds * kSteps / std::max<int64_t>(kSteps, int64_t(context.problem.steps.size())));
}

void DraftRungs::add(const Draft &draft) {
  if (std::none_of(rungs.begin(), rungs.end(), [&](const Rung &r) { return r.draft == draft; }))
    rungs.push_back({.draft = draft, .ns = computeNs(layOut(context, draft)), .least = leastPeak(context, draft)});
}

void DraftRungs::order(Draft &draft) const {
  if (context.problem.levers.order)
    orderForMemory(context, draft, scaled(options.orderRounds));
}

int64_t DraftRungs::mostWorkspace(const Draft &draft) const {
  int64_t most = 0;
  for (size_t s = 0; s < draft.candidates.size(); ++s)
    most = std::max(most, context.problem.workspace(context.problem.steps[s].candidates[draft.candidates[s]]));
  return most;
}

void DraftRungs::descend(const Draft &start) {
  std::vector<Draft> path = tradeDown(context, start, scaled(options.tradeEvaluations));
  for (const Draft &draft : path)
    add(draft);
  // Another order may bring the smallest of them down further, and open other trades.
  Draft again = path.back();
  order(again);
  if (again != path.back())
    for (const Draft &draft : tradeDown(context, again, scaled(options.tradeEvaluations)))
      add(draft);
}

void DraftRungs::build() {
  if (complete)
    return;
  complete = true;
  if (options.progress)
    options.progress("other orders and candidates");
  Draft ordered = rungs.front().draft;
  order(ordered);
  descend(ordered);
  if (context.problem.levers.choose) {
    Draft lean = leanestDraft(context.problem, ordered);
    // In between: less workspace for all steps at once, as one step at a time is a long way where they are many.
    for (int64_t workspace = mostWorkspace(ordered) / 2; workspace > mostWorkspace(lean); workspace /= 2)
      add(draftWithin(context.problem, ordered, workspace));
    order(lean);
    descend(lean);
  }
  std::stable_sort(rungs.begin(), rungs.end(), [](const Rung &a, const Rung &b) {
    return std::tuple(a.ns, !a.first, a.least[0]) < std::tuple(b.ns, !b.first, b.least[0]);
  });
}

void DraftRungs::pack(Rung &rung) {
  if (rung.plan)
    return;
  PackOptions packing;
  packing.passes = options.packPasses, packing.exactNodes = options.exactNodes;
  rung.plan = std::make_unique<Solution>(assemble(context, rung.draft, packing));
  if (!context.problem.levers.move || rung.plan->peak[0] <= rung.least[0])
    return;
  const Layout layout = layOut(context, rung.draft);
  std::vector<int64_t> ns;
  ns.reserve(layout.ns.size());
  for (int s : rung.draft.order)
    ns.push_back(layout.ns[s]);
  const int64_t arena = rung.plan->arena[0] - (rung.plan->peak[0] - rung.least[0]);
  if (auto moved = moveBuffers(context.problem, *rung.plan, ns, arena, packing))
    rung.moved = std::make_unique<Solution>(std::move(*moved));
}

const Solution &DraftRungs::first() {
  Rung &rung = *std::find_if(rungs.begin(), rungs.end(), [](const Rung &r) { return r.first; });
  pack(rung);
  return *rung.plan;
}

const Solution *DraftRungs::fastestWithin(const TierBytes &capacity) {
  if (provenFastest && within(first().peak, capacity))
    return &first();
  build();
  const Solution *best = nullptr;
  for (Rung &rung : rungs) {
    if (best && best->ns <= rung.ns)
      break;
    if (!within(rung.least, capacity))
      continue;
    pack(rung);
    for (const auto *plan : {&rung.plan, &rung.moved})
      if (*plan && within((*plan)->peak, capacity) && (!best || (*plan)->ns < best->ns))
        best = &**plan;
  }
  return best;
}

std::vector<DraftRungs::Rung *> DraftRungs::byLeast() {
  build();
  std::vector<Rung *> sorted;
  sorted.reserve(rungs.size());
  for (Rung &rung : rungs)
    sorted.push_back(&rung);
  std::stable_sort(sorted.begin(), sorted.end(), [](Rung *a, Rung *b) { return a->least < b->least; });
  return sorted;
}

const Solution &DraftRungs::smallest() {
  const Solution *best = nullptr;
  for (Rung *rung : byLeast()) {
    if (best && rung->least[0] > best->peak[0])
      break;
    pack(*rung);
    for (const auto *plan : {&rung->plan, &rung->moved})
      if (*plan && (!best || (*plan)->peak < best->peak))
        best = &**plan;
  }
  return *best;
}

const Draft &DraftRungs::firstDraft() const {
  return std::find_if(rungs.begin(), rungs.end(), [](const Rung &r) { return r.first; })->draft;
}

const Draft &DraftRungs::leanest() { return byLeast().front()->draft; }

} // namespace plim::solver
