//===- Moves.cpp - Drop a gap to a run or to the ssd, put it back, change a choice ---------------===//
#include "compiler/Solver/Joint/Timeline.h"
#include <algorithm>

namespace plim::solver {

// The first run of an operation that must run in its own slot: the touch stays even where nobody wants the value.
bool Timeline::fixedTouch(int value, const Touch &touch) const {
  const int maker = graph.values[value].maker;
  return touch.source == Source::Make && maker == touch.slot && graph.operations[maker].first;
}

bool Timeline::droppable(int value, int i) const {
  const std::vector<Touch> &list = touches[value];
  if (i < 1 || barred[value] || list[i].source != Source::Keep || list[i].slot >= slots)
    return false;
  if (!postpone && i == 1 && list[0].uses == 0 && list[0].slot >= 0)
    return false;
  // A constant is resident or streamed: where it is read again, it is read at first too.
  if (list[0].slot < 0 && i > 1 && list[1].source == Source::Keep)
    return false;
  return list[i].slot - list[i - 1].slot > 1 || list[i - 1].slot < 0;
}

bool Timeline::makerNeeded(int operation, int slot) const {
  for (int v : graph.operations[operation].writes)
    if (int i = find(v, slot); touchedAt(v, i, slot) && touches[v][i].source == Source::Make)
      return true;
  return false;
}

bool Timeline::addRun(int operation, int slot) {
  const Graph::Operation &op = graph.operations[operation];
  auto at = std::lower_bound(runs[slot].begin(), runs[slot].end(), operation);
  if (at != runs[slot].end() && *at == operation)
    return true;
  ++work;
  if (op.once || slot > op.latest)
    return false;
  saveRuns(slot);
  runs[slot].insert(at, operation);
  countRun(operation, 1);
  spoil(slot);
  for (int v : op.reads)
    if (!need(v, slot))
      return false;
  for (int v : op.writes) { // made here as well: no need to keep it until here
    const int i = find(v, slot);
    if (!touchedAt(v, i, slot) || touches[v][i].source != Source::Keep)
      continue;
    saveTouches(v);
    const int before = touches[v][i - 1].slot;
    hold(before + 1, slot, -size[v]);
    touches[v][i].source = Source::Make;
    spoilHeld(v, before, false);
    clean(v, before);
  }
  return true;
}

void Timeline::removeRun(int operation, int slot) {
  auto at = std::lower_bound(runs[slot].begin(), runs[slot].end(), operation);
  if (at == runs[slot].end() || *at != operation || (slot == operation && graph.operations[operation].first))
    return;
  saveRuns(slot);
  runs[slot].erase(at);
  countRun(operation, -1);
  spoil(slot);
  for (int v : graph.operations[operation].reads)
    unneed(v, slot);
}

// Does keeping the value cost more than this, by prices?
bool Timeline::costsMore(int value, int first, int end, int64_t ns) {
  askedPrice = true;
  return lambda * double(size[value]) * weightOf(first, end) > double(ns);
}

// Has the value in memory at the slot, for one more run there.
bool Timeline::need(int value, int slot) {
  const int i = find(value, slot);
  std::vector<Touch> &list = touches[value];
  saveTouches(value);
  if (touchedAt(value, i, slot)) {
    ++list[i].uses;
    return true;
  }
  const bool hasNext = i < int(list.size());
  const int before = i > 0 ? list[i - 1].slot : -1;
  const Touch next = hasNext ? list[i] : Touch{slots, 0, Source::Make};
  spoil(slot);
  if (hasNext && next.source == Source::Keep) {
    list.insert(list.begin() + i, {slot, 1, Source::Keep});
    hold(slot, slot + 1, -size[value]);
    return true;
  }
  if (hasNext && next.source == Source::Read) { // read here, then keep, or read once more
    spoil(before);
    const Transfer old = transfers[next.transfer];
    release(value, old);
    list.insert(list.begin() + i, {slot, 1, Source::Read, reserve(value, before, slot, old.write, true)});
    Touch &after = list[i + 1];
    if (next.slot < slots && memory.max(slot + 1, next.slot) + size[value] <= 0) {
      after.source = Source::Keep, after.transfer = -1;
      hold(slot + 1, next.slot, size[value]);
    } else {
      after.transfer = reserve(value, slot, next.slot, false, next.slot < slots);
    }
    spoil(next.slot);
    return true;
  }
  const int maker = graph.values[value].maker;
  bool make = graph.values[value].remakable;
  if (make && i > 0) {
    if (!graph.problem.levers.recompute)
      make = false;
    else if (seen[value] == stamp)
      make = decision[value] == Source::Make;
    else
      make = memory.max(before + 1, slot) + size[value] > 0 && costsMore(value, before + 1, slot, way(maker).ns);
  }
  if (!make) {
    list.insert(list.begin() + i, {slot, 1, Source::Keep});
    hold(before + 1, slot, size[value]);
    spoilHeld(value, before, true);
    return true;
  }
  list.insert(list.begin() + i, {slot, 1, Source::Make});
  if (!addRun(maker, slot))
    return false;
  if (!hasNext || next.source != Source::Make)
    return true;
  // A later run makes it as well: this one instead, where the value can be kept until then.
  if (memory.max(slot + 1, next.slot) + size[value] <= 0 || !costsMore(value, slot + 1, next.slot, way(maker).ns)) {
    saveTouches(value);
    list[find(value, next.slot)].source = Source::Keep;
    hold(slot + 1, next.slot, size[value]);
    spoil(next.slot);
    if (!makerNeeded(maker, next.slot))
      removeRun(maker, next.slot);
    clean(value, next.slot);
  }
  return true;
}

void Timeline::unneed(int value, int slot) {
  saveTouches(value);
  if (--touches[value][find(value, slot)].uses == 0)
    clean(value, slot);
}

// Takes away a touch that no run uses, unless the value is made or read there to be kept for a later one.
void Timeline::clean(int value, int slot) {
  std::vector<Touch> &list = touches[value];
  const int i = find(value, slot);
  if (!touchedAt(value, i, slot) || list[i].uses > 0)
    return;
  const Touch touch = list[i];
  const bool hasNext = i + 1 < int(list.size());
  const Touch next = hasNext ? list[i + 1] : Touch{slots, 0, Source::Make};
  if (fixedTouch(value, touch) || (touch.source == Source::Make && hasNext &&
                                   (next.source == Source::Keep || (i == 0 && next.source == Source::Read))))
    return;
  const int before = i > 0 ? list[i - 1].slot : -1;
  saveTouches(value);
  spoil(slot);
  list.erase(list.begin() + i);
  if (touch.source == Source::Keep && hasNext && next.source == Source::Keep) {
    hold(slot, slot + 1, size[value]);
    return;
  }
  if (touch.source == Source::Read || (hasNext && next.source == Source::Read))
    spoil(before);
  else if (touch.source == Source::Keep)
    spoilHeld(value, before, false);
  bool write = false;
  if (touch.source == Source::Read) {
    write = transfers[touch.transfer].write;
    release(value, transfers[touch.transfer]);
  } else if (touch.source == Source::Keep) {
    hold(before + 1, slot, -size[value]);
  }
  if (touch.source == Source::Read && hasNext && next.source == Source::Keep) {
    hold(slot + 1, next.slot, -size[value]);
    const int transfer = reserve(value, before, next.slot, write, true);
    list[i].source = Source::Read, list[i].transfer = transfer;
  } else if (hasNext && next.source == Source::Read) {
    write = write || transfers[next.transfer].write;
    const bool read = transfers[next.transfer].read;
    release(value, transfers[next.transfer]);
    const int transfer = reserve(value, before, next.slot, write, read);
    list[i].transfer = transfer;
  } else if (write) {
    passWrite(value, i);
  }
  if (touch.source == Source::Make && !makerNeeded(graph.values[value].maker, slot))
    removeRun(graph.values[value].maker, slot);
  if (before >= 0)
    clean(value, before);
}

bool Timeline::dropToMake(int value, int i) {
  if (!graph.values[value].remakable)
    return false;
  const int slot = touches[value][i].slot, before = touches[value][i - 1].slot;
  saveTouches(value);
  hold(before + 1, slot, -size[value]);
  touches[value][i].source = Source::Make;
  spoilHeld(value, before, false), spoil(slot);
  if (!addRun(graph.values[value].maker, slot))
    return false;
  clean(value, before);
  return true;
}

bool Timeline::restore(int value, int i) {
  std::vector<Touch> &list = touches[value];
  const Touch t = list[i];
  if (i == 0 || t.source == Source::Keep || t.slot >= slots)
    return false;
  const int before = list[i - 1].slot;
  if (before < 0 && graph.values[value].inFile)
    return false;
  if (before < 0) // a streamed constant becomes resident: all its gaps at once
    for (int k = int(list.size()) - 2; k > 1; --k)
      if (list[k].source == Source::Read)
        restore(value, k);
  saveTouches(value);
  spoil(t.slot);
  hold(before + 1, t.slot, size[value]);
  list[i].source = Source::Keep, list[i].transfer = -1;
  if (t.source == Source::Make) {
    spoilHeld(value, before, true);
    if (!makerNeeded(graph.values[value].maker, t.slot))
      removeRun(graph.values[value].maker, t.slot);
    clean(value, t.slot); // it may have been there only to be kept for later
    return true;
  }
  spoil(before);
  const bool wrote = transfers[t.transfer].write;
  release(value, transfers[t.transfer]);
  if (before < 0) {
    Touch &last = list.back();
    const int from = list[list.size() - 2].slot;
    release(value, transfers[last.transfer]);
    last.source = Source::Keep, last.transfer = -1;
    hold(from + 1, slots, size[value]);
    spoil(from);
  } else if (wrote) {
    passWrite(value, i + 1);
  }
  return true;
}

void Timeline::setChoice(int group, int to) {
  const Graph::Group &g = graph.groups[group];
  auto cost = [&] {
    int64_t sum = 0;
    for (int o : g.operations)
      sum += runCount[o] * way(o).ns;
    return sum;
  };
  const int64_t before = cost();
  log.push_back({Entry::Choice, group, 0, choice[group]});
  choice[group] = to;
  addNs(cost() - before);
  auto spoilRuns = [&](int operation) {
    spoil(operation);
    for (int v : graph.operations[operation].writes)
      for (const Touch &t : touches[v])
        if (t.source == Source::Make)
          spoil(t.slot);
  };
  for (int o : g.operations)
    spoilRuns(o);
  for (int v : g.values) {
    const int64_t now = graph.values[v].bytes[to], more = now - size[v];
    if (more == 0)
      continue;
    std::vector<Touch> &list = touches[v];
    saveTouches(v);
    for (size_t i = 1; i < list.size(); ++i) {
      if (list[i].source == Source::Keep)
        hold(list[i - 1].slot + 1, list[i].slot, more);
      else if (list[i].source == Source::Read)
        release(v, transfers[list[i].transfer]);
    }
    log.push_back({Entry::Size, v, 0, size[v]});
    size[v] = now;
    for (Touch &t : list)
      if (t.source == Source::Read) {
        const Transfer old = transfers[t.transfer];
        t.transfer = reserve(v, old.from, old.to, old.write, old.read);
      }
    for (const Touch &t : list)
      spoil(t.slot);
    if (graph.values[v].maker >= 0)
      spoilRuns(graph.values[v].maker);
  }
}

} // namespace plim::solver
