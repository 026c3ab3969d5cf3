//===- ExactPlanTest.cpp - Small problems: the fastest plan, or the proof that there is none --------===//
#include "compiler/Solver/Exact/ExactPlan.h"
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/Unroll.h"
#include "test/compiler/Solver/ExhaustivePlans.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plim::solver {
namespace {

// What the exhaustive search leaves to the arena.
int64_t leastArena(const Problem &p) {
  int64_t resident = 0;
  for (const Buffer &b : p.buffers)
    if (b.kind == BufferKind::Constant || (p.countIo && b.kind != BufferKind::Transient))
      resident += b.bytes;
  return exhaustiveLeast(p) - resident;
}

// A step that writes an output beside a transient is not run again, which the exhaustive search would do.
bool mixesOutputs(const Problem &p) {
  return std::any_of(p.steps.begin(), p.steps.end(), [&](const Step &s) {
    auto transient = [&](int b) { return p.buffers[b].kind == BufferKind::Transient; };
    return std::any_of(s.writes.begin(), s.writes.end(), transient) &&
           !std::all_of(s.writes.begin(), s.writes.end(), transient);
  });
}

ExactPlan planWithin(const Problem &p, int64_t arena) {
  return exactPlan(Context(p), {.arena = arena, .states = 2'000'000});
}

TEST(ExactPlan, FitsExactlyWhereSomePlanDoesAndIsSound) {
  int again = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Problem p = smallProblem(seed, {.steps = 4 + int(seed % 7), .inPlace = false});
    ASSERT_TRUE(isSmall(p));
    for (bool recompute : {false, true}) {
      if (recompute && mixesOutputs(p))
        continue;
      p.levers.recompute = recompute;
      const std::string where = "seed " + std::to_string(seed) + " recompute " + std::to_string(recompute);
      const int64_t least = leastArena(p);
      const ExactPlan plan = planWithin(p, least);
      ASSERT_EQ(plan.outcome, ExactPlan::Outcome::Fastest) << where;
      EXPECT_EQ(plan.live, least) << where;
      if (least > 0)
        EXPECT_EQ(planWithin(p, least - 1).outcome, ExactPlan::Outcome::None) << where;
      again += plan.schedule.actions.size() > p.steps.size();

      const Unrolled unrolled(p, plan.schedule);
      const Solution solution = assemble(unrolled, unrolled.draft, {});
      EXPECT_THAT(check::checkSolution(p, solution), testing::IsEmpty()) << where;
      EXPECT_LE(solution.live[0], least) << where;
      EXPECT_EQ(solution.ns, plan.ns) << where;
    }
  }
  EXPECT_GT(again, 5); // plans that run steps again
}

TEST(ExactPlan, MoreMemoryNeverTakesMoreTime) {
  for (uint64_t seed = 0; seed < 25; ++seed) {
    const Problem p = smallProblem(seed, {.steps = 8});
    int64_t last = INT64_MAX, fastest = 0;
    for (const Step &s : p.steps) {
      int64_t ns = INT64_MAX;
      for (const Candidate &c : s.candidates)
        ns = std::min(ns, c.ns);
      fastest += ns;
    }
    const int64_t most = planWithin(p, kUnbounded).live;
    for (int64_t arena = most / 2; arena <= most; arena += std::max(kAlign, most / 16)) {
      const ExactPlan plan = planWithin(p, arena);
      if (plan.outcome == ExactPlan::Outcome::None) {
        EXPECT_EQ(last, INT64_MAX) << "seed " << seed << ": none above an arena that is met";
        continue;
      }
      EXPECT_LE(plan.live, arena) << "seed " << seed;
      EXPECT_LE(plan.ns, last) << "seed " << seed;
      last = plan.ns;
    }
    EXPECT_EQ(planWithin(p, kUnbounded).ns, fastest);
  }
}

TEST(ExactPlan, GivesUpRatherThanGuess) {
  const Problem p = smallProblem(3, {.steps = 12});
  EXPECT_EQ(exactPlan(Context(p), {.arena = leastArena(p), .states = 3}).outcome, ExactPlan::Outcome::GaveUp);
}

TEST(ExactPlan, KeepsTheGivenOrderOfFirstRunsWhereThatLeverIsOff) {
  for (uint64_t seed = 0; seed < 25; ++seed) {
    Problem p = smallProblem(seed, {.steps = 8});
    p.levers.order = false;
    std::vector<int> order(p.steps.size());
    for (size_t k = 0; k < order.size(); ++k)
      order[k] = int(k);
    const ExactPlan plan = exactPlan(Context(p), {.order = order, .states = 100'000});
    ASSERT_EQ(plan.outcome, ExactPlan::Outcome::Fastest);
    int next = 0;
    for (const Action &a : plan.schedule.actions)
      if (a.instance == 0)
        EXPECT_EQ(a.step, next++) << "seed " << seed;
  }
}

} // namespace
} // namespace plim::solver
