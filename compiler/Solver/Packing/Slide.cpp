//===- Slide.cpp - Offsets that may change while an item lives --------------------------------===//
//
// One sweep over time places each item at its start: at the offset that a packing gave it, else in the tightest hole,
// else in one that sliding makes. Sliding joins the holes of a window of blocks by moving those between them down (or
// clears the bytes under a hole by moving what lies there elsewhere), whichever moves the fewest bytes. With one
// alignment that always succeeds where the bytes suffice: at worst the window is all of the arena.
//
// With two alignments, rounding between neighbours may eat the bytes. So there is a sweep that keeps the items of the
// largest alignment at the bottom and those of the smallest at the top; their sizes are multiples of their alignment,
// so each side is compact without gaps, and what is free lies between them.
//
//===------------------------------------------------------------------------------------------===//
#include "compiler/Solver/Packing/Slide.h"
#include <algorithm>
#include <numeric>

namespace plim::solver {
namespace {

int64_t roundUp(int64_t value, int64_t align) { return (value + align - 1) / align * align; }
int64_t roundDown(int64_t value, int64_t align) { return value / align * align; }

struct Block {
  int64_t offset, end;
  int item;
};

class Sweep {
public:
  // Hints: by item, where it goes if that is free, or -1. Empty: none.
  Sweep(const std::vector<Item> &items, const std::vector<std::vector<Pin>> &pins, int64_t capacity,
        const std::vector<int64_t> &hints, bool twoEnds)
      : items(items), pins(pins), capacity(capacity), hints(hints), twoEnds(twoEnds) {
    plan.segments.resize(items.size());
    for (const Item &i : items)
      least = std::min(least, i.align);
  }

  SlidePlan run() {
    std::vector<int> byStart;
    for (int i = 0; i < int(items.size()); ++i)
      if (items[i].size > 0 && items[i].lower < items[i].upper)
        byStart.push_back(i);
    std::sort(byStart.begin(), byStart.end(), [&](int a, int b) {
      const Item &x = items[a], &y = items[b];
      return x.lower != y.lower ? x.lower < y.lower : x.size != y.size ? x.size > y.size : a < b;
    });
    plan.fits = true;
    for (size_t k = 0; k < byStart.size() && plan.fits;) {
      now = items[byStart[k]].lower;
      std::erase_if(blocks, [&](const Block &b) { return items[b.item].upper <= now; });
      firstSlide = plan.slides.size();
      for (; k < byStart.size() && items[byStart[k]].lower == now; ++k)
        if (!place(byStart[k]))
          return std::move(plan);
      settle();
    }
    finish();
    return std::move(plan);
  }

private:
  const std::vector<Item> &items;
  const std::vector<std::vector<Pin>> &pins;
  const int64_t capacity;
  const std::vector<int64_t> &hints;
  const bool twoEnds;
  int64_t least = INT64_MAX; // alignment
  int64_t now = 0;
  std::vector<Block> blocks; // what is alive, by offset
  size_t firstSlide = 0;     // of this instant
  SlidePlan plan;

  // Starts now: holds nothing yet, so moving it costs nothing.
  bool fresh(int item) const { return items[item].lower == now; }
  bool pinned(int item) const {
    return std::any_of(pins[item].begin(), pins[item].end(),
                       [&](const Pin &p) { return std::max(p.from, items[item].lower) < now && now < p.to; });
  }
  int64_t cost(int item) const { return fresh(item) ? 0 : items[item].size; }
  // Gap k lies below block k, the last one above all.
  int64_t gapStart(size_t k) const { return k == 0 ? 0 : blocks[k - 1].end; }
  int64_t gapEnd(size_t k) const { return k == blocks.size() ? capacity : blocks[k].offset; }

  void insert(int item, int64_t offset) {
    auto at = std::lower_bound(blocks.begin(), blocks.end(), offset,
                               [](const Block &b, int64_t value) { return b.offset < value; });
    blocks.insert(at, {offset, offset + items[item].size, item});
    plan.segments[item].push_back({now, offset});
  }

