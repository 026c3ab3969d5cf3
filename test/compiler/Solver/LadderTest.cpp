//===- LadderTest.cpp - Budgets over all levers: monotone, exact about the smallest, lazy ------===//
#include "compiler/Solver/Ladder.h"
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/Fit.h"
#include "compiler/Solver/Generate/Generate.h"
#include "compiler/Solver/ProblemText.h"
#include "test/compiler/Solver/RandomGraph.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plim::solver {
namespace {

FitOptions quick() {
  FitOptions options;
  options.orderRounds = 40, options.tradeEvaluations = 500, options.packPasses = 24, options.exactNodes = 500;
  options.jointRounds = 20, options.jointRescues = 20, options.alternatives = false;
  return options;
}

std::array<int64_t, kTierCount> budget(int64_t ram, int64_t ssd) { return {ram, kUnbounded, ssd, kUnbounded}; }

TEST(Ladder, IsMonotoneInBothTiersAndExactAboutTheSmallest) {
  int recomputed = 0, transferred = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Problem p = randomGraph(kGraphFamilies[seed % std::size(kGraphFamilies)], 8 + int(seed % 20), seed);
    p.levers = {.recompute = true, .spill = true, .stream = true, .move = seed % 2 == 0};
    int64_t fixed = 0; // on the ssd
    for (const FixedCost &f : p.fixed)
      fixed += f.tier == Tier::Ssd ? f.bytes : 0;
    std::vector<int64_t> lessSsd;
    int64_t needBefore = kUnbounded;
    for (int64_t ssd : {fixed, fixed + 65536, kUnbounded}) {
      p.tiers[int(Tier::Ssd)].capacity = ssd;
      Ladder ladder(p, quick());
      const int64_t need = ladder.smallest().peak[0];
      EXPECT_LE(need, needBefore) << "seed " << seed;
      needBefore = need;
      EXPECT_TRUE(ladder.fastest(budget(need, ssd))) << "seed " << seed;
      EXPECT_FALSE(ladder.fastest(budget(need - 1, ssd))) << "seed " << seed;
      std::vector<int64_t> ns;
      const int64_t most = ladder.fastest(budget(kUnbounded, ssd))->peak[0] + 64;
      for (int k = 0; k < 40; ++k) {
        const int64_t ram = most * (k + 1) / 40;
        const Solution *plan = ladder.fastest(budget(ram, ssd));
        ASSERT_EQ(plan != nullptr, ram >= need) << "seed " << seed << " ram " << ram;
        ns.push_back(plan ? plan->ns : INT64_MAX);
        if (k > 0) {
          EXPECT_LE(ns[k], ns[k - 1]) << "seed " << seed << " ram " << ram << " ssd " << ssd;
        }
        if (!plan)
          continue;
        EXPECT_LE(plan->peak[0], ram);
        EXPECT_LE(plan->peak[int(Tier::Ssd)], ssd);
        EXPECT_THAT(check::checkSolution(p, *plan, check::IgnoreCapacity::Yes), testing::IsEmpty());
        for (const Action &a : plan->actions)
          recomputed += a.instance > 0, transferred += a.queue != Queue::Cpu;
      }
    }
  }
  EXPECT_GT(recomputed, 0);
  EXPECT_GT(transferred, 0);
}

TEST(Ladder, GivesAPlanThatDoesNotDependOnWhatWasAskedBefore) {
  const Problem p = generateProblem({.shape = GraphShape::UNet, .ops = 120});
  Ladder upwards(p, quick()), downwards(p, quick());
  const int64_t most = upwards.fastest(budget(kUnbounded, 0))->peak[0];
  std::vector<std::string> texts;
  auto text = [&](Ladder &ladder, int k) {
    const Solution *plan = ladder.fastest(budget(most * k / 8, 0));
    return plan ? printSolution(*plan) : "refused";
  };
  for (int k = 2; k <= 8; ++k)
    texts.push_back(text(upwards, k));
  for (int k = 8; k >= 2; --k)
    EXPECT_EQ(text(downwards, k), texts[size_t(k - 2)]) << k;
  // And a call of its own gives what the ladder gives.
  Problem own = p;
  own.tiers[0].capacity = most * 5 / 8;
  EXPECT_EQ(printSolution(*fitBudget(own, quick()).solution), texts[3]);
}

