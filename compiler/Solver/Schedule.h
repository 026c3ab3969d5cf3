//===- Schedule.h - What runs when, before anything has a place -------------------------------===//
//
// The joint planner's answer: which step runs when and how often, which values are dropped, made again, written to the
// ssd and read back. Aliases, storages and offsets come after it (Unroll.h).
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_SCHEDULE_H
#define PLIM_SOLVER_SCHEDULE_H

#include "compiler/Solver/Problem.h"

namespace plim::solver {

struct Schedule {
  // One value of a buffer in one tier. Inputs, outputs, states and resident constants have one instance in the ram; a
  // streamed constant has one on the ssd (its file) and one more for each read; a transient has one for each time that
  // it is made, written to the ssd or read back.
  struct Instance {
    int buffer = -1;
    Tier tier = Tier::Ram;
    bool operator==(const Instance &) const = default;
  };
  std::vector<Instance> instances{};
  std::vector<Action> actions{}; // Run, Copy and Wait; `reads` and `writes` are instances; no workspace offsets yet
  std::vector<int> choices{};    // of each group
  bool operator==(const Schedule &) const = default;
};

} // namespace plim::solver

#endif // PLIM_SOLVER_SCHEDULE_H
