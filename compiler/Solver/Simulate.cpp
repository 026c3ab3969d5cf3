//===- Simulate.cpp - Exact live bytes of a draft --------------------------------------------===//
#include "compiler/Solver/Simulate.h"
#include <algorithm>

namespace plim::solver {

Usage simulate(const Context &context, const Draft &draft, const Layout &layout) {
  const size_t steps = draft.order.size();
  std::array<std::vector<int64_t>, kTierCount> live;
  for (auto &tier : live)
    tier.assign(steps + 1, 0);
  for (const StorageLife &s : layout.storages)
    if (s.region == Region::Transient) {
      live[int(s.tier)][s.birth] += alignUp(s.bytes, s.align);
      live[int(s.tier)][s.death] -= alignUp(s.bytes, s.align);
    }
  Usage usage;
  for (int t = 0; t < kTierCount; ++t) {
    int64_t sum = 0;
    for (size_t k = 0; k < steps; ++k) {
      const int step = draft.order[k];
      const Candidate &c = context.problem.steps[step].candidates[draft.candidates[step]];
      sum += live[t][k];
      live[t][k] = sum + (int(c.tier) == t ? alignUp(layout.workspace[step], kAlign) : 0);
      if (live[t][k] > usage.peak[t] || (t == 0 && usage.at < 0)) {
        usage.peak[t] = std::max(usage.peak[t], live[t][k]);
        if (t == 0)
          usage.at = int(k);
      }
    }
  }
  const int64_t shore = usage.peak[0] - usage.peak[0] / 16;
  live[0].resize(steps);
  for (int64_t bytes : live[0]) {
    usage.crest += std::max<int64_t>(0, bytes - shore) / 1024;
    usage.atPeak += bytes == usage.peak[0];
  }
  usage.live = std::move(live[0]);
  return usage;
}

std::vector<int> storagesAt(const Layout &layout, int position) {
  std::vector<int> result;
  for (int s = 0; s < int(layout.storages.size()); ++s) {
    const StorageLife &life = layout.storages[s];
    if (life.region == Region::Transient && life.birth <= position && position < life.death)
      result.push_back(s);
  }
  return result;
}

} // namespace plim::solver
