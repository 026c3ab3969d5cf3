//===- ExactPlan.h - The fastest plan of a small problem ---------------------------------------===//
//
// Best-first search over what has run and what is in memory. Every step runs once at least, so only what is run again,
// and what a slower candidate takes longer, costs: plans are tried by rising overhead, and the first that ends is the
// fastest. A value is dropped when its bytes are needed, never before, and no more than needed.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_EXACT_EXACTPLAN_H
#define PLIM_SOLVER_EXACT_EXACTPLAN_H

#include "compiler/Solver/Layout.h"
#include "compiler/Solver/Schedule.h"
#include <optional>

namespace plim::solver {

struct ExactOptions {
  int64_t arena = kUnbounded; // bytes of transients and workspace at one time
  std::vector<int> order{};   // where the levers fix the order: in which steps run first
  int64_t states = 20'000;    // looked at, at most
};

struct ExactPlan {
  enum class Outcome : uint8_t { Fastest, None, GaveUp };
  Outcome outcome = Outcome::GaveUp; // None: proved that no plan fits, of the kind that is searched
  Schedule schedule{};
  std::vector<int> begun{}; // by action: how many steps had run before it
  int64_t live = 0, ns = 0; // most bytes at one time; of all runs
};

// Whether a problem is of the kind that is searched: at most 24 steps and 32 transients, no groups, no steps elsewhere
// than in the ram, nothing streamed and nothing spilled.
bool isSmall(const Problem &problem);

// Views and pieces count as values of their own, and a result lies in place of an operand only if that is as large. Run
// again are pure steps that touch no state and write transients only, where the lever allows it.
ExactPlan exactPlan(const Context &context, const ExactOptions &options);

} // namespace plim::solver

#endif // PLIM_SOLVER_EXACT_EXACTPLAN_H
