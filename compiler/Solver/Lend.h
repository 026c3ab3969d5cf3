//===- Lend.h - Storages in the caller's buffers while those are free ---------------------------===//
#ifndef PLIM_SOLVER_LEND_H
#define PLIM_SOLVER_LEND_H

#include "compiler/Solver/Layout.h"

namespace plim::solver {

// Moves transient storages into the caller's bytes, the largest first, as far as they fit beside each other: those that
// end before an output is written (the lever lend), and those that are made after a reused input was read last. By
// buffer, `written`: the position of the step that makes it, or -1, and `lastRead`: of the last one that touches it.
void lendBuffers(const Problem &problem, const std::vector<int> &written, const std::vector<int> &lastRead,
                 Layout &layout);

} // namespace plim::solver

#endif // PLIM_SOLVER_LEND_H
