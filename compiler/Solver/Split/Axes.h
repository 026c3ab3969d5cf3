//===- Axes.h - Along which axes values are cut together -----------------------------------------===//
#ifndef PLIM_COMPILER_SOLVER_SPLIT_AXES_H
#define PLIM_COMPILER_SOLVER_SPLIT_AXES_H

#include "compiler/Solver/Split/Split.h"

namespace plim::solver {

// The axes along which values are cut when one of them is cut along a given axis; -1: not by rows. `problem` must
// outlive this.
class Axes {
public:
  Axes(const SplitProblem &problem, int value, int axis);

  int of(int value) const { return axes[size_t(value)]; }
  // Of all values that are made and cut.
  int64_t bytes() const;

private:
  const SplitProblem &p;
  std::vector<int> axes, open;

  void assign(int value, int axis);
  void spread(const SplitStep &step, const SplitWay &way);
};

} // namespace plim::solver

#endif
