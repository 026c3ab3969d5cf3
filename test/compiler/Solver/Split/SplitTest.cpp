//===- SplitTest.cpp - Rows of pieces, plans of splitting and their checker ----------------------===//
#include "SplitProblems.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace plim::solver;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

namespace {

TEST(SplitText, WhatIsPrintedIsReadBack) {
  const SplitProblem problem = parsed(kChain);
  const std::string text = printSplitProblem(problem);
  EXPECT_EQ(printSplitProblem(parsed(text)), text);
  const SplitPlan plan = planned("pieces=4 keep=c@1,mean@1; pieces=2 keep=scaled@1", problem);
  EXPECT_EQ(printSplitPlan(plan, problem), "pieces=4 keep=c@1,mean@1; pieces=2 keep=scaled@1");
  EXPECT_EQ(planned(printSplitPlan(plan, problem), problem), plan);
}

TEST(SplitText, BadTextIsRefusedWithAReason) {
  const SplitProblem problem = parsed(kChain);
  for (auto [text, reason] : {std::pair<const char *, const char *>{"pieces=0 keep=c@1", "number of pieces"},
                              {"pieces=4 keep=nobody@1", "'nobody@1'"},
                              {"pieces=4 keep=c", "NAME@AXIS"},
                              {"pieces=4", "need pieces=N and keep="},
                              {"pieces=4 keep=c@1 lines=3", "'lines=3'"}}) {
    std::string why;
    EXPECT_FALSE(parseSplitPlan(text, problem, why)) << text;
    EXPECT_THAT(why, HasSubstr(reason));
  }
  for (const char *text : {"split 1\nstep s reads=0 write=1\n", "split 1\nvalue x dims=4 kind=input\nvalue y dims=4\n"
                                                                "step s reads=0 write=1\nway 2 operands=0:1:0:0:1\n"}) {
    std::vector<std::string> errors;
    EXPECT_FALSE(parseSplitProblem(text, errors));
    EXPECT_THAT(errors, Not(IsEmpty()));
  }
}

TEST(SplitRows, RowsFollowBackwardsThroughHalosStridesAndRepeats) {
  const SplitProblem problem = parsed(kChain);
  std::string why;
  std::optional<StageRows> rows = rowsOfStage(problem, planned("pieces=4 keep=c@1", problem), 0, why);
  ASSERT_TRUE(rows) << why;
  ASSERT_EQ(rows->pieces.size(), 4u);
  // With rows [0, 8) of x there can be rows [0, 7) of a, [0, 3) of b, [0, 6) of c; a piece before, 3, 1 and 2.
  const std::vector<PieceRun> &second = rows->pieces[1];
  ASSERT_EQ(second.size(), 3u);
  EXPECT_EQ(second[0].rows, (RowRange{2, 6})) << "row 6 of a is not needed yet";
  EXPECT_EQ(second[0].reads[0], (RowRange{1, 7}));
  EXPECT_EQ(second[1].rows, (RowRange{1, 3}));
  EXPECT_EQ(second[1].reads[0], (RowRange{1, 6}));
  EXPECT_EQ(second[2].rows, (RowRange{2, 6}));
  EXPECT_EQ(second[2].reads[0], (RowRange{1, 3}));
}

TEST(SplitRows, ASumIsReadByLaterStagesOnly) {
  const SplitProblem problem = parsed(kChain);
  std::string why;
  EXPECT_FALSE(rowsOfStage(problem, planned("pieces=4 keep=mean@1,scaled@1", problem), 0, why));
  EXPECT_THAT(why, HasSubstr("'mean'"));
  const SplitPlan plan = planned("pieces=4 keep=c@1,mean@1; pieces=8 keep=scaled@1", problem);
  std::optional<StageRows> later = rowsOfStage(problem, plan, 1, why);
  ASSERT_TRUE(later) << why;
  EXPECT_GE(later->ways[0], 0) << "the map that no stage kept is computed again";
}

TEST(SplitRows, WhatCannotBeCutIsRefusedWithAReason) {
  const SplitProblem problem = parsed(kChain);
  std::string why;
  EXPECT_FALSE(rowsOfStage(problem, planned("pieces=4 keep=c@2", problem), 0, why));
  EXPECT_THAT(why, HasSubstr("step 'resize' cannot be cut along axis 2"));
}

TEST(SplitRows, TheCheckerAcceptsEveryScheduleAndRefusesEveryMutation) {
  std::mt19937 random(7);
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    const SplitProblem given = randomProblem(random);
    if (given.steps.empty())
      continue;
    SplitPlan plan;
    plan.stages.push_back(
        {int64_t(1 + random() % 9), {{given.steps.back().write, 1}}, int64_t(random() % 2 ? 1 : 1 + random() % 5)});
    if (random() % 2)
      plan.loose = tiledSteps(given);
    const SplitProblem problem = asPlanned(given, plan).problem;
    std::string why;
    std::optional<StageRows> rows = rowsOfStage(problem, plan, 0, why);
    ASSERT_TRUE(rows) << why;
    ASSERT_THAT(checkSplit(problem, plan.stages[0], *rows), IsEmpty());
    // One row less read, made or kept.
    StageRows wrong = *rows;
    std::vector<PieceRun> &runs = wrong.pieces[random() % wrong.pieces.size()];
    if (runs.empty())
      continue;
    PieceRun &run = runs[random() % runs.size()];
    // Beyond the first and the last row that are needed at all there may be others, whose operands happen to be read.
    auto isMade = [&](int64_t row) {
      if (row < 0 || row >= extentOf(problem, problem.steps[size_t(run.step)].write, 1))
        return true;
      for (const std::vector<PieceRun> &piece : rows->pieces)
        for (const PieceRun &other : piece)
          if (other.step == run.step && other.rows.begin <= row && row < other.rows.end)
            return true;
      return false;
    };
    switch (random() % 4) {
    case 0: {
      // A halo of which a row is missing, where all that is read is needed.
      const SplitOperand &o = problem.steps[size_t(run.step)].ways[0].operands[0];
      if (o.stride > 1 || o.after < 0 || run.reads[0].rows() == 1) // of one, it may be of the padding only
        continue;
      --run.reads[0].end;
      break;
    }
    case 1:
      if (!isMade(--run.rows.begin))
        continue;
      break;
    case 2:
      if (!isMade(run.rows.end++))
        continue;
      break;
    default:
      runs.erase(runs.begin() + (&run - runs.data()));
    }
    EXPECT_THAT(checkSplit(problem, plan.stages[0], wrong), Not(IsEmpty()));
    ++refused;
  }
  EXPECT_GT(refused, 150);
}

