//===- Shelf.h - Holes between placed items, and greedy passes over them ----------------------===//
#ifndef PLIM_SOLVER_PACKING_SHELF_H
#define PLIM_SOLVER_PACKING_SHELF_H

#include "compiler/Solver/Packing/Packing.h"
#include <array>
#include <memory>

namespace plim::solver {

// The items with their times replaced by ranks, which fit 31 bits. Which items meet stays the same.
std::vector<Item> rankTimes(const std::vector<Item> &items);

// Placed items that live at some time of [begin, end), times ranked, by rising offset.
class Shelf {
public:
  Shelf(int64_t begin, int64_t end) : begin(begin), end(end) {}

  // The lowest hole for the item (or the tightest one) among the placed items whose lives meet its own, which must lie
  // within [begin, end).
  int64_t hole(const Item &item, bool tightest) const;
  void insert(const Item &item, int64_t offset);

private:
  // What is taken throughout [begin, end): long lives, joined where they lie side by side.
  struct Pillar {
    int64_t low, high;
  };
  // The other items, in blocks of bounded length so that inserting stays cheap. An array a field, so that one
  // instruction compares the lives of several items. What lies beyond `count` lives nowhere.
  struct Block {
    static constexpr int kLongest = 512;
    int count = 0;
    std::array<int32_t, kLongest> lower{}, upper{};
    std::array<int64_t, kLongest> low{}, high{};
    void insert(int at, int64_t offset, const Item &item);
    std::unique_ptr<Block> splitUpperHalf();
  };
  int64_t begin, end;
  std::vector<Pillar> pillars;
  std::vector<std::unique_ptr<Block>> blocks;
  void insertPillar(int64_t low, int64_t high);
};

// Shelves for stretches of time of several widths: an item stands on all that it meets, and is compared with those of
// the narrowest stretch that holds all of its life. The stretches of one width overlap by half.
class Shelves {
public:
  explicit Shelves(const std::vector<Item> &items); // times ranked
  int64_t hole(const Item &item, bool tightest) const;
  void insert(const Item &item, int64_t offset);

private:
  struct Level {
    int64_t half; // of the width of a stretch: stretch k is [k * half, (k + 2) * half)
    std::vector<Shelf> stretches;
  };
  std::vector<Level> levels; // widest first; the first is one stretch over all
};

// Items placed one by one in some order.
struct Pass {
  std::vector<int> order;
  bool tightest = false;
  std::vector<int64_t> offset;
  int64_t height = INT64_MAX; // INT64_MAX: the pass broke off

  // Places the items, times ranked. Those with an offset >= 0 in `fixed` come first and stay there; an empty `fixed`
  // fixes none. Breaks off where the height passes `limit`.
  void run(const std::vector<Item> &items, const std::vector<int64_t> &fixed = {}, int64_t limit = INT64_MAX);
};

// By item: the largest sum alive at any instant of its life.
std::vector<int64_t> fullestInstants(const std::vector<Item> &items);

} // namespace plim::solver

#endif // PLIM_SOLVER_PACKING_SHELF_H
