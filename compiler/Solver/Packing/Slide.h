//===- Slide.h - Offsets that may change while an item lives ----------------------------------===//
//
// Where no packing of fixed offsets is low enough, live items are moved: at an instant where no hole takes what starts
// there, the cheapest neighbours slide together until one does. Where nothing is pinned, everything fits whenever the
// largest sum alive at one instant does, each size rounded up to its alignment (and, where there are more than two
// alignments, all but the smallest counted as the largest).
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_PACKING_SLIDE_H
#define PLIM_SOLVER_PACKING_SLIDE_H

#include "compiler/Solver/Packing/Packing.h"

namespace plim::solver {

// The item has one offset at all instants of [from, to): a transfer of it is in flight, or its address is known
// outside.
struct Pin {
  int item = -1;
  int64_t from = 0, to = 0;
};

// The item lies at `offset` from this instant on, until its next segment or its end.
struct Segment {
  int64_t from = 0, offset = 0;
  bool operator==(const Segment &) const = default;
};

// The bytes of an item move from offset `from` to offset `to`, which may overlap. This happens after what ends at
// `instant` has gone and before what starts there takes its place; the item lives before and after.
struct Slide {
  int64_t instant = 0;
  int item = -1;
  int64_t from = 0, to = 0;
  bool operator==(const Slide &) const = default;
};

struct SlidePlan {
  bool fits = false;
  std::vector<std::vector<Segment>> segments; // by item, the first from item.lower; empty where it takes no room
  std::vector<Slide> slides;                  // in the order in which they are done: none lands on bytes still needed
  int64_t height = 0;                         // largest offset + size
  int64_t maxLive = 0;                        // largest sum alive at one instant
  int64_t movedBytes = 0;                     // sum of the sizes over `slides`
  // Where it does not fit (the fields above then say nothing but maxLive): the first item without a place, its instant,
  // and the largest hole that sliding could make for it there.
  int stuck = -1;
  int64_t instant = 0, hole = 0;
};

// Packs first, and slides only where that is higher than the capacity. Offsets given in `items` are not read. Of
// several ways to slide the one that moves the fewest bytes; that it is the least possible is not promised.
// Deterministic.
SlidePlan packSliding(const std::vector<Item> &items, int64_t capacity, const std::vector<Pin> &pins = {},
                      const PackOptions &options = {});

} // namespace plim::solver

#endif // PLIM_SOLVER_PACKING_SLIDE_H