TEST(Ladder, MakesNoOtherPlanWhereTheFastestFits) {
  FitOptions options = quick();
  std::vector<std::string> lines;
  options.progress = [&](const std::string &line) { lines.push_back(line); };
  const Problem p = generateProblem({.shape = GraphShape::Gpt, .ops = 150});
  Ladder ladder(p, options);
  const int64_t most = ladder.fastest(budget(kUnbounded, 0))->peak[0];
  EXPECT_THAT(lines, testing::IsEmpty());
  ladder.fastest(budget(most - 1, 0));
  EXPECT_THAT(lines, testing::Not(testing::IsEmpty()));
}

TEST(Ladder, ItsCurveRisesInMemoryAndFallsInTime) {
  Problem p = generateProblem({.shape = GraphShape::Gpt, .ops = 150});
  Ladder ladder(p, quick());
  const std::vector<CurvePoint> curve = ladder.curve();
  ASSERT_GE(curve.size(), 6u);
  EXPECT_EQ(curve.front().budget, ladder.smallest().peak[0]);
  EXPECT_EQ(curve.back().plan->ns, ladder.fastest(budget(kUnbounded, 0))->ns);
  for (size_t k = 0; k < curve.size(); ++k) {
    EXPECT_EQ(curve[k].plan, ladder.fastest(budget(curve[k].budget, 0)));
    EXPECT_LE(curve[k].plan->peak[0], curve[k].budget);
    if (k > 0) {
      EXPECT_GT(curve[k].budget, curve[k - 1].budget);
      EXPECT_LT(curve[k].plan->ns, curve[k - 1].plan->ns);
    }
  }
  EXPECT_LE(ladder.curve(2).size(), 3u);
}

TEST(Ladder, LargeProblemsAreMonotoneToo) {
  const Problem p = generateProblem({.shape = GraphShape::Gpt, .ops = 2500});
  FitOptions options = quick();
  options.rungs = 16;
  Ladder ladder(p, options);
  const Solution *fastest = ladder.fastest(budget(kUnbounded, 0));
  const int64_t need = ladder.smallest().peak[0], most = fastest->peak[0];
  EXPECT_FALSE(ladder.fastest(budget(need - 1, 0)));
  int64_t before = INT64_MAX;
  for (int k = 0; k <= 12; ++k) {
    const Solution *plan = ladder.fastest(budget(need + (most - need) * k / 12, 0));
    ASSERT_TRUE(plan) << k;
    EXPECT_LE(plan->ns, before) << k;
    before = plan->ns;
  }
  EXPECT_EQ(before, fastest->ns); // and what was given first is still there
}

TEST(Ladder, QuickPlansAreMadeForTheBudgetItself) {
  const Problem p = generateProblem({.shape = GraphShape::Gpt, .ops = 800});
  FitOptions options = quick();
  options.quick = true;
  std::vector<std::string> lines;
  options.progress = [&](const std::string &line) { lines.push_back(line); };
  Ladder ladder(p, options);
  const int64_t most = ladder.fastest(budget(kUnbounded, 0))->peak[0];
  const Solution *half = ladder.fastest(budget(most / 2, 0));
  ASSERT_TRUE(half);
  EXPECT_EQ(lines.size(), 1u);
  EXPECT_LE(half->peak[0], most / 2);
  EXPECT_LT(double(half->ns), 1.06 * double(ladder.fastest(budget(kUnbounded, 0))->ns));
}

} // namespace
} // namespace plim::solver
