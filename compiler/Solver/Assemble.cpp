//===- Assemble.cpp - From a draft to a solution with offsets ---------------------------------===//
#include "compiler/Solver/Assemble.h"
#include "compiler/Solver/Simulate.h"
#include <algorithm>

namespace plim::solver {
namespace {

// Puts a storage at the end of an arena; returns its offset.
int64_t append(int64_t &end, const StorageLife &life) {
  const int64_t offset = alignUp(end, life.align);
  end = offset + alignUp(life.bytes, kAlign);
  return offset;
}

// Tier totals that no offset changes.
void addTotals(const Problem &problem, const Layout &layout, Solution &out) {
  for (const FixedCost &f : problem.fixed)
    out.fixed[int(f.tier)] += f.bytes;
  for (const StorageLife &life : layout.storages) {
    const int t = int(life.tier);
    if (life.region == Region::Caller && problem.countIo)
      out.caller[t] += life.bytes;
    else if (life.region == Region::Constant)
      append(out.constants[t], life);
    else if (life.region == Region::State)
      append(out.states[t], life);
  }
  for (int t = 0; t < kTierCount; ++t) {
    out.constants[t] = alignUp(out.constants[t], problem.granule);
    out.states[t] = alignUp(out.states[t], problem.granule);
  }
}

int64_t peakOf(const Solution &solution, int tier, int64_t arena) {
  return solution.fixed[tier] + solution.constants[tier] + solution.states[tier] + solution.caller[tier] + arena;
}

} // namespace

std::array<int64_t, kTierCount> residentBytes(const Problem &problem, const Layout &layout) {
  Solution totals;
  addTotals(problem, layout, totals);
  std::array<int64_t, kTierCount> bytes;
  for (int t = 0; t < kTierCount; ++t)
    bytes[t] = peakOf(totals, t, 0);
  return bytes;
}

std::array<int64_t, kTierCount> leastPeak(const Context &context, const Draft &draft) {
  const Layout layout = layOut(context, draft);
  const Usage usage = simulate(context, draft, layout);
  std::array<int64_t, kTierCount> least = residentBytes(context.problem, layout);
  for (int t = 0; t < kTierCount; ++t)
    least[t] += alignUp(usage.peak[t], context.problem.granule);
  return least;
}

Solution assemble(const Context &context, const Draft &draft, const PackOptions &options) {
  const Problem &p = context.problem;
  const Layout layout = layOut(context, draft);
  const Usage usage = simulate(context, draft, layout);
  Solution out;
  addTotals(p, layout, out);
  out.choices = draft.choices;
  out.ns = computeNs(layout);
  out.live = usage.peak;
  out.peakAction = usage.at;

  std::array<int64_t, kTierCount> constantsEnd{}, statesEnd{};
  for (const StorageLife &life : layout.storages) {
    Storage s{life.region, life.tier, 0, life.bytes, life.birth, life.death};
    if (life.region == Region::Constant)
      s.offset = append(constantsEnd[int(life.tier)], life);
    else if (life.region == Region::State)
      s.offset = append(statesEnd[int(life.tier)], life);
    out.storages.push_back(s);
  }
  for (int b = 0; b < int(p.buffers.size()); ++b) {
    const Member &m = layout.members[b];
    out.places.push_back({b, 0, m.storage, m.offset, m.run, m.stride, m.alias});
  }
  for (int s : draft.order) {
    Action action;
    action.kind = layout.elided[s] ? ActionKind::Elided : ActionKind::Run;
    action.step = s, action.candidate = draft.candidates[s];
    action.reads = p.steps[s].reads, action.writes = p.steps[s].writes; // place b is buffer b
    out.actions.push_back(std::move(action));
  }

  for (int t = 0; t < kTierCount; ++t) {
    std::vector<Item> items;
    std::vector<int64_t *> targets;
    for (size_t s = 0; s < layout.storages.size(); ++s) {
      const StorageLife &life = layout.storages[s];
      if (life.region != Region::Transient || int(life.tier) != t)
        continue;
      items.push_back({life.birth, life.death, alignUp(life.bytes, life.align), life.align, -1});
      targets.push_back(&out.storages[s].offset);
    }
    for (size_t k = 0; k < out.actions.size(); ++k) {
      Action &action = out.actions[k];
      const int64_t bytes = layout.workspace[action.step];
      if (bytes == 0 || int(p.steps[action.step].candidates[action.candidate].tier) != t)
        continue;
      items.push_back({int64_t(k), int64_t(k) + 1, alignUp(bytes, kAlign), kAlign, -1});
      targets.push_back(&action.workspaceOffset);
    }
    PackOptions packing = options;
    packing.capacity = Tier(t) == Tier::Ram ? options.capacity : -1;
    out.arena[t] = alignUp(pack(items, packing).height, p.granule);
    for (size_t i = 0; i < items.size(); ++i)
      *targets[i] = items[i].offset;
    out.peak[t] = peakOf(out, t, out.arena[t]);
  }
  return out;
}

} // namespace plim::solver
