//===- ByteRanges.cpp - Strided ranges of bytes, and sets of them -------------------------------===//
#include "compiler/Check/ByteRanges.h"
#include <algorithm>

namespace plim::check {

bool meet(const Strip &a, const Strip &b) {
  if (a.end() <= b.offset || b.end() <= a.offset || a.end() == a.offset || b.end() == b.offset)
    return false;
  if (a.count == 1 || b.count == 1 || a.stride != b.stride)
    return true; // the gaps of one strip hold another only where strides are equal
  const uint64_t from = a.offset % a.stride, other = b.offset % a.stride;
  const uint64_t ahead = (other + a.stride - from) % a.stride;
  return ahead < a.run || ahead + b.run > a.stride;
}

void ByteSet::add(Intervals &set, uint64_t low, uint64_t high) {
  if (low >= high)
    return;
  auto it = set.upper_bound(low);
  if (it != set.begin() && std::prev(it)->second >= low)
    --it;
  while (it != set.end() && it->first <= high) {
    low = std::min(low, it->first), high = std::max(high, it->second);
    it = set.erase(it);
  }
  set.emplace(low, high);
}

void ByteSet::remove(Intervals &set, uint64_t low, uint64_t high) {
  if (low >= high)
    return;
  auto it = set.upper_bound(low);
  if (it != set.begin() && std::prev(it)->second > low)
    --it;
  while (it != set.end() && it->first < high) {
    auto [start, end] = *it;
    it = set.erase(it);
    if (start < low)
      set.emplace(start, low);
    if (end > high)
      set.emplace(high, end);
  }
}

bool ByteSet::covers(const Intervals &set, uint64_t low, uint64_t high) {
  if (low >= high)
    return true;
  auto it = set.upper_bound(low);
  return it != set.begin() && std::prev(it)->second >= high;
}

ByteSet::Intervals ByteSet::common(const Intervals &a, const Intervals &b) {
  Intervals both;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    const uint64_t low = std::max(x->first, y->first), high = std::min(x->second, y->second);
    if (low < high)
      both.emplace(low, high);
    ++(x->second < y->second ? x : y);
  }
  return both;
}

// The strip cut so that no run crosses the end of a row; rows start at the origin.
std::vector<Strip> ByteSet::inRows(const Strip &strip, uint64_t origin) {
  const uint64_t column = (strip.offset - origin) % strip.stride;
  if (column + strip.run <= strip.stride)
    return {strip};
  const uint64_t first = strip.stride - column;
  return {{strip.offset, first, strip.stride, strip.count},
          {strip.offset + first, strip.run - first, strip.stride, strip.count}};
}

void ByteSet::add(uint64_t low, uint64_t high) { add(whole, low, high); }

void ByteSet::add(const Strip &strip, uint64_t origin) {
  if (strip.count <= 1)
    return add(whole, strip.offset, strip.end());
  for (const Strip &part : inRows(strip, origin)) {
    const uint64_t column = (part.offset - origin) % part.stride, row = part.offset - column;
    const Rows rows{row, part.stride, part.count};
    Intervals &columns = partial[rows];
    add(columns, column, column + part.run);
    if (covers(columns, 0, part.stride)) {
      add(whole, row, row + part.stride * part.count);
      partial.erase(rows);
    }
  }
}

void ByteSet::remove(uint64_t low, uint64_t high) {
  remove(whole, low, high);
  for (auto it = partial.begin(); it != partial.end();) {
    const auto &[row, stride, count] = it->first;
    const uint64_t start = row + it->second.begin()->first;
    const uint64_t end = row + (count - 1) * stride + it->second.rbegin()->second;
    if (end <= low || high <= start) {
      ++it;
      continue;
    }
    // What is left of rows that lose some bytes is kept run by run.
    Intervals rest;
    if (start < low || high < end)
      spellOut(*it, start, end, rest);
    remove(rest, low, high);
    for (const auto &[from, to] : rest)
      add(whole, from, to);
    it = partial.erase(it);
  }
}

bool ByteSet::covers(uint64_t low, uint64_t high) const {
  return covers(whole, low, high) || (low < high && covers(spelledOut(low, high), low, high));
}

// Rows that were written in groups, or of which only some are asked for, are compared run by run: rare, and exact.
bool ByteSet::covers(const Strip &strip, uint64_t origin) const {
  if (covers(whole, strip.offset, strip.end()))
    return true;
  if (strip.count > 1) {
    bool all = true;
    for (const Strip &part : inRows(strip, origin)) {
      const uint64_t column = (part.offset - origin) % part.stride;
      auto it = partial.find({part.offset - column, part.stride, part.count});
      all = all && it != partial.end() && covers(it->second, column, column + part.run);
    }
    if (all)
      return true;
  }
  const Intervals exact = spelledOut(strip.offset, strip.end());
  for (uint64_t i = 0; i < strip.count; ++i)
    if (!covers(exact, strip.offset + i * strip.stride, strip.offset + i * strip.stride + strip.run))
      return false;
  return true;
}

void ByteSet::spellOut(const Partial &entry, uint64_t low, uint64_t high, Intervals &into) {
  const auto &[row, stride, count] = entry.first;
  for (uint64_t i = low > row ? (low - row) / stride : 0; i < count && row + i * stride < high; ++i)
    for (const auto &[from, to] : entry.second)
      add(into, row + i * stride + from, row + i * stride + to);
}

ByteSet::Intervals ByteSet::spelledOut(uint64_t low, uint64_t high) const {
  Intervals exact = common(whole, {{low, high}});
  for (const Partial &entry : partial)
    spellOut(entry, low, high, exact);
  return exact;
}

void ByteSet::intersect(const ByteSet &other) {
  whole = common(whole, other.whole);
  for (auto it = partial.begin(); it != partial.end();) {
    auto same = other.partial.find(it->first);
    const auto &[row, stride, count] = it->first;
    // What the other has in full, it has in part too.
    if (same != other.partial.end())
      it->second = common(it->second, same->second);
    else if (!covers(other.whole, row, row + stride * count))
      it->second.clear();
    it = it->second.empty() ? partial.erase(it) : std::next(it);
  }
}

} // namespace plim::check
