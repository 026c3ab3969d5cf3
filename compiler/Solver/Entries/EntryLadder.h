//===- EntryLadder.h - Plans of several programs under one budget -----------------------------===//
//
// A constant is kept by all programs that read it or streamed by all of them, so a set of kept constants says what each
// program needs: its own arena, states and io, and all that is kept. Sets are prefixes of one list (SharedConstants.h);
// for a set each program is planned on its own.
//
// A budget gets the faster of two kinds, by the sum of all programs' times:
//   - all is kept: each program gets the fastest plan of its ladder (Ladder.h);
//   - a grid of budgets in geometric steps, from what it takes where nothing is kept and each program has its plan of
//     least ram, to where the fastest plans fit with all kept. For each of them a few sets are tried that leave the
//     programs more or less room, and the fastest is taken. A step of the grid gets the fastest plan up to it. Between
//     two steps there are finer ones, of which those that decide are found by bisection; a plan must be no slower than
//     that of the next smaller budget and no faster than that of the next larger one, or the smaller one's takes its
//     place.
// None of that depends on the budget that is asked for. So a budget is met if and only if it is at least what
// `smallest` takes, and the sum of the times never rises with the budget.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_ENTRIES_ENTRYLADDER_H
#define PLIM_SOLVER_ENTRIES_ENTRYLADDER_H

#include "compiler/Solver/Entries/SharedConstants.h"
#include "compiler/Solver/FitOptions.h"
#include <memory>

namespace plim::solver {

struct EntryPlan {
  std::vector<Problem> problems; // by program: what its plan is a solution of, with tables counted
  std::vector<Solution> plans;   // by program
  int64_t need = 0;              // of the ram: the largest of their peaks
  int64_t ns = 0;                // the sum of their times
};

class EntryLadder {
public:
  // The capacities of other tiers than the ram are those of the problems, which must be plannable (Fit.h).
  EntryLadder(EntryProblems entries, const FitOptions &options);
  ~EntryLadder();
  // The fastest plans that fit this much ram; null where none do. Valid until the ladder goes.
  const EntryPlan *fastest(int64_t ram);
  // Of least ram; null where the other tiers' capacities allow no plan.
  const EntryPlan *smallest();

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace plim::solver

#endif // PLIM_SOLVER_ENTRIES_ENTRYLADDER_H
