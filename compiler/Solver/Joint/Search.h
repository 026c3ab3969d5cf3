//===- Search.h - Makes a timeline fit, then cheap -----------------------------------------------===//
#ifndef PLIM_SOLVER_JOINT_SEARCH_H
#define PLIM_SOLVER_JOINT_SEARCH_H

#include "compiler/Solver/Joint/Repair.h"

namespace plim::solver {

// Limits count work: the same for equal timelines, whatever the machine.
struct SearchOptions {
  uint64_t seed = 1;
  int iterations = 600;  // rounds of ruin and recreate
  int rescues = 300;     // rounds at least where the first plans do not fit
  bool firstFit = false; // stops as soon as a plan fits
  int64_t work = 0;      // the timeline's work at which it stops; 0: none
  int patience = 0;      // rounds without a better plan after which improve stops; 0: none
};

// Puts back, the dearest first, whatever still fits; of the given values only, where there are such.
void prune(Timeline &timeline, const std::vector<int> *only = nullptr);

// Repairs with several options and keeps the best. False: none fits.
bool plant(Timeline &timeline, const SearchOptions &options);

// Makes a timeline fit whose capacities were lowered: by plant, else by improve.
bool mend(Timeline &timeline, const SearchOptions &options);

// Ruin and recreate: restores what was dropped in some stretch, repairs with other options, prunes, and keeps what is
// better: first in bytes beyond the capacities, then in time. The timeline ends as the best. False: it does not fit.
bool improve(Timeline &timeline, const SearchOptions &options);

} // namespace plim::solver

#endif // PLIM_SOLVER_JOINT_SEARCH_H
