//===- SolutionReplay.h - The parts of the solution checker -----------------------------------===//
#ifndef PLIM_CHECK_SOLUTIONREPLAY_H
#define PLIM_CHECK_SOLUTIONREPLAY_H

#include "absl/strings/str_cat.h"
#include "compiler/Solver/Problem.h"

namespace plim::check {

// Each part reports into `faults`; a later part runs only where the earlier ones found nothing, as it relies on them.
class SolutionReplay {
public:
  SolutionReplay(const solver::Problem &problem, const solver::Solution &solution, std::vector<std::string> &faults);

  void checkReferences(); // ids, operands, choices
  void checkOrder();      // dependencies, states, required orders, who writes what
  void checkAliases();    // places of aliases, steps left out
  void checkStorages();   // extents, alignment, lives, tiers
  void checkSharing();    // overlap across and inside storages
  void checkSums(bool capacities);

private:
  const solver::Problem &p;
  const solver::Solution &s;
  std::vector<std::string> &faults;
  // By place: actions that make it and read it last (made -1: there from the start), contents it is part of.
  std::vector<int> made, last, contents;
  std::vector<int64_t> align; // by storage

  template <typename... T> void fail(const T &...parts) { faults.push_back(absl::StrCat(parts...)); }

  std::string where(int action) const;
  std::string placeName(int place) const;
  int64_t bytesOf(int place) const;
  int64_t endOf(int place) const;
  int64_t workspaceOf(int action) const;
  const solver::Candidate &candidateOf(int action) const;
  bool isCopy(int action) const;
  bool startsAlive(int place) const;
  bool overlap(int a, int b) const;
  void checkAlias(int action, int place, int base);
  void checkInside(int storage, const std::vector<int> &places);
  bool mayTakeOver(int next, int dead) const;
};

} // namespace plim::check

#endif // PLIM_CHECK_SOLUTIONREPLAY_H
