//===- CheckStorages.cpp - Extents, lives, regions and tiers of a solution's storages ---------===//
#include "compiler/Check/SolutionReplay.h"
#include <algorithm>

namespace plim::check {

using namespace solver;

static int64_t up(int64_t bytes, int64_t align) { return (bytes + align - 1) / align * align; }

// What a transfer of the place moves: for the ssd whole blocks.
int64_t SolutionReplay::movedBytes(int place) const {
  return onSsd[place] ? up(bytesOf(place), kSsdAlign) : bytesOf(place);
}

// End of the last byte, in the storage.
int64_t SolutionReplay::endOf(int place) const {
  const Place &at = s.places[place];
  const int64_t bytes = bytesOf(place);
  if (at.run == 0 || bytes == 0)
    return at.offset + movedBytes(place);
  const __int128 end = __int128(at.offset) + __int128((bytes - 1) / at.run) * at.stride + (bytes - 1) % at.run + 1;
  return end > kMaxBytes * 2 ? kMaxBytes * 2 : int64_t(end);
}

void SolutionReplay::checkStorages() {
  const int end = int(s.actions.size());
  align.assign(s.storages.size(), kAlign);
  inside.assign(s.storages.size(), {});
  for (int i = 0; i < int(s.places.size()); ++i) {
    const Place &at = s.places[i];
    const bool streamed = s.storages[at.storage].region == Region::File;
    onSsd[i] = onSsd[i] || streamed;
    align[at.storage] = std::max({align[at.storage], p.buffers[at.buffer].align, onSsd[i] ? kSsdAlign : kAlign});
    inside[at.storage].push_back(i);
  }
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
    const int homes = int(std::count_if(inside[i].begin(), inside[i].end(), [&](int place) { return isHome(place); }));
    if (st.region != Region::Transient && homes != 1)
      fail(at, ": need one input, output, constant or state in it, have ", homes);
    if ((st.region == Region::Caller || st.region == Region::File) && st.offset != 0)
      fail(at, ": need offset 0 in memory of its own, have ", st.offset);
  }
  for (int i = 0; i < int(s.places.size()); ++i) {
    if (isHome(i))
      checkHome(i);
    if (onSsd[i])
      checkMeetsSsd(i);
  }
  if (!p.levers.lend)
    checkLent();
  if (faults.empty())
    checkExtents();
  for (int k = 0; k < end && faults.empty(); ++k)
    if (isStep(k))
      checkOperands(k);
}

// The first instance of an input, output, constant or state has all of a storage in the region for it.
void SolutionReplay::checkHome(int place) {
  const Place &at = s.places[place];
  const Storage &st = s.storages[at.storage];
  const Buffer &b = p.buffers[at.buffer];
  const bool streamed = b.kind == BufferKind::Constant && st.region == Region::File;
  const Region need = streamed                         ? Region::File
                      : b.kind == BufferKind::Constant ? Region::Constant
                      : b.kind == BufferKind::State    ? Region::State
                                                       : Region::Caller;
  if (st.region != need || st.tier != (streamed ? Tier::Ssd : b.tier))
    fail(placeName(place), ": need the region and tier of a ", streamed ? "streamed " : "", kindName(b.kind),
         " buffer");
  if (at.offset != 0 || st.bytes != movedBytes(place) || at.run != 0)
    fail(placeName(place), ": need all of its storage, ", movedBytes(place), " bytes at 0, have ", st.bytes, " at ",
         at.offset);
}

// Without leave, only aliases bring others into the memory of an input, output, constant or state.
void SolutionReplay::checkLent() {
  for (const std::vector<int> &places : inside)
    for (int home : places)
      for (int place : isHome(home) && !p.buffers[s.places[home].buffer].reused ? places : std::vector<int>())
        if (joinedWith(place) != joinedWith(home))
          fail(placeName(place), ": need no storage of '", p.buffers[s.places[home].buffer].name,
               "' without an alias as lending is off");
}

// What the ssd reads or writes is whole blocks that the plan may place: in an arena of a run, or in the weight file.
void SolutionReplay::checkMeetsSsd(int place) {
  const Place &at = s.places[place];
  const Storage &st = s.storages[at.storage];
  if (st.region != Region::Transient && st.region != Region::File)
    fail(placeName(place), ": need it in a transient storage as the ssd reads or writes it");
  if (at.offset != 0 || at.run != 0 || st.bytes != movedBytes(place))
    fail(placeName(place), ": need all of its storage, ", movedBytes(place),
         " bytes at 0, as the ssd reads or writes it, have ", st.bytes, " at ", at.offset);
}

void SolutionReplay::checkExtents() {
  const int end = int(s.actions.size());
  for (int i = 0; i < int(s.places.size()); ++i) {
    const Storage &st = s.storages[s.places[i].storage];
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
}

void SolutionReplay::checkOperands(int action) {
  const Action &a = s.actions[action];
  const Candidate &c = candidateOf(action);
  auto operand = [&](int place, bool isRead) {
    const Place &at = s.places[place];
    const Tier tier = tierOf(place);
    if (tier != c.tier && !(c.tier == Tier::Ram && tier == Tier::Pinned))
      fail(where(action), ": need ", placeName(place), " in tier ", tierName(c.tier), ", have ", tierName(tier));
    const bool plain = at.run == 0 && at.offset % p.buffers[at.buffer].align == 0;
    // The step whose copy an alias saves does not touch the operand.
    const int base = baseOf(action, place, isRead);
    const bool saved = base >= 0 && liesIn(place, base) && p.aliases[at.alias].kind != AliasKind::InPlace;
    if (!plain && !saved && !(c.flags & kSubrangeOk))
      fail(where(action), ": candidate '", c.kernel, "' needs ", placeName(place),
           " contiguous and aligned, have offset ", at.offset, ", run ", at.run);
  };
  for (int place : a.reads)
    operand(place, true);
  for (int place : a.writes)
    operand(place, false);
  if (workspaceOf(action) > 0
          ? a.workspaceOffset < 0 || a.workspaceOffset % kAlign != 0 || a.workspaceOffset > INT64_MAX / 4
          : a.workspaceOffset != -1)
    fail(where(action), ": need a workspace of ", workspaceOf(action), " bytes at a multiple of 64 (-1: none), have ",
         a.workspaceOffset);
}

} // namespace plim::check