  void move(Block &b, int64_t offset) {
    if (b.offset == offset)
      return;
    if (!fresh(b.item))
      plan.slides.push_back({now, b.item, b.offset, offset});
    b.offset = offset, b.end = offset + items[b.item].size;
    if (plan.segments[b.item].back().from != now)
      plan.segments[b.item].push_back({now, offset});
    plan.segments[b.item].back().offset = offset;
  }

  bool isFree(int64_t low, int64_t high) const {
    auto at = std::lower_bound(blocks.begin(), blocks.end(), low,
                               [](const Block &b, int64_t value) { return b.end <= value; });
    return high <= capacity && (at == blocks.end() || at->offset >= high);
  }

  bool place(int item) {
    const Item &x = items[item];
    if (twoEnds && placeAtAnEnd(item))
      return true;
    if (!hints.empty() && hints[item] >= 0 && isFree(hints[item], hints[item] + x.size)) {
      insert(item, hints[item]);
      return true;
    }
    int64_t tightest = INT64_MAX, offset = -1;
    for (size_t k = 0; k <= blocks.size(); ++k) {
      const int64_t start = roundUp(gapStart(k), x.align), room = gapEnd(k) - start;
      if (room >= x.size && room < tightest)
        tightest = room, offset = start;
    }
    if (offset < 0)
      offset = makeRoom(x);
    if (offset < 0)
      return fail(item);
    insert(item, offset);
    return true;
  }

  bool fail(int item) {
    const Item &x = items[item];
    plan.fits = false, plan.stuck = item, plan.instant = now, plan.hole = 0;
    for (size_t lo = 0; lo <= blocks.size(); ++lo) {
      int64_t cursor = gapStart(lo);
      size_t hi = lo;
      for (; hi < blocks.size() && !pinned(blocks[hi].item); ++hi)
        cursor = roundUp(cursor, items[blocks[hi].item].align) + items[blocks[hi].item].size;
      plan.hole = std::max(plan.hole, gapEnd(hi) - roundUp(cursor, x.align));
      lo = hi;
    }
    return false;
  }

  struct Window {
    int64_t cost = INT64_MAX;
    size_t first = 0, end = 0; // blocks
  };

  // The cheapest window of blocks that, slid down, leave room for x above them.
  Window cheapestWindow(const Item &x) const {
    Window best;
    for (size_t lo = 0; lo < blocks.size(); ++lo) {
      if (gapStart(lo) == gapEnd(lo))
        continue;
      int64_t cursor = gapStart(lo), moved = 0;
      for (size_t hi = lo; hi < blocks.size() && !pinned(blocks[hi].item); ++hi) {
        const Block &b = blocks[hi];
        const int64_t to = roundUp(cursor, items[b.item].align);
        moved += to < b.offset ? cost(b.item) : 0;
        cursor = to + items[b.item].size;
        if (moved >= best.cost)
          break;
        if (roundUp(cursor, x.align) + x.size <= gapEnd(hi + 1)) {
          best = {moved, lo, hi + 1};
          break;
        }
      }
    }
    return best;
  }

  // Moves blocks so that x fits somewhere; returns where, or -1.
  int64_t makeRoom(const Item &x) {
    const Window window = cheapestWindow(x);
    if (int64_t offset = clearRange(x, window.cost); offset >= 0)
      return offset;
    if (window.cost == INT64_MAX)
      return -1;
    for (size_t k = window.first; k < window.end; ++k)
      move(blocks[k], roundUp(gapStart(k), items[blocks[k].item].align));
    return roundUp(blocks[window.end - 1].end, x.align);
  }

  struct Range {
    int64_t cost, offset;
    size_t first, end; // blocks that it meets
  };

