//===- BoundExactOrderTest.cpp - The joint planner against exact optima of the given order ---------===//
#include "compiler/Solver/Exact/ExactPlan.h"
#include "compiler/Solver/Joint/Joint.h"
#include "test/compiler/Solver/FixedOrderProgram.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cstdio>
#include <numeric>
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

// What the exact search and the joint planner say of one problem and arena, against what the program proves.
TEST(ExactOrder, PlannersTakeNoMoreTimeThanAnyOptimumOfTheGivenOrder) {
  if (!hasCbc())
    GTEST_SKIP() << "need cbc (package coinor-cbc) on the path, have none";
  int proved = 0, equal = 0, infeasible = 0;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Problem p = thereAndBack(seed, 8 + int(seed % 6));
    ASSERT_THAT(validate(p), testing::IsEmpty());
    for (int percent : {80, 60}) {
      const int64_t arena = givenPeak(p) * percent / 100 / kAlign * kAlign;
      const std::string where = "seed " + std::to_string(seed) + " at " + std::to_string(percent) + " %";
      const FixedOrderOptimum optimum = fixedOrderOptimum(p, arena, 20);
      ASSERT_NE(optimum.outcome, FixedOrderOptimum::Outcome::Unknown) << where;
      const bool some = optimum.outcome == FixedOrderOptimum::Outcome::Proved;
      (some ? proved : infeasible) += 1;
      for (bool order : {false, true}) {
        p.levers.order = order;
        const Context context(p);
        ExactOptions options{.arena = arena, .states = 1'000'000};
        options.order.resize(p.steps.size());
        std::iota(options.order.begin(), options.order.end(), 0);
        const ExactPlan exact = exactPlan(context, options);
        ASSERT_NE(exact.outcome, ExactPlan::Outcome::GaveUp) << where;
        if (!some)
          continue;
        // Not always equal: the program makes a value again at most once before each step, and in the given order.
        ASSERT_EQ(exact.outcome, ExactPlan::Outcome::Fastest) << where << " order " << order;
        EXPECT_LE(exact.ns, optimum.ns) << where << " order " << order;
        EXPECT_LE(exact.live, arena) << where << " order " << order;
        equal += !order && exact.ns == optimum.ns;
        JointOptions joint;
        joint.capacity[0] = arena;
        const auto plan = JointPlanner(context).plan(joint);
        ASSERT_TRUE(plan) << where << " order " << order << ": none, the program has " << optimum.ns;
        EXPECT_LE(plan->live, arena) << where;
        EXPECT_LE(plan->ns, optimum.ns) << where << " order " << order;
      }
    }
  }
  std::printf("%d optima proved, %d of them equalled in the given order; %d infeasible\n", proved, equal, infeasible);
  EXPECT_GE(proved, 8);
  EXPECT_GE(equal, proved * 3 / 4);
}

} // namespace
} // namespace plim::solver
