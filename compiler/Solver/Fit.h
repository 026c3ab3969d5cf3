//===- Fit.h - A plan that fits the budget, or why there is none -----------------------------===//
#ifndef PLIM_SOLVER_FIT_H
#define PLIM_SOLVER_FIT_H

#include "compiler/Solver/Problem.h"
#include <memory>
#include <optional>

namespace plim::solver {

// Limits count work, never seconds, so that equal input gives equal plans.
struct FitOptions {
  int orderRounds = 600;       // local-search rounds of the order
  int tradeEvaluations = 5000; // drafts simulated while trading time for memory
  int packPasses = 40;         // greedy packing passes
  int64_t exactNodes = 20000;  // search nodes of the exact packing
  bool alternatives = true;    // a refusal also prices other labels, by solving again
};

struct LiveBuffer {
  std::string name{}, source{};
  int64_t bytes = 0;
};

// What a label ("attention=flash") would change: the smallest budget met with only it where it is offered.
struct Alternative {
  std::string label{};
  std::string barredBy{}; // the flag that forbids it now, or ""
  int64_t need = 0;       // ram bytes
};

struct Refusal {
  Tier tier = Tier::Ram;
  int64_t need = 0; // the smallest budget that a checked plan meets
  int64_t have = 0;
  std::string peakStep{}, peakSource{}; // where the plan of least memory peaks
  std::vector<LiveBuffer> live{};       // there, by falling size; workspace, constants, io and fixed costs included
  std::vector<Alternative> alternatives{};
  std::string message() const; // need, have, where; several lines
};

struct FitResult {
  std::optional<Solution> solution;
  std::optional<Refusal> refusal; // exactly one of the two
};

// What keeps the problem from being planned, empty where nothing does: this planner makes no transfers, so all kernels
// and all that they touch must be in the ram. fitBudget and Ladder take problems without such faults only.
std::vector<std::string> unplannable(const Problem &problem);

// Plans from the fastest to the smallest. They depend on the problem, never on its capacities.
class Ladder {
public:
  explicit Ladder(const Problem &problem, const FitOptions &options = {});
  ~Ladder();
  const Solution *fastest(const std::array<int64_t, kTierCount> &capacity); // that fits; null where none does
  const Solution &smallest();                                               // in the ram

private:
  struct State;
  std::unique_ptr<State> state;
};

// The fastest plan found that fits all tiers' capacities. Monotone: a larger budget is never refused where a smaller
// one is met, and never gives a slower plan. Deterministic.
FitResult fitBudget(const Problem &problem, const FitOptions &options = {});

} // namespace plim::solver

#endif // PLIM_SOLVER_FIT_H