  // Ranges of x.size bytes that start or end at a block and meet movable ones of less than `limit` bytes in all.
  std::vector<Range> cheapRanges(const Item &x, int64_t limit) const {
    std::vector<int64_t> sum(blocks.size() + 1, 0);
    std::vector<int> walls(blocks.size() + 1, 0);
    for (size_t k = 0; k < blocks.size(); ++k)
      sum[k + 1] = sum[k] + cost(blocks[k].item), walls[k + 1] = walls[k] + pinned(blocks[k].item);
    std::vector<Range> ranges;
    auto consider = [&](int64_t offset) {
      if (offset < 0 || offset + x.size > capacity)
        return;
      auto first = std::partition_point(blocks.begin(), blocks.end(), [&](const Block &b) { return b.end <= offset; });
      auto end = std::partition_point(first, blocks.end(), [&](const Block &b) { return b.offset < offset + x.size; });
      const size_t i = size_t(first - blocks.begin()), j = size_t(end - blocks.begin());
      if (walls[i] == walls[j] && sum[j] - sum[i] < limit)
        ranges.push_back({sum[j] - sum[i], offset, i, j});
    };
    for (size_t k = 0; k <= blocks.size(); ++k)
      consider(roundUp(gapStart(k), x.align)), consider(roundDown(gapEnd(k) - x.size, x.align));
    std::sort(ranges.begin(), ranges.end(),
              [](const Range &a, const Range &b) { return a.cost != b.cost ? a.cost < b.cost : a.offset < b.offset; });
    return ranges;
  }

  // Empties a range that costs less than `limit`: what it meets moves into holes elsewhere. Returns its offset, or -1.
  int64_t clearRange(const Item &x, int64_t limit) {
    constexpr size_t kTries = 16;
    std::vector<Range> ranges = cheapRanges(x, limit);
    for (size_t r = 0; r < std::min(ranges.size(), kTries); ++r) {
      const Range &range = ranges[r];
      std::vector<Block> free; // holes outside the range
      for (size_t k = 0; k <= blocks.size(); ++k) {
        free.push_back({gapStart(k), std::min(gapEnd(k), range.offset), -1});
        free.push_back({std::max(gapStart(k), range.offset + x.size), gapEnd(k), -1});
      }
      std::vector<Block> moved(blocks.begin() + int64_t(range.first), blocks.begin() + int64_t(range.end));
      std::stable_sort(moved.begin(), moved.end(),
                       [](const Block &a, const Block &b) { return a.end - a.offset > b.end - b.offset; });
      std::vector<int64_t> target;
      for (const Block &b : moved)
        if (int64_t offset = takeTightest(free, items[b.item]); offset >= 0)
          target.push_back(offset);
        else
          break;
      if (target.size() < moved.size())
        continue;
      for (size_t k = 0; k < moved.size(); ++k)
        for (Block &b : blocks)
          if (b.item == moved[k].item)
            move(b, target[k]);
      std::sort(blocks.begin(), blocks.end(), [](const Block &a, const Block &b) { return a.offset < b.offset; });
      return range.offset;
    }
    return -1;
  }

  // The tightest of the holes that takes x, which leaves it; -1: none.
  static int64_t takeTightest(std::vector<Block> &free, const Item &x) {
    Block *best = nullptr;
    for (Block &hole : free)
      if (roundUp(hole.offset, x.align) + x.size <= hole.end &&
          (!best || hole.end - hole.offset < best->end - best->offset))
        best = &hole;
    if (!best)
      return -1;
    const int64_t offset = roundUp(best->offset, x.align);
    best->offset = offset + x.size;
    return offset;
  }

  bool atTop(int item) const { return items[item].align == least; }

