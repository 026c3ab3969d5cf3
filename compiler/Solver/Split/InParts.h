//===- InParts.h - Plans whose steps run in parts of a piece --------------------------------------===//
#ifndef PLIM_SOLVER_SPLIT_INPARTS_H
#define PLIM_SOLVER_SPLIT_INPARTS_H

#include "compiler/Solver/Split/Cost.h"
#include "compiler/Solver/Split/Split.h"

namespace plim::solver {

// Appends plans in which pieces are made in parts: with the steps' own kernels, and, of a search that is not for these
// alone, with pieces that begin between tiles; and with copies of steps for maps that wait long. The stages are those
// that keep every map that several stages read, and those of `bases`. `largest` is the value by whose `axis` the others
// are cut.
void proposeInParts(const SplitProblem &problem, const SplitSearch &search, int largest, int axis,
                    const SplitCost &unsplit, const std::vector<SplitPlan> &bases, std::vector<PricedSplit> &found);

} // namespace plim::solver

#endif // PLIM_SOLVER_SPLIT_INPARTS_H