TEST(SplitCost, ASharedMapIsKeptOrItsStepsCountTwice) {
  const SplitProblem problem = parsed(kExcite);
  std::string why;
  const std::optional<SplitCost> whole = costOfSplit(problem, {}, why);
  const std::optional<SplitCost> kept =
      costOfSplit(problem, planned("pieces=16 keep=wide@1,mean@1; pieces=16 keep=y@1", problem), why);
  const std::optional<SplitCost> again =
      costOfSplit(problem, planned("pieces=16 keep=narrow@1,mean@1; pieces=16 keep=y@1", problem), why);
  ASSERT_TRUE(whole && kept && again) << why;
  EXPECT_LT(kept->peak, whole->peak);
  EXPECT_LT(again->peak, 131072) << "the wide map is never whole";
  EXPECT_GE(kept->ns, whole->ns);
  EXPECT_GE(again->ns, kept->ns + 200000) << "the step that makes the wide map runs twice";
  EXPECT_LT(again->ns, kept->ns + 1000000) << "the one before it does not";
}

TEST(SplitProposals, TradeMemoryForTimeAndAreSound) {
  for (const char *text : {kChain, kExcite}) {
    const SplitProblem problem = parsed(text);
    std::string why;
    const int64_t whole = costOfSplit(problem, {}, why)->peak;
    SplitSearch search;
    search.slowest = 1000; // launches of so small steps cost more than the steps
    const std::vector<PricedSplit> found = proposeSplits(problem, search);
    ASSERT_FALSE(found.empty());
    for (size_t k = 0; k < found.size(); ++k) {
      EXPECT_LT(found[k].cost.peak, whole);
      if (k > 0) {
        EXPECT_LT(found[k].cost.peak, found[k - 1].cost.peak);
        EXPECT_GT(found[k].cost.ns, found[k - 1].cost.ns);
      }
      for (size_t s = 0; s < found[k].plan.stages.size(); ++s) {
        const std::optional<StageRows> rows = rowsOfStage(problem, found[k].plan, s, why);
        ASSERT_TRUE(rows) << why;
        EXPECT_THAT(checkSplit(problem, found[k].plan.stages[s], *rows), IsEmpty());
      }
    }
    const std::vector<PricedSplit> again = proposeSplits(problem, search);
    ASSERT_EQ(again.size(), found.size());
    for (size_t k = 0; k < found.size(); ++k)
      EXPECT_EQ(again[k].plan, found[k].plan);
  }
}

