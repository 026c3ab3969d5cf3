//===- Backward.h - Bytes without which a set of values cannot come together -------------------===//
#ifndef PLIM_SOLVER_BOUND_BACKWARD_H
#define PLIM_SOLVER_BOUND_BACKWARD_H

#include "compiler/Solver/Bound/Footprint.h"

namespace plim::solver {

struct BackwardCase {
  int64_t arena = 0;       // at least
  int made = -1;           // the run that needs it; -1 where that is the step which `held` is for
  std::vector<int> kept{}; // and what stays meanwhile
};

// The least arena in which the values `held` come together, given that `start` is needed once they are; as far as
// `work` (values looked at) allows, and never below max(start, known). Stops where that is reached: then it says no
// more than `known`.
BackwardCase backwardBound(Footprint &footprint, std::vector<int> held, int64_t start, int64_t known, int64_t &work);

} // namespace plim::solver

#endif // PLIM_SOLVER_BOUND_BACKWARD_H
