//===- Order.h - An order of the steps that needs less memory ---------------------------------===//
#ifndef PLIM_SOLVER_ORDER_H
#define PLIM_SOLVER_ORDER_H

#include "compiler/Solver/Simulate.h"

namespace plim::solver {

// Replaces the draft's order by one with a lower simulated ram peak, where it finds one; else leaves it as it is. The
// order given must meet all dependencies. `rounds` local-search rounds; deterministic for a seed.
void orderForMemory(const Context &context, Draft &draft, int rounds, uint64_t seed = 1);

} // namespace plim::solver

#endif // PLIM_SOLVER_ORDER_H