  // Items of the least alignment come down from the capacity, others go up from 0.
  bool placeAtAnEnd(int item) {
    const Item &x = items[item];
    const int64_t top = roundDown(capacity, least);
    const size_t split =
        size_t(std::partition_point(blocks.begin(), blocks.end(), [&](const Block &b) { return !atTop(b.item); }) -
               blocks.begin());
    // A hole on its own side first, then the gap in the middle, as it is or with one side or both slid away.
    if (atTop(item)) {
      for (size_t k = blocks.size(); k > split; --k)
        if (int64_t start = roundDown(std::min(top, gapEnd(k)) - x.size, x.align); start >= gapStart(k)) {
          insert(item, start);
          return true;
        }
    } else {
      for (size_t k = 0; k < split; ++k)
        if (int64_t start = roundUp(gapStart(k), x.align); start + x.size <= gapEnd(k)) {
          insert(item, start);
          return true;
        }
    }
    auto middle = [&] {
      const int64_t low = gapStart(split), high = std::min(top, gapEnd(split));
      const int64_t offset = atTop(item) ? roundDown(high - x.size, x.align) : roundUp(low, x.align);
      if (offset < low || offset + x.size > high)
        return false;
      insert(item, offset);
      return true;
    };
    auto down = [&] {
      for (size_t k = 0; k < split; ++k)
        if (!pinned(blocks[k].item))
          move(blocks[k], roundUp(gapStart(k), items[blocks[k].item].align));
    };
    auto up = [&] {
      for (size_t k = blocks.size(); k-- > split;)
        if (Block &b = blocks[k]; !pinned(b.item))
          move(b, roundDown(std::min(top, gapEnd(k + 1)) - items[b.item].size, items[b.item].align));
    };
    if (middle())
      return true;
    atTop(item) ? up() : down();
    if (middle())
      return true;
    atTop(item) ? down() : up();
    return middle();
  }

  // An item that moved several times at this instant moves once, straight to its end, where an order of the slides
  // allows it: one that lands on the bytes of another comes after that one.
  void settle() {
    std::vector<Slide> once;
    for (size_t k = firstSlide; k < plan.slides.size(); ++k) {
      const Slide &s = plan.slides[k];
      auto known = std::find_if(once.begin(), once.end(), [&](const Slide &o) { return o.item == s.item; });
      if (known == once.end())
        once.push_back(s);
      else
        known->to = s.to;
    }
    std::erase_if(once, [](const Slide &s) { return s.from == s.to; });
    if (once.size() == plan.slides.size() - firstSlide)
      return;
    std::vector<Slide> ordered;
    while (!once.empty()) {
      auto next = std::find_if(once.begin(), once.end(), [&](const Slide &s) {
        const int64_t size = items[s.item].size;
        return std::none_of(once.begin(), once.end(), [&](const Slide &o) {
          return o.item != s.item && s.to < o.from + items[o.item].size && o.from < s.to + size;
        });
      });
      if (next == once.end())
        return; // they go in a circle: as they were found
      ordered.push_back(*next);
      once.erase(next);
    }
    plan.slides.resize(firstSlide);
    plan.slides.insert(plan.slides.end(), ordered.begin(), ordered.end());
  }

  void finish() {
    for (size_t i = 0; i < items.size(); ++i) {
      auto &segments = plan.segments[i];
      auto same = [](const Segment &a, const Segment &b) { return a.offset == b.offset; };
      segments.erase(std::unique(segments.begin(), segments.end(), same), segments.end());
      for (const Segment &s : segments)
        plan.height = std::max(plan.height, s.offset + items[i].size);
    }
    for (const Slide &s : plan.slides)
      plan.movedBytes += items[s.item].size;
  }
};

} // namespace

SlidePlan packSliding(const std::vector<Item> &items, int64_t capacity, const std::vector<Pin> &pins,
                      const PackOptions &options) {
  std::vector<std::vector<Pin>> pinsOf(items.size());
  for (const Pin &p : pins)
    pinsOf[p.item].push_back(p);
  std::vector<Item> packed = items;
  PackOptions aim = options;
  aim.capacity = capacity;
  pack(packed, aim);
  std::vector<int64_t> hints;
  for (const Item &i : packed)
    hints.push_back(i.offset);

  SlidePlan best;
  for (bool hinted : {true, false}) {
    SlidePlan plan = Sweep(items, pinsOf, capacity, hinted ? hints : std::vector<int64_t>(), false).run();
    if (!best.fits || (plan.fits && plan.movedBytes < best.movedBytes))
      best = std::move(plan);
    if (best.fits && best.slides.empty())
      break;
  }
  if (!best.fits)
    best = Sweep(items, pinsOf, capacity, {}, true).run();
  best.maxLive = maxLive(items);
  return best;
}

} // namespace plim::solver
