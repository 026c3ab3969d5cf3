//===- CheckSums.cpp - Bytes by tier and predicted time of a solution -------------------------===//
#include "compiler/Check/SolutionReplay.h"
#include <algorithm>

namespace plim::check {

using namespace solver;

static int64_t up(int64_t bytes, int64_t align) { return (bytes + align - 1) / align * align; }

// For messages.
static int64_t narrow(__int128 value) { return value > INT64_MAX ? INT64_MAX : int64_t(value); }

// Bytes that the two storages of a move have in common, which its action holds once.
int64_t SolutionReplay::slideBytes(int action) const {
  const int from = s.places[s.actions[action].reads[0]].storage, to = s.places[s.actions[action].writes[0]].storage;
  const Storage &a = s.storages[from], &b = s.storages[to];
  return std::max<int64_t>(0, std::min(a.offset + up(a.bytes, align[from]), b.offset + up(b.bytes, align[to])) -
                                  std::max(a.offset, b.offset));
}

void SolutionReplay::checkSums(bool capacities) {
  const int end = int(s.actions.size());
  // Wide: of each buffer there may be any number of instances.
  std::array<__int128, kTierCount> fixed{}, constants{}, states{}, caller{}, arena{}, most{}, alive{};
  std::array<std::vector<__int128>, kTierCount> live;
  for (auto &tier : live)
    tier.assign(end + 1, 0);
  for (const FixedCost &f : p.fixed)
    fixed[int(f.tier)] += f.bytes;
  for (size_t i = 0; i < s.storages.size(); ++i) {
    const Storage &st = s.storages[i];
    const int t = int(st.tier);
    if (st.region == Region::Caller) {
      caller[t] += p.countIo ? st.bytes : 0;
    } else if (st.region == Region::Constant || st.region == Region::State) {
      __int128 &end = (st.region == Region::Constant ? constants : states)[t];
      end = std::max<__int128>(end, up(st.offset + up(st.bytes, kAlign), p.granule));
    } else if (st.region == Region::Transient && st.bytes > 0 && st.birth < st.death) {
      arena[t] = std::max<__int128>(arena[t], st.offset + up(st.bytes, align[i]));
      live[t][st.birth] += up(st.bytes, align[i]);
      live[t][st.death] -= up(st.bytes, align[i]);
    }
  }
  int at = -1;
  for (int k = 0; k < end; ++k) {
    for (int t = 0; t < kTierCount; ++t)
      alive[t] += live[t][k];
    std::array<__int128, kTierCount> now = alive;
    if (const int64_t workspace = workspaceOf(k); workspace > 0) {
      const int t = int(candidateOf(k).tier);
      now[t] += up(workspace, kAlign);
      arena[t] = std::max<__int128>(arena[t], s.actions[k].workspaceOffset + up(workspace, kAlign));
    }
    if (slides(k))
      now[int(tierOf(s.actions[k].writes[0]))] -= slideBytes(k);
    if (k == 0 || now[0] > most[0])
      at = k;
    for (int t = 0; t < kTierCount; ++t)
      most[t] = std::max(most[t], now[t]);
  }
  auto equal = [&](const std::string &what, __int128 need, int64_t have) {
    if (need != have)
      fail(what, ": need ", narrow(need), ", have ", have);
  };
  equal("action of the peak", at, s.peakAction);
  for (int t = 0; t < kTierCount; ++t) {
    const std::string tier = absl::StrCat("tier ", tierName(Tier(t)), ": ");
    equal(tier + "fixed bytes", fixed[t], s.fixed[t]);
    equal(tier + "constants' bytes", constants[t], s.constants[t]);
    equal(tier + "states' bytes", states[t], s.states[t]);
    equal(tier + "caller's bytes", caller[t], s.caller[t]);
    arena[t] = (arena[t] + p.granule - 1) / p.granule * p.granule;
    equal(tier + "arena bytes", arena[t], s.arena[t]);
    equal(tier + "live bytes", most[t], s.live[t]);
    const __int128 peak = fixed[t] + constants[t] + states[t] + caller[t] + arena[t];
    equal(tier + "peak bytes", peak, s.peak[t]);
    if (capacities && peak > p.tiers[t].capacity)
      fail(tier, "need a peak within ", p.tiers[t].capacity, " bytes, have ", narrow(peak));
  }
}

// The cpu goes from action to action; the two queues of the ssd work beside it, each in the order of its copies.
void SolutionReplay::checkTime() {
  __int128 now = 0, queueEnd[3] = {};
  std::vector<__int128> ends(s.actions.size(), 0);
  for (int k = 0; k < int(s.actions.size()); ++k) {
    const Action &a = s.actions[k];
    if (a.kind == ActionKind::Run) {
      __int128 ns = candidateOf(k).ns;
      auto save = [&](int place, bool isRead) {
        if (const int base = baseOf(k, place, isRead); base >= 0 && liesIn(place, base))
          ns -= p.aliases[s.places[place].alias].savedNs;
      };
      for (int place : a.reads)
        save(place, true);
      for (int place : a.writes)
        save(place, false);
      now += std::max<__int128>(0, ns);
    } else if (a.kind == ActionKind::Wait) {
      for (int copy : a.waits)
        now = std::max(now, ends[copy]);
    } else if (a.kind == ActionKind::Copy) {
      const Tier from = tierOf(a.reads[0]), to = tierOf(a.writes[0]);
      auto link =
          std::find_if(p.links.begin(), p.links.end(), [&](const Link &l) { return l.from == from && l.to == to; });
      if (link == p.links.end()) {
        if (from != Tier::Ram || to != Tier::Ram)
          fail(where(k), ": need a link from ", tierName(from), " to ", tierName(to), ", have none");
        continue;
      }
      const int64_t bytes = a.queue == Queue::Cpu ? bytesOf(a.reads[0]) : movedBytes(a.reads[0]);
      const __int128 bps = link->bytesPerSecond, moving = (__int128(bytes) * 1'000'000'000 + bps - 1) / bps;
      if (a.queue == Queue::Cpu) {
        now += link->latencyNs + moving;
      } else {
        __int128 &queue = queueEnd[int(a.queue)];
        queue = ends[k] = std::max(queue, now + link->latencyNs) + moving;
      }
    }
  }
  if (now != s.ns)
    fail("predicted ns: need ", narrow(now), ", have ", s.ns);
}

} // namespace plim::check
