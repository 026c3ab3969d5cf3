//===- Shelf.h - Holes between placed items, and greedy passes over them ----------------------===//
#ifndef PLIM_SOLVER_PACKING_SHELF_H
#define PLIM_SOLVER_PACKING_SHELF_H

#include "compiler/Solver/Packing/Packing.h"

namespace plim::solver {

// Placed items by rising offset, in blocks of bounded length so that inserting stays cheap.
class Shelf {
public:
  // The lowest hole for the item (or the tightest one) among the placed items whose lives meet its own.
  int64_t hole(const Item &item, bool tightest) const;
  void insert(const Item &item, int64_t offset);

private:
  struct Entry {
    int64_t low, high, lower, upper;
  };
  std::vector<std::vector<Entry>> blocks{1};
};

// Items placed one by one in some order.
struct Pass {
  std::vector<int> order;
  bool tightest = false;
  std::vector<int64_t> offset;
  int64_t height = INT64_MAX;

  // Items with an offset >= 0 in `fixed` come first and stay there; an empty `fixed` fixes none.
  void run(const std::vector<Item> &items, const std::vector<int64_t> &fixed = {});
};

// By item: the largest sum alive at any instant of its life.
std::vector<int64_t> fullestInstants(const std::vector<Item> &items);

} // namespace plim::solver

#endif // PLIM_SOLVER_PACKING_SHELF_H
