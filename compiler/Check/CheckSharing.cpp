//===- CheckSharing.cpp - No byte of a solution is needed by two at once ----------------------===//
#include "compiler/Check/SolutionReplay.h"
#include <algorithm>
#include <map>

namespace plim::check {

using namespace solver;

void SolutionReplay::checkSharing() {
  inPlace.assign(p.steps.size(), {});
  for (int a = 0; a < int(p.aliases.size()); ++a)
    if (p.aliases[a].kind == AliasKind::InPlace)
      inPlace[p.aliases[a].step].push_back(a);
  for (int t = 0; t < kTierCount; ++t)
    for (Region region : {Region::Transient, Region::Constant, Region::State})
      checkArena(Tier(t), region);
  for (const std::vector<int> &places : inside)
    checkInside(places);
}

// A copy inside an arena whose source storage is not needed afterwards, and whose target storage was not before: the
// two may then share bytes, as all bytes of the target are written from those of the source.
bool SolutionReplay::slides(int action) const {
  if (!isCopy(action) || s.actions[action].queue != Queue::Cpu)
    return false;
  const Place &from = s.places[s.actions[action].reads[0]], &to = s.places[s.actions[action].writes[0]];
  const Storage &source = s.storages[from.storage], &target = s.storages[to.storage];
  return from.storage != to.storage && source.region == Region::Transient && target.region == Region::Transient &&
         source.death == action + 1 && target.birth == action && from.run == 0 && to.run == 0;
}

namespace {

struct Block {
  int64_t low, high;
  int birth, death;
  std::string name;
};

} // namespace

// A sweep over time with the live blocks by offset; a new one can only meet its neighbours.
void SolutionReplay::checkArena(Tier tier, Region region) {
  std::vector<Block> blocks;
  for (size_t i = 0; i < s.storages.size(); ++i) {
    const Storage &st = s.storages[i];
    if (st.tier != tier || st.region != region || st.bytes == 0 || st.birth >= st.death)
      continue;
    const int end = st.death - 1;
    const bool slidOut = slides(end) && s.places[s.actions[end].reads[0]].storage == int(i);
    const int death = slidOut ? end : st.death; // its target is there instead
    if (st.birth < death)
      blocks.push_back({st.offset, st.offset + st.bytes, st.birth, death, absl::StrCat("storage ", i)});
  }
  for (int k = 0; k < int(s.actions.size()) && region == Region::Transient; ++k)
    if (workspaceOf(k) > 0 && candidateOf(k).tier == tier)
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
  if (last[dead] != made[next] || made[next] < 0 || !isStep(made[next]))
    return false;
  if (x.offset != y.offset || x.run != y.run || x.stride != y.stride)
    return false;
  const int step = s.actions[made[next]].step;
  return (candidateOf(made[next]).flags & kInPlaceOk) &&
         std::any_of(inPlace[step].begin(), inPlace[step].end(), [&](int alias) {
           return p.aliases[alias].buffer == x.buffer && p.aliases[alias].base == y.buffer;
         });
}

// A write must spare all contents that some action still reads or moves.
void SolutionReplay::checkInside(const std::vector<int> &places) {
  for (int next : places)
    for (int old : places) {
      if (next == old || made[old] > made[next] || (made[old] == made[next] && old > next))
        continue;
      if (last[old] < made[next] || !overlap(old, next) || contents[old] == contents[next] || mayTakeOver(next, old))
        continue;
      fail(where(std::max(made[next], 0)), ": writing ", placeName(next), " destroys ", placeName(old),
           ", which is needed until action ", last[old]);
    }
}

} // namespace plim::check
