//===- Repair.h - Makes a timeline fit, by shadow prices or by trial -----------------------------===//
#ifndef PLIM_SOLVER_JOINT_REPAIR_H
#define PLIM_SOLVER_JOINT_REPAIR_H

#include "compiler/Solver/Joint/Timeline.h"
#include <random>

namespace plim::solver {

struct RepairOptions {
  double power = 4;            // a slot's weight = (its excess / the largest excess) ^ power
  double noise = 0;            // quotes are worsened at random by up to this factor
  bool postpone = true;        // wins on irregular graphs, loses a little on training graphs
  bool capGain = true;         // bytes beyond the excess count for nothing: wins where few values are large
  bool trial = false;          // by trial instead of by prices: for small graphs
  int64_t work = INT64_MAX;    // stops when the timeline's work has reached this
  int64_t ceiling = INT64_MAX; // stops when the timeline takes longer than this, ns
};

// Drops gaps and changes choices by cost per byte relieved until no slot is over its capacity; takes gaps of the given
// values only, where there are such. False: stuck, and the timeline is still over.
//
// By prices: a round fixes a weight for each slot from how far it is over its capacity, quotes every gap that crosses a
// weighted slot, and takes gaps from a heap, quoting again those that come up. Weights are set anew when the largest
// excess has fallen by a quarter. By trial: tries each gap across one overfull slot in each way and keeps the one that
// lowers the sum of all excess most for its cost; what tried worse before, when more was over, is not tried again.
bool repair(Timeline &timeline, const RepairOptions &options, std::mt19937_64 &random,
            const std::vector<int> *only = nullptr);

} // namespace plim::solver

#endif // PLIM_SOLVER_JOINT_REPAIR_H
