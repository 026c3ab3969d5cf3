//===- Staging.h - From maps that are kept to stages ---------------------------------------------===//
#ifndef PLIM_SOLVER_SPLIT_STAGING_H
#define PLIM_SOLVER_SPLIT_STAGING_H

#include "compiler/Solver/Split/Axes.h"
#include "compiler/Solver/Split/Split.h"
#include <compare>
#include <set>
#include <vector>

namespace plim::solver {

// What a plan keeps, before it is put in stages.
struct Choice {
  std::set<int> kept, last; // values; those of `last` end their stage
  auto operator<=>(const Choice &) const = default;
};

// The stages that a choice comes to. All that it is made with must outlive this.
class Staging {
public:
  Staging(const SplitProblem &problem, const SplitSearch &search, const Axes &axes);

  // A value that is cut, and not a sum.
  bool isMap(int value) const;
  // What is needed by rows where the step is cut: the values that it reads so, which are maps.
  std::vector<int> mapsReadBy(int step) const;
  // By value: the stage that makes it first.
  std::vector<int> rowLevels(const Choice &choice) const { return levelsOf(choice).rows; }
  // Values that a later stage than their own, or a step outside of all stages, reads.
  Choice everyCrossing() const;
  // With as many pieces as the search may take.
  SplitPlan planOf(const Choice &choice) const;
  // No more pieces than the longest value that the stage reads or makes has rows.
  int64_t longest(const SplitStage &stage, const std::vector<char> &before) const;
  // Of the steps that make maps of so many rows, the two after which the fewest bytes of maps are read: the maps that
  // are made up to the step and read after it.
  const std::vector<std::vector<int>> &cuts() const { return narrow; }

private:
  const SplitProblem &p;
  const SplitSearch &search;
  const Axes &axes;
  const std::vector<int> writers;
  std::vector<const SplitWay *> ways; // by step: how it is cut, or null
  std::vector<char> sums;             // by value: a carried sum
  std::vector<std::vector<int>> narrow;

  // By value: the stage that makes it first, and the first that can read all of it.
  struct Levels {
    std::vector<int> rows, whole;
  };
  bool fits(const SplitStep &step, const SplitWay &way) const;
  void findCuts();
  Levels levelsOf(const Choice &choice) const;
  std::vector<SplitStage> partsOf(const SplitStage &stage, const std::vector<char> &before) const;
};

} // namespace plim::solver

#endif // PLIM_SOLVER_SPLIT_STAGING_H
