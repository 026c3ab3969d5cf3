//===- ExactSearch.h - The search behind packExactly ------------------------------------------===//
//
// Any packing can be pushed down until each item rests on 0 or on another and none could drop into a hole below it.
// Such packings are built from the bottom (as in MiniMalloc; Moffitt, ASPLOS 2023): take an item whose least possible
// offset `low` is least of all; either it lies there, or higher. A section is a maximal span of time with the same
// items alive. Each decision is followed to a fixed point by five rules over the items that are still open:
//   1. lift:      what is placed lifts the low of all that it meets;
//   2. load:      in a section, the items with low >= t need t + the sum of their sizes <= capacity, for each t;
//   3. not first: where an item at its low leaves no room above for the rest of a section, another lies below it there;
//   4. support:   an item that may not lie on what is placed under it rests on one that is still open;
//   5. hole:      an item that may not drop to a place is kept out by an open one that can reach it.
// Each low carries the decisions that it follows from, so that a dead end names the decisions it needs, and others are
// skipped (conflict-directed backjumping; Prosser 1993). Stretches of time that no open item crosses are solved one by
// one. Sections remember the dead ends that they caused (weights; Boussemart et al. 2004) over restarts.
//
// Memory is quadratic in the number of items that meet; a node costs about 1 ms at 2,000 items.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_PACKING_EXACTSEARCH_H
#define PLIM_SOLVER_PACKING_EXACTSEARCH_H

#include "compiler/Solver/Packing/ExactPacking.h"

namespace plim::solver {

class ExactSearch {
public:
  // Which section supplies the next item: any, that with the least slack for its weight, that of the largest weight.
  enum class BySection { No, Slack, Weight };
  struct Strategy {
    std::vector<int> rank; // by item: the lower goes first
    BySection bySection = BySection::No;
  };

  // What dead ends taught, by section; empty where there were none yet. Runs that should learn from each other share
  // it.
  struct Weights {
    std::vector<double> ofSection;
    double bump = 1;
  };

  ExactSearch(const std::vector<Item> &items, int64_t capacity);

  // Adds the nodes that it visits to `spent`, at most `limit`. Offsets are valid after Packed.
  Verdict run(Strategy strategy, Weights &learned, int64_t limit, int64_t &spent);

  int count() const { return int(from.size()); }
  int64_t offsetOf(int item) const { return offset[item]; }
  int64_t widthOf(int item) const { return width[item]; }
  int64_t sizeOf(int item) const { return size[item]; }
  int64_t sectionsOf(int item) const { return to[item] - from[item]; }
  int64_t fullestOf(int item) const { return fullest[item]; }

private:
  // A set of decisions of the current path, by number modulo kBits: a shared bit costs precision, never soundness.
  struct Cause {
    static constexpr int kBits = 512;
    uint64_t word[kBits / 64] = {};
    void add(int d) { word[d % kBits / 64] |= 1ull << (d % 64); }
    void drop(int d) { word[d % kBits / 64] &= ~(1ull << (d % 64)); }
    bool has(int d) const { return word[d % kBits / 64] >> (d % 64) & 1; }
    void join(const Cause &other) {
      for (int k = 0; k < kBits / 64; ++k)
        word[k] |= other.word[k];
    }
  };
  struct Change {
    int64_t *where, old;
  };
  struct CauseChange {
    Cause *where, old;
  };

  int sections = 0, placed = 0;
  int64_t capacity, nodesLeft = 0;
  Strategy strategy;

  // By item. Sections [from, to); `meets`: items alive at some time with it.
  std::vector<int> from, to;
  std::vector<int64_t> size, width, fullest, offset;
  std::vector<std::vector<int>> meets, slot;
  std::vector<int64_t> low, base;  // least offset still possible; top of what is placed under it
  std::vector<int> below, blocker; // witnesses of rules 4 and 5. Any valid one will do, so they need no undo
  std::vector<Cause> why, under;   // decisions that imply low; decisions that placed what it meets
  std::vector<char> watched;       // it is in `unsupported`: low > base, so rules 4 and 5 apply

  // By section. members: open items first, `active` of them; slot[i] is i's index in each.
  std::vector<std::vector<int>> members;
  std::vector<int64_t> total, floor, active; // bytes, lowest low, number of the open items
  std::vector<int64_t> cuts;                 // open items that cross its left end
  std::vector<int64_t> edges;                // open items that start or end at its left end
  std::vector<char> dirty;

  Weights *weights = nullptr; // of the present run
  Cause conflict;             // after a dead end: decisions that cannot stand together
  std::vector<int> unsupported, queue;
  std::vector<Change> trail;
  std::vector<CauseChange> causeTrail;
  std::vector<std::pair<int64_t, int>> byLow;

  void set(int64_t &where, int64_t value) { trail.push_back({&where, where}), where = value; }
  void saveCause(Cause &cause) { causeTrail.push_back({&cause, cause}); }
  void undo(size_t mark, size_t causeMark);
  void watch(int item);
  void touch(int section);
  void raise(int item, int64_t value, const Cause &cause);
  bool fail(int section);
  // It has the same open items as the one before, which is checked for both.
  bool repeats(int section) const { return section > 0 && edges[section] == 0; }
  bool checkLoad(int section, int64_t limit, int64_t last);
  bool checkSection(int section);
  Cause causeAround(int item) const;
  bool checkSupport(int item);
  bool propagate();
  void place(int item, int decision);
  Verdict solveParts(const std::vector<int> &list, int begin, int end, int left, int right);
  Verdict solve(const std::vector<int> &given, int begin, int end);
  int choose(const std::vector<int> &list, int begin, int end, int64_t level) const;
};

} // namespace plim::solver

#endif // PLIM_SOLVER_PACKING_EXACTSEARCH_H
