//===- FixedOrderProgram.h - The exact least time of a fixed order, by an integer program -------===//
//
// Checkmate's program (Jain et al., "Checkmate: Breaking the memory wall with optimal tensor rematerialization", MLSys
// 2020): stage t makes step t for the first time and may make earlier ones again; R says what runs in a stage, S what
// is in memory when it starts, F what is freed after which step. Solved by CBC (coinor-cbc) as a process.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_TEST_SOLVER_FIXEDORDERPROGRAM_H
#define PLIM_TEST_SOLVER_FIXEDORDERPROGRAM_H

#include "compiler/Solver/Problem.h"

namespace plim::solver {

bool hasCbc();

struct FixedOrderOptimum {
  enum class Outcome { Proved, Infeasible, Unknown } outcome = Outcome::Unknown;
  int64_t ns = 0; // where proved
};

// Of problems whose steps write one transient each and have one candidate without workspace; inputs, outputs and
// constants are left out. `arena`: bytes of transients at one time. CBC stops after `seconds` (then Unknown).
FixedOrderOptimum fixedOrderOptimum(const Problem &problem, int64_t arena, int seconds);

} // namespace plim::solver

#endif // PLIM_TEST_SOLVER_FIXEDORDERPROGRAM_H
