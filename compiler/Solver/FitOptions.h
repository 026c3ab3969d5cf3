//===- FitOptions.h - How much work a plan may cost -------------------------------------------===//
#ifndef PLIM_SOLVER_FITOPTIONS_H
#define PLIM_SOLVER_FITOPTIONS_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace plim::solver {

class PlanStore;

// Limits count work, never seconds, so that equal input gives equal plans.
struct FitOptions {
  int orderRounds = 600; // local-search rounds of the order, of problems of up to 1,000 steps; fewer of larger ones
  int tradeEvaluations = 5000; // drafts simulated while trading time for memory, likewise
  int packPasses = 40;         // greedy packing passes
  int64_t exactNodes = 20000;  // search nodes of the exact packing
  // Ruin-and-recreate rounds of a plan with recomputation or transfers, of 3,000 steps; twice as many of up to 1,500,
  // fewer of larger ones. The plans of a grid, of which a budget takes about ten, have a third of them, and at most
  // this number.
  int jointRounds = 600;
  int jointRescues = 300; // of these, rounds at least where the first plans do not fit
  int rungs = 256;        // budgets of the ram that plans are made for, a power of two (Ladder.h)
  // One plan, made for the budget itself instead of for those of a fixed grid: in much less time and often a little
  // faster, but a larger budget may be refused what a smaller one has, or get a slower plan.
  bool quick = false;
  bool alternatives = true; // a refusal also prices other labels and levers, by solving again
  // Plans found before, which save time and change none; it must outlive all that is given these options.
  PlanStore *store = nullptr;
  // Told what is being done, a line each.
  std::function<void(const std::string &)> progress{};
};

} // namespace plim::solver

#endif // PLIM_SOLVER_FITOPTIONS_H
