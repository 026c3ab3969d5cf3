//===- Assemble.h - From a draft to a solution with offsets -----------------------------------===//
#ifndef PLIM_SOLVER_ASSEMBLE_H
#define PLIM_SOLVER_ASSEMBLE_H

#include "compiler/Solver/Layout.h"
#include "compiler/Solver/Packing/Packing.h"

namespace plim::solver {

// Packs the transient storages and workspaces of each tier, and gives the persistent ones consecutive offsets.
// A capacity among the options is that of the ram's transient arena.
Solution assemble(const Context &context, const Draft &draft, const PackOptions &options);

// What a tier holds all the time: fixed + constants + states + caller.
std::array<int64_t, kTierCount> residentBytes(const Problem &problem, const Layout &layout);

// What the draft needs at least in a tier, whatever the packing: residentBytes + live.
std::array<int64_t, kTierCount> leastPeak(const Context &context, const Draft &draft);

} // namespace plim::solver

#endif // PLIM_SOLVER_ASSEMBLE_H
