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
  weight.assign(slots, 0), prefix.assign(slots + 1, 0), begin.assign(slots + 1, 0), changeAt.assign(slots + 1, 0);
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
  std::vector<int64_t> durations;
  for (int t = 0; t < slots; ++t)
    durations.push_back(begin[t + 1] - begin[t]);
  readTime = writeTime = LinkTime(std::move(durations));
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

// With one run all its operands are there at once; only a value that waits for later keeps its bytes from a result.
int64_t Timeline::peakAlone(int slot) const {
  const int operation = runs[slot][0];
  const Graph::Operation &op = graph.operations[operation];
  int64_t live = way(operation).workspace;
  spans.clear();
  for (const auto *operands : {&op.reads, &op.writes})
    for (int v : *operands)
      if (!spanAt(v)) {
        spanOf[v] = int(spans.size());
        spans.push_back({v, 0, 0});
        live += size[v];
      }
  if (op.sharings.empty())
    return live;
  for (const Graph::Sharing &x : op.sharings)
    if (x.inPlace) {
      const int i = find(x.gives, slot);
      spans[spanOf[x.gives]].last = touchedAt(x.gives, i, slot) && heldAfter(x.gives, i);
    }
  return live - sharedBytes(operation, 0);
}

// The inclusive peak inside a slot. A value is there from its maker (or from the start, where it is kept or read) to
// its last use (or to the end, where it is kept or to be written). What a run makes that nobody wants is there for that
// run only.
std::pair<int64_t, int> Timeline::peakOf(int slot) const {
  const std::vector<int> &list = runs[slot];
  const int last = int(list.size()) - 1;
  if (last == 0)
    return {std::max<int64_t>(0, peakAlone(slot)), 0};
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
  const std::vector<Touch> &list = touches[value];
  log.push_back({Entry::Touches, value, int(list.size())});
  savedTouches.insert(savedTouches.end(), list.begin(), list.end());
}

void Timeline::saveRuns(int slot) {
  log.push_back({Entry::Runs, slot, int(runs[slot].size())});
  savedRuns.insert(savedRuns.end(), runs[slot].begin(), runs[slot].end());
}

void Timeline::spoil(int slot) {
  if (slot >= 0 && slot < slots && !isDirty[slot])
    isDirty[slot] = 1, dirty.push_back(slot);
}

// For a slot whose runs stay, where the value is now held after the last of them that has it, or no longer is. Where no
// run that comes after it has the peak, nothing changes there.
void Timeline::spoilHeld(int value, int slot, bool held) {
  if (slot < 0 || slot >= slots || isDirty[slot])
    return;
  const std::vector<int> &list = runs[slot], &readers = graph.values[value].readers;
  int last = -1; // position of the last run that has it
  auto see = [&](int operation) {
    const auto at = std::lower_bound(list.begin(), list.end(), operation);
    if (at != list.end() && *at == operation)
      last = std::max(last, int(at - list.begin()));
  };
  for (size_t k = readers.size(); k-- > 0 && last < 0;)
    see(readers[k]);
  if (last < 0 && graph.values[value].maker >= 0)
    see(graph.values[value].maker);
  const int from = held ? int(list.size()) - 1 : peakRun[slot];
  bool same = last > from;
  if (last == from && last >= 0) {
    const std::vector<Graph::Sharing> &sharings = graph.operations[list[last]].sharings;
    same = std::none_of(sharings.begin(), sharings.end(),
                        [&](const Graph::Sharing &x) { return x.inPlace && x.gives == value; });
  }
  if (!same)
    spoil(slot);
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
    hold(slot, slot + 1, now - peak[slot]);
    log.push_back({Entry::Peak, slot, peakRun[slot], peak[slot]});
    peak[slot] = now, peakRun[slot] = at;
  }
  dirty.clear();
}

void Timeline::setCapacity(int slot, int64_t bytes) {
  bytes = std::min(bytes, kMost - graph.resident);
  hold(slot, slot + 1, capacity[slot] - bytes);
  log.push_back({Entry::Capacity, slot, 0, capacity[slot]});
  capacity[slot] = bytes;
}

double Timeline::excessSince(size_t mark, const std::vector<int64_t> &before) {
  flush();
  int first = slots, end = 0;
  for (size_t k = mark; k < log.size(); ++k)
    if (const Entry &e = log[k]; e.kind == Entry::Range) {
      changeAt[e.at] += e.old, changeAt[e.end] -= e.old;
      first = std::min(first, e.at), end = std::max(end, e.end);
    }
  int64_t more = 0, change = 0;
  for (int slot = first; slot < end; ++slot) {
    change += changeAt[slot];
    changeAt[slot] = 0;
    more += std::max<int64_t>(0, before[slot] + change) - std::max<int64_t>(0, before[slot]);
  }
  if (first < end)
    changeAt[end] = 0;
  return double(more);
}

// Takes back the last of what was saved.
template <typename T> static void takeBack(std::vector<T> &saved, int count, std::vector<T> &into) {
  into.assign(saved.end() - count, saved.end());
  saved.resize(saved.size() - size_t(count));
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
      takeBack(savedTouches, e.end, touches[e.at]);
      break;
    case Entry::Runs:
      takeBack(savedRuns, e.end, runs[e.at]);
      break;
    case Entry::Peak:
      peak[e.at] = e.old, peakRun[e.at] = e.end;
      break;
    case Entry::Ns:
      ns = e.old;
      break;
    case Entry::ReadTime:
      readTime.set(e.at, e.old);
      break;
    case Entry::WriteTime:
      writeTime.set(e.at, e.old);
      break;
    case Entry::Choice:
      choice[e.at] = int(e.old);
      break;
    case Entry::Size:
      size[e.at] = e.old;
      break;
    case Entry::Capacity:
      capacity[e.at] = e.old;
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
