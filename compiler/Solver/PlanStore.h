//===- PlanStore.h - Plans that a search has found, kept for the next one ---------------------===//
//
// What JointRungs finds for a budget is a function of the problem without its ram capacity, of the options, and of the
// planner's code. A store remembers it, as text that outlives the process, so that a model that is compiled again for
// another budget is not planned from scratch:
//
//   plim-plans 1 IDENTITY
//   problem KEY
//   plan CALL RAM,PINNED,SSD,GPU BYTES         (or "none" in place of BYTES; the solution's text of so many bytes
//   follows) hash XXH3                                  (of all that comes before this line)
//
// A text of another version or identity, or a damaged one, is not taken. A plan is used only where check::checkSolution
// accepts it and it is within the budget that was asked for.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_PLANSTORE_H
#define PLIM_SOLVER_PLANSTORE_H

#include "compiler/Solver/FitOptions.h"
#include "compiler/Solver/Problem.h"
#include <map>
#include <optional>
#include <string_view>

namespace plim::solver {

struct Draft;

class PlanStore {
public:
  using TierBytes = std::array<int64_t, kTierCount>;

  // `identity`, one word: equal where the planner's code is.
  explicit PlanStore(std::string identity) : identity(std::move(identity)) {}

  // Of a problem, whatever its ram capacity, planned from the order of `start`.
  static std::string keyOf(const Problem &problem, const Draft &start, const FitOptions &options);

  // What was found; an inner nothing where it is known that nothing is found.
  std::optional<std::optional<Solution>> find(const Problem &problem, const std::string &key, const std::string &call,
                                              const TierBytes &capacity);
  void add(const std::string &key, const std::string &call, const TierBytes &capacity,
           const std::optional<Solution> &plan);

  // Takes over what print gave. False, with nothing taken, where the text is not of this version and identity, or
  // damaged.
  bool parse(std::string_view text);
  // At most kMaxBytes: what was asked for since goes first, then what was only taken over. "" where there is nothing.
  std::string print() const;
  static constexpr size_t kMaxBytes = size_t(32) << 20;

private:
  struct Plans {
    bool used = false;
    std::map<std::string, std::string> calls; // by call and capacity: the solution's text, or "" where there is none
  };
  std::string identity;
  std::map<std::string, Plans> problems; // by key
};

} // namespace plim::solver

#endif // PLIM_SOLVER_PLANSTORE_H
