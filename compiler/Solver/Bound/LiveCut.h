//===- LiveCut.h - Bytes alive at a step, whatever ran before it -------------------------------===//
#ifndef PLIM_SOLVER_BOUND_LIVECUT_H
#define PLIM_SOLVER_BOUND_LIVECUT_H

#include "compiler/Solver/Bound/Footprint.h"

namespace plim::solver {

struct CutCase {
  int64_t arena = 0; // at least
  int step = -1;
  std::vector<int> alive{}; // buffers
};

// The largest, over the steps, of the fewest bytes alive there in any order (where the levers fix the order: in the
// given one). For plans that make nothing twice and write nothing to the ssd. Looks at steps that can exceed `known`
// only, and at about `work` edges.
CutCase liveCut(const Footprint &footprint, int64_t known, int64_t work);

} // namespace plim::solver

#endif // PLIM_SOLVER_BOUND_LIVECUT_H
