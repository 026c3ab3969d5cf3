//===- Transfers.cpp - Values that go to the ssd and come back -----------------------------------===//
//
// A transfer takes time of a link in the slots that it may use: a write from the first free ones after the value's last
// use, a read from the last free ones before its next. What they cannot hold is a stall, which is charged. A prompt
// write and a late read take no slot, and are nothing but stall: so the memory of a value is free in all slots between
// its uses. Times are those of the slots without recomputation, so this is a plan, not the prediction.
//
//===------------------------------------------------------------------------------------------===//
#include "compiler/Solver/Joint/Timeline.h"
#include <algorithm>
#include <cmath>

namespace plim::solver {

bool Timeline::onSsd(int value, int i) const {
  for (int k = 1; k < i; ++k)
    if (const Touch &t = touches[value][k]; t.source == Source::Read && transfers[t.transfer].write)
      return true;
  return graph.values[value].maker < 0;
}

bool Timeline::readable(int value, int i) const {
  const Graph::Value &v = graph.values[value];
  if (v.maker < 0)
    return true;
  return v.spillable && (onSsd(value, i) || spilled + size[value] <= ssdCapacity);
}

bool Timeline::dropToRead(int value, int i) {
  if (!readable(value, i))
    return false;
  const int slot = touches[value][i].slot, before = touches[value][i - 1].slot;
  saveTouches(value);
  spoil(before), spoil(slot);
  hold(before + 1, slot, -size[value]);
  const int transfer = reserve(value, before, slot, !onSsd(value, i), true);
  touches[value][i].source = Source::Read, touches[value][i].transfer = transfer;
  if (before < 0) { // what is not there at the start of a run need not be there at its end
    const int last = int(touches[value].size()) - 1, from = touches[value][last - 1].slot;
    hold(from + 1, slots, -size[value]);
    const int tail = reserve(value, from, slots, false, false);
    touches[value][last].source = Source::Read, touches[value][last].transfer = tail;
    spoil(from);
  }
  return true;
}

// The write that a gap had falls to the next one that reads the same bytes.
void Timeline::passWrite(int value, int from) {
  std::vector<Touch> &list = touches[value];
  for (int k = std::max(from, 1); k < int(list.size()); ++k)
    if (list[k].source == Source::Read) {
      const Transfer old = transfers[list[k].transfer];
      if (old.write)
        return;
      release(value, old);
      list[k].transfer = reserve(value, list[k - 1].slot, list[k].slot, true, old.read);
      spoil(list[k - 1].slot);
      return;
    }
}

void Timeline::planWrite(int value, Transfer &t) const {
  int64_t left = t.write ? writeLink->latencyNs + transferNs(*writeLink, size[value]) : 0;
  t.writeEnd = t.from + 1;
  while (left > 0 && !t.prompt && t.writeEnd < t.to) {
    const int slot = writeTime.next(t.writeEnd, t.to);
    if (slot < t.to) {
      const int64_t some = std::min(left, writeTime[slot]);
      t.written.push_back({slot, some}), left -= some;
    }
    t.writeEnd = std::min(slot + 1, t.to);
  }
  t.stall += left;
}

void Timeline::planRead(int value, Transfer &t) const {
  int64_t left = t.read ? readLink->latencyNs + transferNs(*readLink, size[value]) : 0;
  t.readStart = t.to;
  while (left > 0 && !t.late && t.readStart > t.writeEnd) {
    const int slot = readTime.last(t.writeEnd, t.readStart);
    if (slot >= t.writeEnd) {
      const int64_t some = std::min(left, readTime[slot]);
      t.fetched.push_back({slot, some}), left -= some;
    }
    t.readStart = std::max(slot, t.writeEnd);
  }
  t.stall += left;
}

Transfer Timeline::plan(int value, int from, int to, bool write, bool read) const {
  Transfer t;
  t.from = from, t.to = to, t.write = write, t.read = read, t.late = lateReads, t.prompt = promptWrites;
  planWrite(value, t);
  planRead(value, t);
  const int64_t busy =
      (write ? transferNs(*writeLink, size[value]) : 0) + (read ? transferNs(*readLink, size[value]) : 0);
  t.price = t.stall + std::llround(linkPrice * double(busy));
  return t;
}

void Timeline::takeTime(Entry::Kind kind, const std::vector<std::pair<int, int64_t>> &taken, int sign) {
  LinkTime &time = kind == Entry::ReadTime ? readTime : writeTime;
  for (auto [slot, some] : taken) {
    log.push_back({kind, slot, 0, time[slot]});
    time.set(slot, time[slot] + sign * some);
  }
}

int Timeline::add(int value, Transfer t) {
  hold(t.from + 1, t.writeEnd, size[value]);
  hold(t.readStart, t.to, size[value]);
  addNs(t.price);
  takeTime(Entry::WriteTime, t.written, -1);
  takeTime(Entry::ReadTime, t.fetched, -1);
  if (t.write) {
    log.push_back({Entry::Spilled, 0, 0, spilled});
    spilled += size[value];
  }
  log.push_back({Entry::Transfers, 0, 0, int64_t(transfers.size())});
  transfers.push_back(std::move(t));
  return int(transfers.size()) - 1;
}

int Timeline::reserve(int value, int from, int to, bool write, bool read) {
  return add(value, plan(value, from, to, write, read));
}

void Timeline::release(int value, const Transfer &t) {
  takeTime(Entry::WriteTime, t.written, 1);
  takeTime(Entry::ReadTime, t.fetched, 1);
  hold(t.from + 1, t.writeEnd, -size[value]);
  hold(t.readStart, t.to, -size[value]);
  addNs(-t.price);
  if (t.write) {
    log.push_back({Entry::Spilled, 0, 0, spilled});
    spilled -= size[value];
  }
}

void Timeline::replanTransfer(int value, int i) {
  saveTouches(value);
  Touch &touch = touches[value][i];
  const Transfer old = transfers[touch.transfer];
  release(value, old);
  touch.transfer = reserve(value, old.from, old.to, old.write, old.read);
}

// Links serve transfers in the order of their issue, not of planning: plans all of them anew, writes by the slot in
// which they start, reads by the slot in which they are due, from the last.
void Timeline::replanTransfers() {
  struct Item {
    int value, touch;
    Transfer transfer;
  };
  std::vector<Item> items;
  for (int v = 0; v < int(touches.size()); ++v)
    for (int i = 1; i < int(touches[v].size()); ++i)
      if (touches[v][i].source == Source::Read) {
        const Transfer &old = transfers[touches[v][i].transfer];
        Transfer fresh;
        fresh.from = old.from, fresh.to = old.to, fresh.write = old.write, fresh.read = old.read;
        fresh.late = old.late, fresh.prompt = old.prompt;
        items.push_back({v, i, fresh});
        release(v, old);
      }
  auto by = [&](auto key) {
    std::stable_sort(items.begin(), items.end(), [&](const Item &a, const Item &b) { return key(a) < key(b); });
  };
  by([](const Item &x) { return x.transfer.from; });
  for (Item &x : items) {
    planWrite(x.value, x.transfer);
    takeTime(Entry::WriteTime, x.transfer.written, -1);
  }
  by([](const Item &x) { return -x.transfer.to; });
  for (Item &x : items) {
    takeTime(Entry::WriteTime, x.transfer.written, 1); // add takes it again
    planRead(x.value, x.transfer);
    x.transfer.price = x.transfer.stall;
    saveTouches(x.value);
    touches[x.value][x.touch].transfer = add(x.value, std::move(x.transfer));
  }
}

void Timeline::holdWrite(int value, int i, int writeEnd) {
  const int number = touches[value][i].transfer;
  hold(transfers[number].writeEnd, writeEnd, size[value]);
  log.push_back({Entry::WriteEnd, number, 0, transfers[number].writeEnd});
  transfers[number].writeEnd = writeEnd;
}

void Timeline::holdRead(int value, int i, int readStart) {
  const int number = touches[value][i].transfer;
  hold(readStart, transfers[number].readStart, size[value]);
  log.push_back({Entry::ReadStart, number, 0, transfers[number].readStart});
  transfers[number].readStart = readStart;
}

Timeline::Quote Timeline::quoteRead(int value, int i) {
  const std::vector<Touch> &list = touches[value];
  Quote quote;
  ++work;
  quote.possible = readable(value, i);
  if (!quote.possible)
    return quote;
  auto count = [&](const Transfer &t) {
    quote.cost += double(t.price);
    quote.gain += double(size[value]) *
                  (weightOf(t.from + 1, t.to) - weightOf(t.from + 1, t.writeEnd) - weightOf(t.readStart, t.to));
  };
  count(plan(value, list[i - 1].slot, list[i].slot, !onSsd(value, i), true));
  if (list[i - 1].slot < 0)
    count(plan(value, list[list.size() - 2].slot, slots, false, false));
  return quote;
}

} // namespace plim::solver
