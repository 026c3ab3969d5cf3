//===- Simulate.h - Exact live bytes of a draft ----------------------------------------------===//
//
// Inclusive accounting: at each step its outputs and workspace are there together with all that is still alive.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_SIMULATE_H
#define PLIM_SOLVER_SIMULATE_H

#include "compiler/Solver/Layout.h"

namespace plim::solver {

struct Usage {
  std::array<int64_t, kTierCount> peak{}; // largest sum of transient storages and workspace at one position
  std::vector<int64_t> live;              // of the ram, by position
  int at = -1;                            // first position where the ram has its peak
  int atPeak = 0;                         // how many positions have it
  int64_t crest = 0;                      // KiB that stick out over 15/16 of the ram's peak, summed over positions
};

// Sizes are rounded up to their alignment, as the arena has them.
Usage simulate(const Context &context, const Draft &draft, const Layout &layout);

// Transient storages alive at a position, by rising number.
std::vector<int> storagesAt(const Layout &layout, int position);

} // namespace plim::solver

#endif // PLIM_SOLVER_SIMULATE_H
