//===- Timeline.cpp - Construction, the exact memory of a slot, the log and undo -----------------===//
#include "compiler/Solver/Joint/Timeline.h"
#include <algorithm>

namespace plim::solver {
namespace {

constexpr int64_t kMost = INT64_MAX / 8; // stands for no limit, with room for sums

} // namespace

Timeline::Timeline(const Graph &g, int64_t ramCapacity, int64_t ssdBytes)
    : graph(g), slots(int(g.operations.size())), readLink(g.problem.link(Tier::Ssd, Tier::Ram)),
      writeLink(g.problem.link(Tier::Ram, Tier::Ssd)), ssdCapacity(ssdBytes) {
  const size_t values = g.values.size();
  touches.resize(values), barred.assign(values, 0), seen.assign(values, 0), spanOf.assign(values, 0);
  decision.assign(values, Source::Keep);
  runs.resize(slots), peak.assign(slots, 0), peakRun.assign(slots, 0), isDirty.assign(slots, 0),
      runCount.assign(slots, 1);
  choice.assign(g.groups.size(), 0);
  capacity.assign(slots, std::min(ramCapacity, kMost) - g.resident);
  weight.assign(slots, 0), prefix.assign(slots + 1, 0), begin.assign(slots + 1, 0);
  ns = g.fastestNs;
  for (const Graph::Value &v : g.values) {
    size.push_back(v.bytes[0]);
    if (v.maker < 0)
      touches[size.size() - 1].push_back({-1, 1, Source::Make});
  }
  for (int t = 0; t < slots; ++t) {
    const Graph::Operation &op = g.operations[t];
    runs[t] = {t};
    begin[t + 1] = begin[t] + op.ways[0].ns;
    for (int v : op.writes)
      if (!g.values[v].readers.empty())
        touches[v].push_back({t, 0, Source::Make});
    for (int v : op.reads)
      touches[v].push_back({t, 1, Source::Keep});
  }
  for (int t = 0; t < slots; ++t)
    readTime.push_back(begin[t + 1] - begin[t]);
  writeTime = readTime;
  for (int v = 0; v < int(values); ++v)
    if (g.values[v].maker < 0)
      touches[v].push_back({slots, 1, Source::Keep});
  memory = SlotTree(std::vector<int64_t>(slots, 0));
  for (int t = 0; t < slots; ++t)
    peak[t] = peakOf(t).first;
  memory = SlotTree(recount());
  // Without prefetch: what memory is left over for that shows only when all else fits.
  lateReads = true;
  for (int v = 0; v < int(values); ++v)
    if (g.values[v].inFile)
      dropToRead(v, 1);
  lateReads = false;
  over();
  commit();
}

int Timeline::find(int value, int slot) const {
  const std::vector<Touch> &list = touches[value];
  if (list.size() > 8)
    return int(std::lower_bound(list.begin(), list.end(), slot, [](const Touch &t, int s) { return t.slot < s; }) -
               list.begin());
  int i = 0;
  while (i < int(list.size()) && list[i].slot < slot)
    ++i;
  return i;
}

// Is the value in memory from touch i on, for a later touch or to be written?
bool Timeline::heldAfter(int value, int i) const {
  if (i + 1 >= int(touches[value].size()))
    return false;
  const Touch &next = touches[value][i + 1];
  return next.source == Source::Keep || (next.source == Source::Read && transfers[next.transfer].write);
}

// Is the value there at the slot's peak only because it is kept for later?
bool Timeline::waitsInside(int value, int slot) const {
  if (slot < 0 || runs[slot].size() < 2)
    return false;
  for (int k = int(runs[slot].size()); k-- > peakRun[slot];) {
    const Graph::Operation &op = graph.operations[runs[slot][k]];
    for (const auto *operands : {&op.reads, &op.writes})
      if (std::binary_search(operands->begin(), operands->end(), value))
        return false;
  }
  return true;
}

double Timeline::gapWeight(int value, int i) const {
  const int before = touches[value][i - 1].slot;
  const double within = weightOf(before + 1, touches[value][i].slot);
  return before >= 0 && weight[before] > 0 && waitsInside(value, before) ? within + weight[before] : within;
}

int64_t Timeline::gapOver(int value, int i) const {
  const int before = touches[value][i - 1].slot;
  const int64_t within = memory.max(before + 1, touches[value][i].slot);
  return before >= 0 && waitsInside(value, before) ? std::max(within, memory.max(before, before + 1)) : within;
}

const Timeline::Span *Timeline::spanAt(int value) const {
  const int s = spanOf[value];
  return s < int(spans.size()) && spans[s].value == value ? &spans[s] : nullptr;
}

// Bytes that the run at a position would count twice: an operand that dies and the result in its place, pieces and the
// whole that they lie in.
int64_t Timeline::sharedBytes(int operation, int position) const {
  const std::vector<Graph::Sharing> &sharings = graph.operations[operation].sharings;
  int64_t shared = 0, whole = 0;
  for (size_t k = 0; k < sharings.size(); ++k) {
    const Graph::Sharing &x = sharings[k];
    const Span *gives = spanAt(x.gives), *takes = spanAt(x.takes);
    if (!x.inPlace) {
      const int64_t room = size[x.takes] - (k > 0 && sharings[k - 1].takes == x.takes ? whole : 0);
      whole = size[x.takes] - room + std::min(room, size[x.gives]);
      shared += std::min(room, size[x.gives]);
      continue;
    }
    bool free = way(operation).inPlace && gives->last == position && takes->first == position;
    for (size_t j = 0; j < k && free; ++j) // each gives and takes once
      free = sharings[j].takes != x.takes && (sharings[j].gives != x.gives || !sharings[j].inPlace);
    if (free)
      shared += std::min(size[x.gives], size[x.takes]);
  }
  return shared;
}

// The inclusive peak inside a slot. A value is there from its maker (or from the start, where it is kept or read) to
// its last use (or to the end, where it is kept or to be written). What a run makes that nobody wants is there for that
// run only.
std::pair<int64_t, int> Timeline::peakOf(int slot) const {
  const std::vector<int> &list = runs[slot];
  const int last = int(list.size()) - 1;
  spans.clear();
  for (int position = 0; position <= last; ++position) {
    const Graph::Operation &op = graph.operations[list[position]];
    for (const auto *operands : {&op.reads, &op.writes})
      for (int v : *operands) {
        if (spanAt(v)) {
          spans[spanOf[v]].last = position;
        } else {
          spanOf[v] = int(spans.size());
          spans.push_back({v, position, position});
        }
      }
  }
  change.assign(size_t(last) + 2, 0);
  for (Span &s : spans) {
    const int i = find(s.value, slot);
    if (touchedAt(s.value, i, slot)) {
      if (touches[s.value][i].source != Source::Make)
        s.first = 0;
      if (heldAfter(s.value, i))
        s.last = last + 1;
    }
    change[s.first] += size[s.value];
    change[std::min(s.last, last) + 1] -= size[s.value];
  }
  int64_t live = 0, most = 0;
  int at = 0;
  for (int position = 0; position <= last; ++position) {
    live += change[position];
    const int op = list[position];
    const int64_t shared = graph.operations[op].sharings.empty() ? 0 : sharedBytes(op, position);
    if (const int64_t bytes = live + way(op).workspace - shared; bytes > most)
      most = bytes, at = position;
  }
  return {most, at};
}

std::vector<int64_t> Timeline::recount() const {
  std::vector<int64_t> sum(slots + 1, 0);
  auto held = [&](int first, int end, int64_t bytes) {
    first = std::max(first, 0), end = std::min(end, slots);
    if (first < end)
      sum[first] += bytes, sum[end] -= bytes;
  };
  for (size_t v = 0; v < touches.size(); ++v)
    for (size_t i = 1; i < touches[v].size(); ++i) {
      const Touch &t = touches[v][i];
      if (t.source == Source::Keep)
        held(touches[v][i - 1].slot + 1, t.slot, size[v]);
      if (t.source == Source::Read) {
        held(transfers[t.transfer].from + 1, transfers[t.transfer].writeEnd, size[v]);
        held(transfers[t.transfer].readStart, transfers[t.transfer].to, size[v]);
      }
    }
  int64_t live = 0;
  for (int t = 0; t < slots; ++t) {
    live += sum[t];
    sum[t] = live + peakOf(t).first - capacity[t];
  }
  sum.pop_back();
  return sum;
}

void Timeline::hold(int first, int end, int64_t bytes) {
  first = std::max(first, 0), end = std::min(end, slots);
  if (first >= end || bytes == 0)
    return;
  memory.add(first, end, bytes);
  log.push_back({Entry::Range, first, end, bytes});
}

void Timeline::saveTouches(int value) {
  log.push_back({Entry::Touches, value});
  savedTouches.push_back(touches[value]);
}

void Timeline::saveRuns(int slot) {
  log.push_back({Entry::Runs, slot});
  savedRuns.push_back(runs[slot]);
}

void Timeline::spoil(int slot) {
  if (slot >= 0 && slot < slots && !isDirty[slot])
    isDirty[slot] = 1, dirty.push_back(slot);
}

void Timeline::addNs(int64_t more) {
  log.push_back({Entry::Ns, 0, 0, ns});
  ns += more;
}

void Timeline::countRun(int operation, int by) {
  log.push_back({Entry::RunCount, operation, 0, runCount[operation]});
  if (!graph.problem.levers.recompute) {
    log.push_back({Entry::Doubles, 0, 0, doubles});
    doubles += std::max(0, runCount[operation] + by - 1) - std::max(0, runCount[operation] - 1);
  }
  runCount[operation] += by;
  addNs(by * way(operation).ns);
}

void Timeline::flush() {
  for (int slot : dirty) {
    isDirty[slot] = 0;
    const auto [now, at] = peakOf(slot);
    if (now == peak[slot] && at == peakRun[slot])
      continue;
    log.push_back({Entry::Peak, slot, peakRun[slot], peak[slot]});
    memory.add(slot, slot + 1, now - peak[slot]);
    peak[slot] = now, peakRun[slot] = at;
  }
  dirty.clear();
}

void Timeline::setCapacity(int slot, int64_t bytes) {
  log.push_back({Entry::Capacity, slot, 0, capacity[slot]});
  memory.add(slot, slot + 1, capacity[slot] - bytes);
  capacity[slot] = bytes;
}

void Timeline::undo(size_t mark) {
  for (int slot : dirty)
    isDirty[slot] = 0;
  dirty.clear();
  while (log.size() > mark) {
    const Entry e = log.back();
    log.pop_back();
    switch (e.kind) {
    case Entry::Range:
      memory.add(e.at, e.end, -e.old);
      break;
    case Entry::Touches:
      touches[e.at].swap(savedTouches.back()), savedTouches.pop_back();
      break;
    case Entry::Runs:
      runs[e.at].swap(savedRuns.back()), savedRuns.pop_back();
      break;
    case Entry::Peak:
      memory.add(e.at, e.at + 1, e.old - peak[e.at]), peak[e.at] = e.old;
      peakRun[e.at] = e.end;
      break;
    case Entry::Ns:
      ns = e.old;
      break;
    case Entry::ReadTime:
      readTime[e.at] = e.old;
      break;
    case Entry::WriteTime:
      writeTime[e.at] = e.old;
      break;
    case Entry::Choice:
      choice[e.at] = int(e.old);
      break;
    case Entry::Size:
      size[e.at] = e.old;
      break;
    case Entry::Capacity:
      memory.add(e.at, e.at + 1, capacity[e.at] - e.old), capacity[e.at] = e.old;
      break;
    case Entry::RunCount:
      runCount[e.at] = int(e.old);
      break;
    case Entry::Doubles:
      doubles = e.old;
      break;
    case Entry::Spilled:
      spilled = e.old;
      break;
    case Entry::Transfers:
      transfers.resize(size_t(e.old));
      break;
    case Entry::WriteEnd:
      transfers[e.at].writeEnd = int(e.old);
      break;
    case Entry::ReadStart:
      transfers[e.at].readStart = int(e.old);
      break;
    }
  }
}

} // namespace plim::solver
