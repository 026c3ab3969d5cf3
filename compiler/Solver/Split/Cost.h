//===- Cost.h - What a plan of splitting needs -------------------------------------------------===//
#ifndef PLIM_SOLVER_SPLIT_COST_H
#define PLIM_SOLVER_SPLIT_COST_H

#include "compiler/Solver/Split/Split.h"
#include <map>

namespace plim::solver {

// Costs plans of one problem; stages that several plans share are costed once.
class SplitCoster {
public:
  explicit SplitCoster(const SplitProblem &problem);

  struct Detail {
    SplitCost cost;
    std::vector<int> atPeak; // values that are whole where the peak is
    std::vector<int> lines;  // of the stage that has it: values with rows that wait to be read, the most bytes first
  };
  std::optional<Detail> cost(const SplitPlan &plan, std::string &why);

private:
  struct Stage {
    bool sound = false;
    std::string why;
    std::vector<int> sources, whole; // read by rows or whole, and those that steps outside must make
    std::vector<int> steps, lines;   // that it cuts; Detail::lines
    int64_t transient = 0, ns = 0;
  };
  const Stage &stageOf(const SplitPlan &plan, size_t index);
  int64_t lent(std::vector<int> here, const std::vector<int> &birth, const std::vector<int> &death, int event) const;

  const SplitProblem &p;
  const std::vector<int> writers;
  std::map<std::string, Stage> stages;
};

} // namespace plim::solver

#endif // PLIM_SOLVER_SPLIT_COST_H
