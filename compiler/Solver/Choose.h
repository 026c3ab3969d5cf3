//===- Choose.h - From the fastest candidates to the smallest, trade by trade ------------------===//
#ifndef PLIM_SOLVER_CHOOSE_H
#define PLIM_SOLVER_CHOOSE_H

#include "compiler/Solver/Simulate.h"

namespace plim::solver {

// The drafts from `start` on, each after the trade that lowers the ram peak for the least time a byte: another
// candidate, another choice of a group, or an alias given up. The first is `start`; the last has no trade left. The
// order of the steps stays. No budget enters, so what is found does not depend on one.
std::vector<Draft> tradeDown(const Context &context, const Draft &start, int evaluations);

// The draft with the candidate of least workspace for each step and the choice of least bytes for each group.
Draft leanestDraft(const Problem &problem, const Draft &start);

// The draft with the fastest candidate of at most so much workspace for each step that has more in `start`, as far as
// it has one.
Draft draftWithin(const Problem &problem, const Draft &start, int64_t workspace);

} // namespace plim::solver

#endif // PLIM_SOLVER_CHOOSE_H
