//===- Search.h - Makes a timeline fit, then cheap -----------------------------------------------===//
#ifndef PLIM_SOLVER_JOINT_SEARCH_H
#define PLIM_SOLVER_JOINT_SEARCH_H

#include "compiler/Solver/Joint/Repair.h"

namespace plim::solver {

// Limits count work: the same for equal timelines, whatever the machine.
struct SearchOptions {
  uint64_t seed = 1;
  int iterations = 200; // rounds of ruin and recreate
  int rescues = 300;    // rounds at least where the first plans do not fit
  int64_t work = 0;     // the timeline's work at which it stops; 0: none
};

// Puts back, the dearest first, whatever still fits; of the given values only, where there are such.
void prune(Timeline &timeline, const std::vector<int> *only = nullptr);

// Repairs with several options and keeps the best. The timeline must be as it was built. False: none fits.
bool plant(Timeline &timeline, const SearchOptions &options);

// Ruin and recreate: restores what was dropped in some stretch, repairs with other options, prunes, and keeps what is
// better: first in bytes beyond the capacities, then in time. The timeline ends as the best. False: it does not fit.
bool improve(Timeline &timeline, const SearchOptions &options);

} // namespace plim::solver

#endif // PLIM_SOLVER_JOINT_SEARCH_H
