//===- Lend.h - Storages in the caller's outputs, before those are written ---------------------===//
#ifndef PLIM_SOLVER_LEND_H
#define PLIM_SOLVER_LEND_H

#include "compiler/Solver/Layout.h"

namespace plim::solver {

// Moves transient storages that end before an output of the caller is written into its bytes, the largest first, as far
// as they fit beside each other. `written`: by buffer, the position of the step that makes it, or -1.
void lendOutputs(const Problem &problem, const std::vector<int> &written, Layout &layout);

} // namespace plim::solver

#endif // PLIM_SOLVER_LEND_H
