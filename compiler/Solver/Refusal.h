//===- Refusal.h - Why there is no plan, and what would help ----------------------------------===//
#ifndef PLIM_SOLVER_REFUSAL_H
#define PLIM_SOLVER_REFUSAL_H

#include "compiler/Solver/FitOptions.h"
#include "compiler/Solver/Problem.h"

namespace plim::solver {

class Ladder;

struct LiveBuffer {
  std::string name{}, source{};
  int64_t bytes = 0;
};

// What a label ("attention=flash") would change: the smallest budget met with only it where it is offered.
struct Alternative {
  std::string label{};
  std::string barredBy{}; // the flag that forbids it now, or ""
  int64_t need = 0;  // ram bytes; of one that is not barred, whose plans are among those without a refusal, `bound`
  int64_t bound = 0; // ram bytes that any plan with it takes
};

// What one lever changes: the smallest budget met with it the other way round.
struct LeverPrice {
  std::string lever{}; // "recompute"
  std::string flag{};  // what a user changes to have it: "with --ssd 8GiB", "without --no-stream"
  bool on = false;     // now
  int64_t need = 0;    // ram bytes, where it is turned over
};

struct Refusal {
  Tier tier = Tier::Ram;
  int64_t need = 0; // the smallest budget that a checked plan meets
  int64_t have = 0;
  int64_t bound = 0;   // ram bytes that any plan takes
  bool proved = false; // have < bound: there is no plan
  std::string proof{}; // why no plan takes less than `bound`, and for which levers that holds; one sentence
  std::string peakStep{}, peakSource{}; // where the plan of least memory peaks
  std::vector<LiveBuffer> live{};       // there, by falling size; workspace, constants, io and fixed costs included
  std::vector<Alternative> alternatives{};
  std::vector<LeverPrice> levers{};
  std::string provedText() const; // the proof as the message has it, one line; "" without one
  std::string message() const;    // need, have, where, what would help; several lines
};

// The refusal of a budget that no plan of the ladder meets.
Refusal explainRefusal(const Problem &problem, Ladder &ladder, const FitOptions &options);

} // namespace plim::solver

#endif // PLIM_SOLVER_REFUSAL_H