TEST(SplitProposals, ComputeAMapAgainWhereThatIsWhatItTakes) {
  const SplitProblem problem = parsed(kExcite);
  const std::vector<PricedSplit> found = proposeSplits(problem);
  ASSERT_FALSE(found.empty());
  EXPECT_LT(found.back().cost.peak, 131072);
}

// A wide map that is added at the end to what comes back from a small one, whose steps have tiles of 4 rows.
const char *const kSkip = R"(split 1
value x dims=1,64,8,1 bytes=2048 kind=input
value wide dims=1,64,8,64 bytes=131072 kind=made
value low dims=1,8,1,64 bytes=2048 kind=made
value deep dims=1,8,1,64 bytes=2048 kind=made
value back dims=1,8,1,64 bytes=2048 kind=made
value up dims=1,64,8,64 bytes=131072 kind=made
value sum dims=1,64,8,64 bytes=131072 kind=made
value y dims=1,64,8,1 bytes=2048 kind=made output=1
step conv reads=0 write=1 ns=100000000 workspace=0
way 1 align=1 operands=1:1:1:1:1
step pool reads=1 write=2 ns=1000000 workspace=0
way 1 align=1 operands=1:8:0:0:1
step conv2 reads=2 write=3 ns=1000000 workspace=0
way 1 align=4 operands=1:1:1:1:1
fine ns=1500000 workspace=0
way 1 align=1 operands=1:1:1:1:1
step conv3 reads=3 write=4 ns=1000000 workspace=0
way 1 align=4 operands=1:1:1:1:1
fine ns=1500000 workspace=0
way 1 align=1 operands=1:1:1:1:1
step resize reads=4 write=5 ns=1000000 workspace=0
way 1 align=8 operands=1:1:0:0:8
step add reads=1,5 write=6 ns=1000000 workspace=0 inplace=1
way 1 align=1 operands=1:1:0:0:1,1:1:0:0:1
step last reads=6 write=7 ns=1000000 workspace=0
way 1 align=1 operands=1:1:0:0:1
)";

TEST(SplitProposals, TakeKernelsWithoutTilesWhereTilesKeepRowsWaiting) {
  const SplitProblem problem = parsed(kSkip);
  EXPECT_EQ(printSplitProblem(problem), kSkip);
  const std::vector<PricedSplit> found = proposeSplits(problem);
  ASSERT_FALSE(found.empty());
  const PricedSplit &last = found.back();
  EXPECT_EQ(last.plan.fine, (std::vector<int>{2, 3}));
  const std::string text = printSplitPlan(last.plan, problem);
  EXPECT_THAT(text, ::testing::StartsWith("fine=deep,back; pieces="));
  EXPECT_EQ(planned(text, problem), last.plan);
  std::string why;
  SplitPlan coarse = last.plan;
  coarse.fine.clear();
  const std::optional<SplitCost> tiles = costOfSplit(problem, coarse, why), rows = costOfSplit(problem, last.plan, why);
  EXPECT_LT(rows->peak, tiles->peak - 30000) << "of 64 rows about half wait for two tiles";
  EXPECT_EQ(rows->peak, last.cost.peak);
  EXPECT_GT(rows->ns, tiles->ns + 900000);
  EXPECT_FALSE(parseSplitPlan("fine=low; pieces=2 keep=y@1", problem, why));
  EXPECT_THAT(why, HasSubstr("a step that has a fine kernel, have 'low'"));
}

TEST(SplitCost, MapsMadeAfterAReusedInputIsReadLieInIt) {
  SplitProblem problem = parsed(kSkip);
  problem.values[0].bytes = 131072;
  std::string why;
  const int64_t kept = costOfSplit(problem, {}, why)->peak;
  problem.values[0].reused = true;
  EXPECT_EQ(costOfSplit(problem, {}, why)->peak, kept - 131072);
  EXPECT_TRUE(parsed(printSplitProblem(problem)).values[0].reused);
}

} // namespace
