//===- Shelf.cpp - Holes between placed items, and greedy passes over them --------------------===//
#include "compiler/Solver/Packing/Shelf.h"
#include <algorithm>
#include <numeric>

namespace plim::solver {

static int64_t roundUp(int64_t value, int64_t align) { return (value + align - 1) / align * align; }

int64_t Shelf::hole(const Item &item, bool tightest) const {
  int64_t free = 0; // end of the highest byte taken so far
  int64_t best = -1, bestRoom = INT64_MAX;
  for (const auto &block : blocks)
    for (const Entry &e : block) {
      if (e.lower >= item.upper || e.upper <= item.lower)
        continue;
      int64_t start = roundUp(free, item.align), room = e.low - start;
      if (room >= item.size && room < bestRoom) {
        best = start, bestRoom = room;
        if (!tightest || room == item.size)
          return best;
      }
      free = std::max(free, e.high);
    }
  return best >= 0 ? best : roundUp(free, item.align);
}

void Shelf::insert(const Item &item, int64_t offset) {
  constexpr size_t kLongest = 512;
  size_t k = 0;
  while (k + 1 < blocks.size() && blocks[k + 1].front().low <= offset)
    ++k;
  auto &block = blocks[k];
  auto at = std::upper_bound(block.begin(), block.end(), offset, [](int64_t o, const Entry &e) { return o < e.low; });
  block.insert(at, {offset, offset + item.size, item.lower, item.upper});
  if (block.size() > kLongest) {
    std::vector<Entry> upper(block.begin() + kLongest / 2, block.end());
    block.resize(kLongest / 2);
    blocks.insert(blocks.begin() + int64_t(k) + 1, std::move(upper));
  }
}

void Pass::run(const std::vector<Item> &items, const std::vector<int64_t> &fixed) {
  Shelf shelf;
  offset.assign(items.size(), 0);
  height = 0;
  auto isFixed = [&](int i) { return !fixed.empty() && fixed[i] >= 0; };
  if (!fixed.empty())
    std::stable_partition(order.begin(), order.end(), isFixed);
  for (int i : order) {
    if (items[i].size == 0 || items[i].lower >= items[i].upper)
      continue; // takes no room; lies at 0
    offset[i] = isFixed(i) ? fixed[i] : shelf.hole(items[i], tightest);
    shelf.insert(items[i], offset[i]);
    height = std::max(height, offset[i] + items[i].size);
  }
}

std::vector<int64_t> fullestInstants(const std::vector<Item> &items) {
  std::vector<int64_t> times;
  for (const Item &i : items)
    times.insert(times.end(), {i.lower, i.upper});
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  auto at = [&](int64_t t) { return size_t(std::lower_bound(times.begin(), times.end(), t) - times.begin()); };
  // A sparse table: level[k][i] is the largest sum over times [i, i + 2^k).
  std::vector<std::vector<int64_t>> level(1, std::vector<int64_t>(times.size(), 0));
  for (const Item &i : items)
    level[0][at(i.lower)] += i.size, level[0][at(i.upper)] -= i.size;
  std::partial_sum(level[0].begin(), level[0].end(), level[0].begin());
  for (size_t half = 1; 2 * half <= times.size(); half *= 2) {
    std::vector<int64_t> next(times.size() - 2 * half + 1);
    for (size_t i = 0; i < next.size(); ++i)
      next[i] = std::max(level.back()[i], level.back()[i + half]);
    level.push_back(std::move(next));
  }
  std::vector<int64_t> result;
  result.reserve(items.size());
  for (const Item &i : items) {
    size_t first = at(i.lower), end = at(i.upper), k = 0;
    while (size_t(2) << k <= end - first && first < end)
      ++k;
    result.push_back(first < end ? std::max(level[k][first], level[k][end - (size_t(1) << k)]) : 0);
  }
  return result;
}

} // namespace plim::solver
