//===- Timeline.h - What each value does between two touches, with the exact memory of it --------===//
//
// Time is slots: slot t runs operation t of the graph after those operations that were put before it, in the order of
// the graph. An operation that runs in several slots is recomputed; one that runs in a single other slot is postponed,
// which costs nothing: order and recompute are one move. A touch is a slot in which some run makes or reads a value.
// The gap before a touch says how the value comes to be there:
//   Keep  it stays in memory from the touch before
//   Make  a run in this slot makes it
//   Read  it was dropped after the touch before, and is read from the ssd
// Memory at a slot = values kept across it (ranges in a tree) + the exact inclusive peak among its runs. A change takes
// O(log slots + runs of the slot) and is logged, so that a move can be tried and undone.
//
// A run pulls in what it reads: what is kept across its slot is free; what was dropped there is kept longer, made again
// or read, whichever the shadow prices say; a later run that makes it is pulled forward. A run that nobody needs any
// more vanishes.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_JOINT_TIMELINE_H
#define PLIM_SOLVER_JOINT_TIMELINE_H

#include "compiler/Solver/Joint/Graph.h"
#include "compiler/Solver/Joint/LinkTime.h"
#include "compiler/Solver/Joint/SlotTree.h"

namespace plim::solver {

enum class Source : uint8_t { Keep, Make, Read };

struct Touch {
  int slot = 0;
  int uses = 0; // runs in the slot that read the value; 0: made or read there only to be kept for later
  Source source = Source::Keep;
  int transfer = -1; // of Read
};

// A value's way to the ssd and back. Memory is held in slots (from, writeEnd) while it is written and in
// [readStart, to) while it is read.
struct Transfer {
  int from = 0, to = 0, writeEnd = 0, readStart = 0;
  bool write = false, read = false;
  bool prompt = false; // its write is waited for before the next slot
  bool late = false;   // read without prefetch; both are relaxed later where memory is free
  int64_t stall = 0;   // ns that no free time of the link could hide
  int64_t price = 0;   // charged: the stall, and what the link's time is worth
  std::vector<std::pair<int, int64_t>> written{}, fetched{}; // ns of the link taken in each slot
};

class Timeline {
public:
  // All values kept but constants that stay in their file, way 0 everywhere. `capacity`: bytes that values and
  // workspace may take in each slot.
  Timeline(const Graph &graph, int64_t capacity, int64_t ssdCapacity);

  const Graph &graph;
  const int slots;
  std::vector<std::vector<Touch>> touches; // by value, by rising slot
  std::vector<std::vector<int>> runs;      // by slot, by rising number
  std::vector<int> choice;                 // by group
  std::vector<Transfer> transfers;
  int64_t ns = 0;             // of all runs, and the price of all transfers
  SlotTree memory;            // bytes in each slot less its capacity: above 0 there are too many
  std::vector<int64_t> begin; // when each slot starts where nothing is run twice, ns; begin[slots]: the end

  // What a search sets.
  std::vector<char> barred;           // by value: not to be dropped
  std::vector<double> weight, prefix; // price of a byte by slot, and its prefix sums
  double lambda = 0;                  // ns a byte and unit of weight
  bool postpone = true;               // first runs may move to a later slot
  bool lateReads = false;             // new transfers are late
  bool promptWrites = false;          // and their writes prompt
  double linkPrice = 0;               // charged for each ns that a link is busy, on top of stalls
  int64_t work = 0;                   // steps of all searches so far: limits are set in it
  // What a Make did with lambda: the decisions of the last quoteMake, and whether a move has asked for more since then.
  uint64_t decisions = 0;
  bool askedPrice = false;

  int64_t bytes(int value) const { return size[value]; }
  const Graph::Way &way(int operation) const {
    const Graph::Operation &op = graph.operations[operation];
    return op.ways[op.group < 0 ? 0 : choice[op.group]];
  }
  double weightOf(int first, int end) const { return end > first ? prefix[end] - prefix[first] : 0; }
  int find(int value, int slot) const; // the first touch at or after the slot
  bool touchedAt(int value, int i, int slot) const {
    return i < int(touches[value].size()) && touches[value][i].slot == slot;
  }
  bool droppable(int value, int i) const;
  // The price of a byte in the gap that touch i ends; with the slot of the touch before, where the value outlives its
  // last use there until the slot's peak.
  double gapWeight(int value, int i) const;
  int64_t gapOver(int value, int i) const; // the most bytes that such a slot has too many
  bool readable(int value, int i) const;   // may the gap end in Read?
  int64_t capacityAt(int slot) const { return capacity[slot]; }

