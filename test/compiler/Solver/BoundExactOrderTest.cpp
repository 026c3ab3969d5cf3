//===- BoundExactOrderTest.cpp - The joint planner against exact optima of the given order ---------===//
#include "compiler/Solver/Joint/Joint.h"
#include "test/compiler/Solver/FixedOrderProgram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cstdio>
#include <random>

namespace plim::solver {
namespace {

// Steps forward, then steps back that read what was made forward, from the last on; some with one more value from
// anywhere.
Problem thereAndBack(uint64_t seed, int steps) {
  std::mt19937_64 random(seed);
  auto below = [&](int limit) { return int(random() % uint64_t(limit)); };
  Problem p;
  p.levers.recompute = true;
  const int forward = (steps + 1) / 2;
  for (int k = 0; k < steps; ++k) {
    Step step{.name = "step" + std::to_string(k), .candidates = {{.ns = 10 + below(90)}}};
    if (k > 0)
      step.reads.push_back(k - 1);
    if (k >= forward)
      if (const int partner = steps - 1 - k; partner >= 0 && partner != k - 1)
        step.reads.push_back(partner);
    if (k > 1 && below(4) == 0)
      if (const int other = below(k - 1); !std::count(step.reads.begin(), step.reads.end(), other))
        step.reads.push_back(other);
    p.buffers.push_back({.name = "value" + std::to_string(k), .bytes = kAlign * (1 + below(12))});
    step.writes = {k};
    p.steps.push_back(std::move(step));
  }
  return p;
}

// The largest number of bytes alive in the given order, each value from its step to its last reader.
int64_t givenPeak(const Problem &p) {
  int64_t most = 0;
  for (int at = 0; at < int(p.steps.size()); ++at) {
    int64_t live = 0;
    for (int k = 0; k <= at; ++k) {
      bool needed = k == at;
      for (int reader = at; reader < int(p.steps.size()); ++reader)
        needed |= std::count(p.steps[reader].reads.begin(), p.steps[reader].reads.end(), k) > 0;
      live += needed ? p.buffers[k].bytes : 0;
    }
    most = std::max(most, live);
  }
  return most;
}

class ExactOrder : public testing::TestWithParam<bool> {};

TEST_P(ExactOrder, JointPlannerTakesNoMoreTimeThanAnyOptimumOfTheGivenOrder) {
  if (!hasCbc())
    GTEST_SKIP() << "need cbc (package coinor-cbc) on the path, have none";
  int proved = 0, equal = 0, infeasible = 0, unknown = 0;
  for (uint64_t seed = 0; seed < 24; ++seed) {
    Problem p = thereAndBack(seed, 8 + int(seed % 7));
    ASSERT_THAT(validate(p), testing::IsEmpty());
    p.levers.order = GetParam();
    const Context context(p);
    const JointPlanner planner(context);
    for (int percent : {85, 70, 60}) {
      const int64_t arena = givenPeak(p) * percent / 100 / kAlign * kAlign;
      const FixedOrderOptimum optimum = fixedOrderOptimum(p, arena, 20);
      infeasible += optimum.outcome == FixedOrderOptimum::Outcome::Infeasible;
      unknown += optimum.outcome == FixedOrderOptimum::Outcome::Unknown;
      if (optimum.outcome != FixedOrderOptimum::Outcome::Proved)
        continue;
      ++proved;
      JointOptions options;
      options.capacity[0] = arena;
      const auto plan = planner.plan(options);
      EXPECT_TRUE(plan) << "seed " << seed << " at " << percent << " %: no plan, exact " << optimum.ns;
      if (!plan)
        continue;
      EXPECT_LE(plan->live, arena);
      EXPECT_LE(plan->ns, optimum.ns) << "seed " << seed << " at " << percent << " %";
      equal += plan->ns == optimum.ns;
    }
  }
  std::printf("order %s: %d optima proved, equalled in %d; infeasible %d, unknown %d\n", GetParam() ? "on" : "off",
              proved, equal, infeasible, unknown);
  EXPECT_GE(proved, 20);
}

INSTANTIATE_TEST_SUITE_P(OrderLever, ExactOrder, testing::Bool());

} // namespace
} // namespace plim::solver
