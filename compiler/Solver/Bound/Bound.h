//===- Bound.h - Bytes of ram below which no plan exists ---------------------------------------===//
//
// A proved lower bound on the ram that any plan of a problem needs, whatever its order, candidates, choices, aliases,
// moves and offsets, and whatever it makes again, as far as the problem's levers allow that. Three arguments; the best
// one counts:
//
//   working set   A step's operands and results are in memory while it runs, with its workspace.
//   backward      If values are in memory together, the one made last was made while the others and the operands of its
//                 own step were there; so the least over "which was last" bounds every plan, and each of these cases
//                 is again a set in memory together. True for any order and any recomputation; not with spill, which
//                 lets a set come together from the ssd. (Pebbling, read backwards, as a bottleneck shortest path.)
//   cut           Where nothing is made twice, a value lives from its maker to its last reader. The steps done before a
//                 given one are a set that is closed under dependencies; the closed set with the fewest bytes alive is
//                 a minimum cut (Picard, "Maximal closure of a graph", 1976), and a flow of any value bounds it.
//
// Bytes are counted as the arena cannot avoid them: values that an alias may join are counted once, a result that may
// take over a dying operand's bytes is free, and the caller's outputs serve as scratch. Alignment of single buffers is
// not counted, that of whole arenas is.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_BOUND_BOUND_H
#define PLIM_SOLVER_BOUND_BOUND_H

#include "compiler/Solver/Problem.h"

namespace plim::solver {

struct LeastBytes {
  enum class Argument : uint8_t {
    Resident,   // what is there all the time
    WorkingSet, // what `step` touches
    Backward,   // the operands of `step` (-1: the outputs) cannot come together in less; `made` is the run that tells
    Cut,        // whatever ran before `step`, so much is alive then
  };
  int64_t bytes = 0;    // of ram: no plan has a smaller peak
  int64_t resident = 0; // of these: fixed costs, inputs, outputs, states, constants that stay
  Argument argument = Argument::Resident;
  int step = -1;              // that forces it
  int made = -1;              // the run at which the least of all cases is this large; Backward only, else `step`
  std::vector<int> buffers{}; // in memory together then, by falling size; resident ones left out
  Levers covered{};           // the proof holds for plans that use these, and for no others
};

// How much work a bound may take, in values touched: equal problems get equal bounds. More work, never a smaller bound.
struct BoundOptions {
  int64_t backwardWork = 5'000'000;
  int64_t cutWork = 30'000'000;
};

LeastBytes leastBytes(const Problem &problem, const BoundOptions &options = {});

// One sentence for a refusal: why no plan needs less.
std::string explain(const Problem &problem, const LeastBytes &least);

} // namespace plim::solver

#endif // PLIM_SOLVER_BOUND_BOUND_H
