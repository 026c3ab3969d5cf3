//===- Unroll.h - A schedule as a problem of its own ------------------------------------------===//
//
// The instances of a schedule become buffers and its actions become steps, in a fixed order, so that aliases, storages
// and offsets of plans with recomputation and transfers are found by what finds those of plain ones (Layout.h,
// Assemble.h). A copy is a step that reads one instance and writes another in the target's tier. A wait is a step that
// reads the sources and targets of its copies: so a source keeps its bytes and a target has its own until then. Each
// alias of the problem is there once for each run of its step.
//
//   Unrolled unrolled(problem, schedule);
//   Solution s = assemble(unrolled, unrolled.draft, pack);     // of the problem
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_UNROLL_H
#define PLIM_SOLVER_UNROLL_H

#include "compiler/Solver/Assemble.h"
#include "compiler/Solver/Schedule.h"

namespace plim::solver {

struct Unrolled {
  // The problem must outlive it. The schedule must be sound: each instance is made before it is read, each transfer is
  // waited for once, and runs use instances of their step's buffers in the order of the step's reads and writes.
  Unrolled(const Problem &problem, const Schedule &schedule);
  Unrolled(const Unrolled &) = delete;

  const Problem &original;
  const Schedule schedule;
  std::vector<int> aliasOf;  // by alias of `problem`: that of the original
  std::vector<int> numberOf; // by instance: which one of its buffer it is, by the time that it is made
  std::vector<char> onSsd;   // by instance: the ssd reads or writes it
  const Problem problem;     // buffer i is instance i, step k is action k; no names
  const Context context;
  const Draft draft; // the order, candidates and choices of the schedule, all aliases
};

// The draft as a schedule: each step once, each buffer one instance.
Schedule scheduleOf(const Problem &problem, const Draft &draft);

// Predicted, as Solution::ns has it.
int64_t predictNs(const Unrolled &unrolled, const Layout &layout);

// A solution of the original problem from a draft of the unrolled one that keeps its order.
Solution assemble(const Unrolled &unrolled, const Draft &draft, const PackOptions &options);

} // namespace plim::solver

#endif // PLIM_SOLVER_UNROLL_H
