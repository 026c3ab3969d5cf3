//===- Joint.h - Order, choice, recompute, spill and stream, planned together --------------------===//
//
// One state holds what each value does between its uses: it stays in memory, is made again, or goes to the ssd and
// comes back (Timeline.h). Greedy repair by shadow prices, then ruin and recreate, find the state that fits in the
// least time (Search.h). What comes out says what runs when; aliases and offsets come after it.
//
// Sizes are counted as the arena has them: rounded up to their alignment, and to whole blocks of the ssd where they may
// meet it. Views count nothing; an operand that dies under its in-place result, and pieces under the whole that they
// lie in, count once while that step runs. The layout may come out larger than that: ask again with less.
//
//   JointPlanner planner(context);
//   if (std::optional<JointPlan> plan = planner.plan({.capacity = {arena, 0, ssd, 0}}))
//     ... plan->schedule
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_JOINT_JOINT_H
#define PLIM_SOLVER_JOINT_JOINT_H

#include "compiler/Solver/Layout.h"
#include "compiler/Solver/Schedule.h"
#include <memory>
#include <optional>

namespace plim::solver {

struct JointSearch; // what a plan was made from

// Limits count work, never time, so that equal input gives equal plans.
struct JointOptions {
  // Of the ram: what transient storages and workspace may take at one time, and, where the problem can
  // stream (the lever and a link), constants too. Of the ssd: the sum of all spilled bytes.
  std::array<int64_t, kTierCount> capacity = {kUnbounded, kUnbounded, kUnbounded, kUnbounded};
  std::vector<int64_t> capacityAt{}; // by slot, the ram's; empty: the same everywhere
  uint64_t seed = 1;
  int iterations = 600; // rounds of ruin and recreate
  int rescues = 300;    // rounds at least where the first plans do not fit
  int64_t work = 0;     // stops when about this many values were looked at; 0: no limit
  // A plan of the same planner that took too much: this one starts from there, which takes a few rounds.
  std::shared_ptr<const JointSearch> from{};
};

struct JointPlan {
  Schedule schedule{};
  std::vector<int> slots{}; // by action: the slot that JointOptions::capacityAt counts it in
  int64_t live = 0;         // most bytes at one time, as this planner counts them
  int64_t ns = 0;           // scheduleNs
  std::shared_ptr<const JointSearch> search{};
};

class JointPlanner {
public:
  // `order`: all steps, meeting all dependencies, to start from; empty: as given.
  explicit JointPlanner(const Context &context, std::vector<int> order = {});

  std::optional<JointPlan> plan(const JointOptions &options) const;
  // The plan of least ram that it finds, by bisection; capacityAt is unused, and the ram's capacity bounds it.
  std::optional<JointPlan> smallest(const JointOptions &options) const;

private:
  const Context &context;
  std::vector<int> order;
};

// The time of a schedule as Solution::ns defines it, with nothing saved by aliases: each run takes its candidate's ns.
int64_t scheduleNs(const Problem &problem, const Schedule &schedule);

} // namespace plim::solver

#endif // PLIM_SOLVER_JOINT_JOINT_H
