//===- Footprint.h - Bytes that values cannot help taking -------------------------------------===//
//
// Values are transients and outputs in the ram, and constants that are streamed. The bytes of a set of them are those
// of its segments (Segments.h).
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_BOUND_FOOTPRINT_H
#define PLIM_SOLVER_BOUND_FOOTPRINT_H

#include "compiler/Solver/Bound/Segments.h"
#include "compiler/Solver/Dependencies.h"
#include "compiler/Solver/Problem.h"

namespace plim::solver {

class Footprint {
public:
  explicit Footprint(const Problem &problem);

  // A buffer that a step touches. Where the step may be cut into pieces, a piece may be all that it touches.
  struct Operand {
    int buffer = -1;
    int64_t bytes = 0;     // of the smallest piece that some piece of the step must have
    int64_t lastBytes = 0; // of the smallest piece that the last one can be
    bool whole = true;
  };
  struct Needs {
    std::vector<Operand> reads{}, writes{};     // values only
    bool elidable = false;                      // aliases may leave the step nothing to do
    bool inRam = true;                          // false: it may run elsewhere, and then needs no ram
    bool cut = false;                           // it may run in pieces
    std::vector<std::pair<int, int>> inPlace{}; // (result, operand) that it may run in place
  };

  const Problem &problem;
  const Uses uses;
  Segments segments{};
  std::vector<int64_t> bytes{}; // by buffer, the least over the choices of its group
  std::vector<char> value{};    // by buffer: takes bytes, and a step makes it
  std::vector<Needs> needs{};   // by step
  // Bytes of the caller that may be scratch, reused inputs and outputs: for any value where the levers lend them, else
  // of outputs only for those that aliases lead from there, a home each.
  int64_t lent = 0;
  std::vector<int64_t> homes{}; // bytes
  std::vector<int> homeOf{};    // by buffer, -1 where it has none

  bool streamed(int buffer) const;
  // Of the arena, where values of `raw` bytes without a home are alive with a workspace.
  int64_t arena(int64_t raw, int64_t workspace) const;
  // The least workspace of a step; of candidates with these flags, or -1 where there are none.
  int64_t leastWorkspace(int step, uint32_t flags) const;
  // The arena while a step runs and `kept` (none of its results) stay; `made` are those of its results that are whole
  // once it has run, where it may run in pieces. `work` falls by the buffers looked at.
  int64_t running(int step, const std::vector<int> &kept, const std::vector<int> &made, bool last, int64_t &work);

private:
  std::vector<std::vector<char>> barred; // by group and choice
  std::vector<uint64_t> segmentMark, bufferMark;
  uint64_t mark = 0;
  // While a step's bytes are counted, by home, those without one first: bytes, what in-place results save of them, and
  // which of these are not 0.
  std::vector<int64_t> sums, savedResults, savedOperands;
  std::vector<int> touchedHomes;

  bool allowed(const Step &step, size_t candidate) const;
  int64_t leastSize(const Buffer &buffer) const;
  void findHomes();
  void findValues();
  void findNeeds();
  int64_t add(int buffer);
  void count(int buffer, int64_t bytes);
  void findSavings(const Needs &need, const std::vector<int> &made, bool last);
  int64_t savedByPieces(const Needs &need, bool last) const;
  int64_t leastArena(bool inPlace, int64_t workspace, int64_t saved) const;
};

} // namespace plim::solver

#endif // PLIM_SOLVER_BOUND_FOOTPRINT_H
