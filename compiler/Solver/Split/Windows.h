//===- Windows.h - What a stage needs beside whole values ------------------------------------------===//
#ifndef PLIM_SOLVER_SPLIT_WINDOWS_H
#define PLIM_SOLVER_SPLIT_WINDOWS_H

#include "compiler/Solver/Split/Split.h"

namespace plim::solver {

struct StageMemory {
  int64_t bytes = 0;        // of rows and workspaces at once, at most
  std::vector<int> lines{}; // values with rows that lie there then, the most bytes first; of a stage in parts
};
StageMemory memoryOfStage(const SplitProblem &problem, const SplitStage &stage, const StageRows &rows);

} // namespace plim::solver

#endif // PLIM_SOLVER_SPLIT_WINDOWS_H