  // Moves. `i` is the touch that ends the gap. False: impossible, and the caller undoes to its mark.
  bool dropToMake(int value, int i);
  bool dropToRead(int value, int i);
  bool restore(int value, int i); // back to Keep
  void setChoice(int group, int to);
  void setCapacity(int slot, int64_t bytes);
  void replanTransfers();
  void replanTransfer(int value, int i); // as new ones are planned now
  // Moves the end of a write or the start of a read, whose memory is then held longer.
  void holdWrite(int value, int i, int writeEnd);
  void holdRead(int value, int i, int readStart);

  // What a move would cost in ns and free in bytes times weight, with nothing changed.
  struct Quote {
    double cost = 0, gain = 0;
    bool possible = true;
  };
  Quote quoteMake(int value, int i); // its decisions hold for a dropToMake that follows at once
  Quote quoteRead(int value, int i);
  Quote quoteChoice(int group, int to) const;

  int64_t over() { return flush(), memory.max(); } // the most bytes that a slot has too many
  bool allowed() const { return doubles == 0; }    // whether nothing runs twice that may not
  std::vector<int64_t> recount() const;            // what `memory` must hold, from the touches alone

  size_t mark() { return flush(), log.size(); }
  void undo(size_t mark);
  void commit() { log.clear(), savedTouches.clear(), savedRuns.clear(); }
  // The sum of what slots have too many, less what it was at the mark, when `memory` held the values `before`.
  double excessSince(size_t mark, const std::vector<int64_t> &before);

private:
  struct Entry {
    enum Kind : uint8_t {
      Range,
      Touches,
      Runs,
      Peak,
      Ns,
      ReadTime,
      WriteTime,
      Choice,
      Size,
      Capacity,
      RunCount,
      Doubles,
      Spilled,
      Transfers,
      WriteEnd,
      ReadStart
    } kind;
    int at = 0, end = 0; // of Touches and Runs: end is how many were saved
    int64_t old = 0;
  };
  struct Span {
    int value, first, last;
  };

  std::vector<int64_t> size, peak, capacity;
  std::vector<int> peakRun;     // by slot: the place in `runs` where its peak is
  LinkTime readTime, writeTime; // of the links
  const Link *readLink, *writeLink;
  std::vector<int> runCount; // by operation
  int64_t doubles = 0;       // runs beyond the first, where recompute is off
  int64_t spilled = 0, ssdCapacity;
  std::vector<Entry> log;
  std::vector<Touch> savedTouches;
  std::vector<int> savedRuns;
  std::vector<int> dirty; // slots whose peak is to be counted anew
  std::vector<char> isDirty;
  std::vector<unsigned> seen; // by value: the stamp of the quote that decided on it
  unsigned stamp = 0;
  std::vector<Source> decision;
  mutable std::vector<Span> spans;
  mutable std::vector<int> spanOf;
  mutable std::vector<int64_t> change;
  std::vector<int64_t> changeAt; // by slot, scratch of excessSince: zero between calls

  void hold(int first, int end, int64_t bytes);
  void saveTouches(int value);
  void saveRuns(int slot);
  void spoil(int slot);
  void spoilHeld(int value, int slot, bool held);
  void addNs(int64_t ns);
  void countRun(int operation, int by);
  void flush();
  std::pair<int64_t, int> peakOf(int slot) const; // bytes, and the place in `runs` where they are there
  int64_t peakAlone(int slot) const;              // the bytes, where it has one run
  int64_t sharedBytes(int operation, int position) const;
  const Span *spanAt(int value) const;
  bool heldAfter(int value, int i) const;
  bool waitsInside(int value, int slot) const;

  bool need(int value, int slot);
  bool costsMore(int value, int first, int end, int64_t ns);
  void unneed(int value, int slot);
  bool addRun(int operation, int slot);
  void removeRun(int operation, int slot);
  bool makerNeeded(int operation, int slot) const;
  void clean(int value, int slot);
  void passWrite(int value, int from);
  bool fixedTouch(int value, const Touch &touch) const;
  void quoteNeed(int value, int slot, Quote &quote, double limit);
  void decide(int value, Source source);

  bool onSsd(int value, int i) const;
  Transfer plan(int value, int from, int to, bool write, bool read) const;
  void planWrite(int value, Transfer &t) const;
  void planRead(int value, Transfer &t) const;
  void takeTime(Entry::Kind kind, const std::vector<std::pair<int, int64_t>> &taken, int sign);
  int add(int value, Transfer t);
  int reserve(int value, int from, int to, bool write, bool read);
  void release(int value, const Transfer &t);
};

} // namespace plim::solver

#endif // PLIM_SOLVER_JOINT_TIMELINE_H
