//===- CheckStorages.cpp - Extents, sharing and sums of a solution ----------------------------===//
#include "compiler/Check/SolutionReplay.h"
#include <algorithm>
#include <map>

namespace plim::check {

using namespace solver;

static int64_t up(int64_t bytes, int64_t align) { return (bytes + align - 1) / align * align; }

// End of the last byte, in the storage.
int64_t SolutionReplay::endOf(int place) const {
  const Place &at = s.places[place];
  const int64_t bytes = bytesOf(place);
  if (at.run == 0 || bytes == 0)
    return at.offset + bytes;
  const __int128 end = __int128(at.offset) + __int128((bytes - 1) / at.run) * at.stride + (bytes - 1) % at.run + 1;
  return end > kMaxBytes * 2 ? kMaxBytes * 2 : int64_t(end);
}

void SolutionReplay::checkStorages() {
  const int end = int(s.actions.size());
  align.assign(s.storages.size(), kAlign);
  std::vector<std::vector<int>> inside(s.storages.size());
  for (int i = 0; i < int(s.places.size()); ++i) {
    const Place &at = s.places[i];
    align[at.storage] = std::max(align[at.storage], p.buffers[at.buffer].align);
    inside[at.storage].push_back(i);
  }
  for (int k = 0; k < end; ++k)
    if (isCopy(k))
      for (int place : {s.actions[k].reads[0], s.actions[k].writes[0]})
        for (int other : {s.actions[k].reads[0], s.actions[k].writes[0]})
          if (s.storages[s.places[other].storage].tier == Tier::Ssd)
            align[s.places[place].storage] = std::max(align[s.places[place].storage], kSsdAlign);

  for (size_t i = 0; i < s.storages.size(); ++i) {
    const Storage &st = s.storages[i];
    const std::string at = absl::StrCat("storage ", i);
    if (st.bytes < 0 || st.bytes > kMaxBytes || st.offset < 0 || st.offset > INT64_MAX / 4)
      fail(at, ": need offset >= 0 and bytes in [0, 2^50], have ", st.offset, " and ", st.bytes);
    if (st.birth < 0 || st.death < st.birth || st.death > end)
      fail(at, ": need a life inside [0, ", end, "], have [", st.birth, ", ", st.death, ")");
    if (st.region != Region::Transient && (st.birth != 0 || st.death != end))
      fail(at, ": need it alive from first to last action, have [", st.birth, ", ", st.death, ")");
    if (st.offset % align[i] != 0)
      fail(at, ": need an offset that is a multiple of ", align[i], ", have ", st.offset);
    if (inside[i].empty())
      fail(at, ": need a place in it, have none");
    int own = 0; // buffers that the region is for
    for (int place : inside[i]) {
      const BufferKind kind = p.buffers[s.places[place].buffer].kind;
      const bool first = s.places[place].instance == 0;
      const Region need = kind == BufferKind::Transient || !first ? Region::Transient
                          : kind == BufferKind::Constant          ? Region::Constant
                          : kind == BufferKind::State             ? Region::State
                                                                  : Region::Caller;
      if (need == Region::Transient)
        continue;
      ++own;
      if (need != st.region || st.tier != p.buffers[s.places[place].buffer].tier)
        fail(placeName(place), ": need the region and tier of a ", kindName(kind), " buffer");
      if (s.places[place].offset != 0 || st.bytes != bytesOf(place) || s.places[place].run != 0)
        fail(placeName(place), ": need all of its storage, ", bytesOf(place), " bytes at 0, have ", st.bytes, " at ",
             s.places[place].offset);
    }
    if (st.region != Region::Transient && own != 1)
      fail(at, ": need one input, output, constant or state in it, have ", own);
    if (st.region == Region::Caller && st.offset != 0)
      fail(at, ": need offset 0 in the caller's memory, have ", st.offset);
  }
  if (!faults.empty())
    return;

  for (int i = 0; i < int(s.places.size()); ++i) {
    const Place &at = s.places[i];
    const Storage &st = s.storages[at.storage];
    if (endOf(i) > st.bytes)
      fail(placeName(i), ": need an end within its storage's ", st.bytes, " bytes, have ", endOf(i));
    if (std::max(made[i], 0) < st.birth || std::min(last[i], end - 1) >= st.death)
      fail(placeName(i), ": need its storage alive in actions ", made[i], " to ", last[i], ", have [", st.birth, ", ",
           st.death, ")");
  }
  for (size_t i = 0; i < s.storages.size(); ++i) {
    const Storage &st = s.storages[i];
    if (st.region != Region::Transient)
      continue;
    int64_t bytes = 0;
    int birth = end, death = 0;
    for (int place : inside[i]) {
      bytes = std::max(bytes, endOf(place));
      birth = std::min(birth, std::max(made[place], 0));
      death = std::max(death, std::min(last[place] + 1, end));
    }
    if (st.bytes != bytes || st.birth != birth || st.death != death)
      fail("storage ", i, ": need ", bytes, " bytes in actions [", birth, ", ", death, "), have ", st.bytes, " in [",
           st.birth, ", ", st.death, ")");
  }
  for (int k = 0; k < end; ++k) {
    if (isCopy(k))
      continue;
    const Candidate &c = candidateOf(k);
    auto operand = [&](int place, bool isRead) {
      const Place &at = s.places[place];
      const Tier tier = s.storages[at.storage].tier;
      if (tier != c.tier && !(c.tier == Tier::Ram && tier == Tier::Pinned))
        fail(where(k), ": need ", placeName(place), " in tier ", tierName(c.tier), ", have ", tierName(tier));
      const bool plain = at.run == 0 && at.offset % p.buffers[at.buffer].align == 0;
      // The step whose copy an alias saves does not touch the operand.
      const bool saved = at.alias >= 0 && p.aliases[at.alias].kind != AliasKind::InPlace &&
                         p.aliases[at.alias].step == s.actions[k].step &&
                         (p.aliases[at.alias].kind == AliasKind::Into) == isRead;
      if (!plain && !saved && !(c.flags & kSubrangeOk))
        fail(where(k), ": candidate '", c.kernel, "' needs ", placeName(place), " contiguous and aligned, have offset ",
             at.offset, ", run ", at.run);
    };
    for (int place : s.actions[k].reads)
      operand(place, true);
    for (int place : s.actions[k].writes)
      operand(place, false);
    const int64_t offset = s.actions[k].workspaceOffset;
    if (workspaceOf(k) > 0 ? offset < 0 || offset % kAlign != 0 || offset > INT64_MAX / 4 : offset != -1)
      fail(where(k), ": need a workspace of ", workspaceOf(k), " bytes at a multiple of 64 (-1: none), have ", offset);
  }
}

namespace {

struct Block {
  int64_t low, high;
  int birth, death;
  std::string name;
};

} // namespace

void SolutionReplay::checkSharing() {
  // Across storages: a sweep over time with the live blocks by offset; a new one can only meet its neighbours.
  for (int t = 0; t < kTierCount; ++t)
    for (Region region : {Region::Transient, Region::Constant, Region::State}) {
      std::vector<Block> blocks;
      for (size_t i = 0; i < s.storages.size(); ++i) {
        const Storage &st = s.storages[i];
        if (int(st.tier) == t && st.region == region && st.bytes > 0 && st.birth < st.death)
          blocks.push_back({st.offset, st.offset + st.bytes, st.birth, st.death, absl::StrCat("storage ", i)});
      }
      for (int k = 0; k < int(s.actions.size()) && region == Region::Transient; ++k)
        if (workspaceOf(k) > 0 && int(candidateOf(k).tier) == t)
          blocks.push_back({s.actions[k].workspaceOffset, s.actions[k].workspaceOffset + workspaceOf(k), k, k + 1,
                            absl::StrCat("the workspace of ", where(k))});
      std::vector<std::pair<int, int>> events; // time, and block + 1 where it starts, -(block + 1) where it ends
      for (int b = 0; b < int(blocks.size()); ++b) {
        events.push_back({blocks[b].birth, b + 1});
        events.push_back({blocks[b].death, -(b + 1)});
      }
      std::sort(events.begin(), events.end()); // ends first
      std::map<int64_t, int> live;             // by offset
      for (auto [time, code] : events) {
        const int b = std::abs(code) - 1;
        if (code < 0) {
          if (auto it = live.find(blocks[b].low); it != live.end() && it->second == b)
            live.erase(it);
          continue;
        }
        auto next = live.lower_bound(blocks[b].low);
        int other = next != live.end() && next->first < blocks[b].high ? next->second : -1;
        if (next != live.begin() && blocks[std::prev(next)->second].high > blocks[b].low)
          other = std::prev(next)->second;
        if (other >= 0)
          fail("action ", time, ": ", blocks[b].name, " [", blocks[b].low, ", ", blocks[b].high, ") overlaps ",
               blocks[other].name, " [", blocks[other].low, ", ", blocks[other].high, ")");
        live.emplace(blocks[b].low, b);
      }
    }
  std::vector<std::vector<int>> inside(s.storages.size());
  for (int i = 0; i < int(s.places.size()); ++i)
    inside[s.places[i].storage].push_back(i);
  for (size_t i = 0; i < inside.size(); ++i)
    checkInside(int(i), inside[i]);
}

// Do two places of one storage have a byte in common?
bool SolutionReplay::overlap(int a, int b) const {
  const Place &x = s.places[a], &y = s.places[b];
  if (bytesOf(a) == 0 || bytesOf(b) == 0 || endOf(a) <= y.offset || endOf(b) <= x.offset)
    return false;
  if (x.run == 0 || y.run == 0 || x.stride != y.stride)
    return true; // a stray gap between runs is not used
  const int64_t from = x.offset % x.stride, other = y.offset % x.stride;
  const int64_t ahead = other >= from ? other - from : other - from + x.stride; // from x's run to y's next one
  return ahead < x.run || x.stride - ahead < y.run;
}

// `next` is made in the action that reads `dead` last, and the problem lets it take over the bytes.
bool SolutionReplay::mayTakeOver(int next, int dead) const {
  const Place &x = s.places[next], &y = s.places[dead];
  if (last[dead] != made[next] || made[next] < 0 || isCopy(made[next]))
    return false;
  if (x.offset != y.offset || x.run != y.run || x.stride != y.stride)
    return false;
  const Action &a = s.actions[made[next]];
  return (candidateOf(made[next]).flags & kInPlaceOk) &&
         std::any_of(p.aliases.begin(), p.aliases.end(), [&](const Alias &alias) {
           return alias.kind == AliasKind::InPlace && alias.step == a.step && alias.buffer == x.buffer &&
                  alias.base == y.buffer;
         });
}

// A write must spare all contents that some action still reads.
void SolutionReplay::checkInside(int storage, const std::vector<int> &places) {
  for (int next : places)
    for (int old : places) {
      if (next == old || made[old] > made[next] || (made[old] == made[next] && old > next))
        continue;
      if (last[old] < made[next] || !overlap(old, next) || contents[old] == contents[next] || mayTakeOver(next, old))
        continue;
      fail(where(std::max(made[next], 0)), ": writing ", placeName(next), " destroys ", placeName(old),
           ", which is read until action ", last[old]);
    }
}

void SolutionReplay::checkSums(bool capacities) {
  const int end = int(s.actions.size());
  std::array<int64_t, kTierCount> fixed{}, constants{}, states{}, caller{}, arena{}, most{};
  std::array<std::vector<int64_t>, kTierCount> live;
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
      int64_t &end = (st.region == Region::Constant ? constants : states)[t];
      end = std::max(end, up(st.offset + up(st.bytes, kAlign), p.granule));
    } else if (st.bytes > 0 && st.birth < st.death) {
      arena[t] = std::max(arena[t], st.offset + up(st.bytes, align[i]));
      live[t][st.birth] += up(st.bytes, align[i]);
      live[t][st.death] -= up(st.bytes, align[i]);
    }
  }
  int64_t ns = 0;
  int at = -1;
  std::array<int64_t, kTierCount> alive{};
  for (int k = 0; k < end; ++k) {
    for (int t = 0; t < kTierCount; ++t)
      alive[t] += live[t][k];
    std::array<int64_t, kTierCount> now = alive;
    if (const int64_t workspace = workspaceOf(k); workspace > 0) {
      const int t = int(candidateOf(k).tier);
      now[t] += up(workspace, kAlign);
      arena[t] = std::max(arena[t], s.actions[k].workspaceOffset + up(workspace, kAlign));
    }
    if (k == 0 || now[0] > most[0])
      at = k;
    for (int t = 0; t < kTierCount; ++t)
      most[t] = std::max(most[t], now[t]);
    if (s.actions[k].kind == ActionKind::Run) {
      int64_t saved = 0;
      for (const auto *list : {&s.actions[k].reads, &s.actions[k].writes})
        for (int place : *list)
          if (const int a = s.places[place].alias; a >= 0 && p.aliases[a].step == s.actions[k].step)
            saved += p.aliases[a].savedNs;
      ns += std::max<int64_t>(0, candidateOf(k).ns - saved);
    } else if (isCopy(k)) {
      const int from = s.actions[k].reads[0], to = s.actions[k].writes[0];
      auto link = std::find_if(p.links.begin(), p.links.end(), [&](const Link &l) {
        return l.from == s.storages[s.places[from].storage].tier && l.to == s.storages[s.places[to].storage].tier;
      });
      if (link == p.links.end())
        fail(where(k), ": need a link between the tiers of its places, have none");
      else
        ns += link->latencyNs + int64_t(__int128(bytesOf(from)) * 1'000'000'000 / link->bytesPerSecond);
    }
  }
  auto equal = [&](const std::string &what, int64_t need, int64_t have) {
    if (need != have)
      fail(what, ": need ", need, ", have ", have);
  };
  equal("predicted ns", ns, s.ns);
  equal("action of the peak", at, s.peakAction);
  for (int t = 0; t < kTierCount; ++t) {
    const std::string tier = absl::StrCat("tier ", tierName(Tier(t)), ": ");
    equal(tier + "fixed bytes", fixed[t], s.fixed[t]);
    equal(tier + "constants' bytes", constants[t], s.constants[t]);
    equal(tier + "states' bytes", states[t], s.states[t]);
    equal(tier + "caller's bytes", caller[t], s.caller[t]);
    arena[t] = up(arena[t], p.granule);
    equal(tier + "arena bytes", arena[t], s.arena[t]);
    equal(tier + "live bytes", most[t], s.live[t]);
    const int64_t peak = fixed[t] + constants[t] + states[t] + caller[t] + arena[t];
    equal(tier + "peak bytes", peak, s.peak[t]);
    if (capacities && peak > p.tiers[t].capacity)
      fail(tier, "need a peak within ", p.tiers[t].capacity, " bytes, have ", peak);
  }
}

} // namespace plim::check
