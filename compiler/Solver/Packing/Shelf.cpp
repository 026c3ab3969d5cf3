//===- Shelf.cpp - Holes between placed items, and greedy passes over them --------------------===//
#include "compiler/Solver/Packing/Shelf.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace plim::solver {

static int64_t roundUp(int64_t value, int64_t align) { return (value + align - 1) / align * align; }

// All starts and ends, each once.
static std::vector<int64_t> instantsOf(const std::vector<Item> &items) {
  std::vector<int64_t> times;
  for (const Item &i : items)
    times.insert(times.end(), {i.lower, i.upper});
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

std::vector<Item> rankTimes(const std::vector<Item> &items) {
  const std::vector<int64_t> times = instantsOf(items);
  auto rank = [&](int64_t t) { return std::lower_bound(times.begin(), times.end(), t) - times.begin(); };
  std::vector<Item> ranked = items;
  for (Item &i : ranked)
    i.lower = rank(i.lower), i.upper = rank(i.upper);
  return ranked;
}

int64_t Shelf::hole(const Item &item, bool tightest) const {
  const int32_t lower = int32_t(item.lower), upper = int32_t(item.upper);
  int64_t free = 0; // end of the highest byte taken so far
  int64_t best = -1, bestRoom = INT64_MAX;
  // Bytes [low, high) are taken. True: `best` is final.
  auto meet = [&](int64_t low, int64_t high) {
    if (low - free >= item.size) { // most holes are too small, and rounding divides
      const int64_t start = roundUp(free, item.align), room = low - start;
      if (room >= item.size && room < bestRoom) {
        best = start, bestRoom = room;
        if (!tightest || room == item.size)
          return true;
      }
    }
    free = std::max(free, high);
    return false;
  };
  auto pillar = pillars.begin();
  for (const auto &block : blocks)
    for (int from = 0; from < block->count; from += 8) {
      uint8_t meets[8];
      for (int k = 0; k < 8; ++k)
        meets[k] = uint8_t(int(block->lower[from + k] < upper) & int(block->upper[from + k] > lower));
      uint64_t word;
      std::memcpy(&word, meets, 8);
      for (; word != 0; word &= word - 1) {
        const int k = from + std::countr_zero(word) / 8;
        for (; pillar != pillars.end() && pillar->low < block->low[k]; ++pillar)
          if (meet(pillar->low, pillar->high))
            return best;
        if (meet(block->low[k], block->high[k]))
          return best;
      }
    }
  for (; pillar != pillars.end(); ++pillar)
    if (meet(pillar->low, pillar->high))
      return best;
  return best >= 0 ? best : roundUp(free, item.align);
}

void Shelf::insertPillar(int64_t low, int64_t high) {
  auto next = std::partition_point(pillars.begin(), pillars.end(), [&](const Pillar &p) { return p.low < low; });
  const bool meetsNext = next != pillars.end() && next->low == high;
  if (next != pillars.begin() && (next - 1)->high == low) {
    (next - 1)->high = meetsNext ? next->high : high;
    if (meetsNext)
      pillars.erase(next);
  } else if (meetsNext) {
    next->low = low;
  } else {
    pillars.insert(next, {low, high});
  }
}

void Shelf::Block::insert(int at, int64_t offset, const Item &item) {
  auto put = [&](auto &field, auto value) {
    std::copy_backward(field.begin() + at, field.begin() + count, field.begin() + count + 1);
    field[at] = value;
  };
  put(low, offset), put(high, offset + item.size);
  put(lower, int32_t(item.lower)), put(upper, int32_t(item.upper));
  ++count;
}

std::unique_ptr<Shelf::Block> Shelf::Block::splitUpperHalf() {
  auto half = std::make_unique<Block>();
  const int keep = count / 2;
  auto take = [&](auto &from, auto &to) {
    std::copy(from.begin() + keep, from.begin() + count, to.begin());
    std::fill(from.begin() + keep, from.begin() + count, 0);
  };
  take(low, half->low), take(high, half->high), take(lower, half->lower), take(upper, half->upper);
  half->count = count - keep;
  count = keep;
  return half;
}

void Shelf::insert(const Item &item, int64_t offset) {
  if (item.lower <= begin && item.upper >= end) {
    insertPillar(offset, offset + item.size);
    return;
  }
  if (blocks.empty())
    blocks.push_back(std::make_unique<Block>());
  auto block = std::partition_point(blocks.begin() + 1, blocks.end(),
                                    [&](const std::unique_ptr<Block> &b) { return b->low[0] <= offset; }) -
               1;
  if ((*block)->count == Block::kLongest) {
    block = blocks.insert(block + 1, (*block)->splitUpperHalf());
    if ((*block)->low[0] > offset)
      --block;
  }
  const auto &low = (*block)->low;
  const auto at = std::upper_bound(low.begin(), low.begin() + (*block)->count, offset);
  (*block)->insert(int(at - low.begin()), offset, item);
}

Shelves::Shelves(const std::vector<Item> &items) {
  constexpr size_t kFew = 64; // items that start in half of a stretch
  int64_t end = 1;
  for (const Item &i : items)
    end = std::max(end, i.upper);
  auto addLevel = [&](int64_t half) {
    Level level{half, {}};
    for (int64_t begin = 0; begin < end; begin += half)
      level.stretches.emplace_back(begin, std::min(begin + 2 * half, end));
    levels.push_back(std::move(level));
  };
  addLevel(end);
  for (size_t parts = 4; items.size() / parts > kFew && int64_t(parts) < end; parts *= 4)
    addLevel((end + int64_t(parts) - 1) / int64_t(parts));
}

int64_t Shelves::hole(const Item &item, bool tightest) const {
  for (size_t k = levels.size(); --k > 0;)
    if (const int64_t at = item.lower / levels[k].half; item.upper <= (at + 2) * levels[k].half)
      return levels[k].stretches[size_t(at)].hole(item, tightest);
  return levels.front().stretches.front().hole(item, tightest);
}

void Shelves::insert(const Item &item, int64_t offset) {
  for (Level &level : levels) {
    const int64_t last = (item.upper - 1) / level.half;
    for (int64_t k = std::max<int64_t>(0, item.lower / level.half - 1); k <= last; ++k)
      level.stretches[size_t(k)].insert(item, offset);
  }
}

void Pass::run(const std::vector<Item> &items, const std::vector<int64_t> &fixed, int64_t limit) {
  Shelves shelves(items);
  offset.assign(items.size(), 0);
  height = 0;
  auto isFixed = [&](int i) { return !fixed.empty() && fixed[i] >= 0; };
  if (!fixed.empty())
    std::stable_partition(order.begin(), order.end(), isFixed);
  for (int i : order) {
    if (items[i].size == 0 || items[i].lower >= items[i].upper)
      continue; // takes no room; lies at 0
    offset[i] = isFixed(i) ? fixed[i] : shelves.hole(items[i], tightest);
    shelves.insert(items[i], offset[i]);
    height = std::max(height, offset[i] + items[i].size);
    if (height > limit) {
      height = INT64_MAX;
      return;
    }
  }
}

std::vector<int64_t> fullestInstants(const std::vector<Item> &items) {
  const std::vector<int64_t> times = instantsOf(items);
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
