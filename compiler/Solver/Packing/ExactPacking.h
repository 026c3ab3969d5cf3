//===- ExactPacking.h - A packing of at most a given height, or a proof that there is none ----===//
#ifndef PLIM_SOLVER_PACKING_EXACTPACKING_H
#define PLIM_SOLVER_PACKING_EXACTPACKING_H

#include "compiler/Solver/Packing/Packing.h"

namespace plim::solver {

enum class Verdict { Packed, Infeasible, Stopped };

struct ExactOptions {
  int64_t capacity = 0;
  int64_t nodes = 1'000'000; // search nodes over all restarts: the only limit, so that results repeat
  int64_t firstNodes = 0;    // nodes of the first restart; 0: two an item
  int order = -1;            // one fixed order, or -1 for all in turn
  uint64_t seed = 1;
};

// On Packed every offset is set, else all are left as they were. Items must share one alignment that divides every
// size.
Verdict packExactly(std::vector<Item> &items, const ExactOptions &options);

} // namespace plim::solver

#endif // PLIM_SOLVER_PACKING_EXACTPACKING_H
