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

  void checkReferences(); // ids, operands, choices, which wait ends which transfer
  void checkLevers();     // levers that are off, buffers that stay in one place
  void checkOrder();      // dependencies, transfers in flight, states, required orders, who writes what
  void checkAliases();    // places of aliases, steps left out
  void checkStorages();   // extents, alignment, lives, tiers
  void checkSharing();    // overlap across and inside storages
  void checkSums(bool capacities);
  void checkTime(); // the predicted ns

private:
  const solver::Problem &p;
  const solver::Solution &s;
  std::vector<std::string> &faults;
  std::vector<int> waited; // by action: of a copy on Read or Write, the wait that ends it; else -1
  std::vector<bool> onSsd; // by place: the ssd reads or writes it
  // By place: the action that makes it (-1: there from the start), the one after which it can be read, the last that
  // needs its bytes.
  std::vector<int> made, ready, last;
  std::vector<int> contents;             // by place: the one whose contents it is part of
  std::vector<int> joined;               // by place: one that aliases put where it is, or itself
  std::vector<int64_t> align;            // by storage
  std::vector<std::vector<int>> inside;  // by storage: its places
  std::vector<std::vector<int>> inPlace; // by step: its aliases of that kind

  template <typename... T> void fail(const T &...parts) { faults.push_back(absl::StrCat(parts...)); }

  std::string where(int action) const;
  std::string placeName(int place) const;
  solver::Tier tierOf(int place) const { return s.storages[s.places[place].storage].tier; }
  int64_t bytesOf(int place) const;
  int64_t movedBytes(int place) const;
  int64_t endOf(int place) const;
  int64_t workspaceOf(int action) const;
  const solver::Candidate &candidateOf(int action) const;
  bool isCopy(int action) const { return s.actions[action].kind == solver::ActionKind::Copy; }
  bool isStep(int action) const;
  bool isHome(int place) const;
  bool startsAlive(int place) const;

  void checkPlaces();
  void checkStep(int action);
  void checkCopy(int action);
  void checkWait(int action);
  void checkReads(int action);
  void checkWrites(int action);
  int baseOf(int action, int place, bool isRead) const;
  int joinedWith(int place);
  bool liesIn(int place, int base) const;
  void checkHome(int place);
  void checkLent();
  void checkMeetsSsd(int place);
  void checkExtents();
  void checkOperands(int action);
  bool slides(int action) const;
  int64_t slideBytes(int action) const;
  bool overlap(int a, int b) const;
  bool mayTakeOver(int next, int dead) const;
  void checkArena(solver::Tier tier, solver::Region region);
  void checkInside(const std::vector<int> &places);
};

} // namespace plim::check

#endif // PLIM_CHECK_SOLUTIONREPLAY_H
