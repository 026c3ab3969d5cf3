//===- PartsTest.cpp - Pieces made in parts, tiles that begin anywhere, copies of steps ---------------===//
#include "absl/strings/str_cat.h"
#include "compiler/Solver/Split/Cost.h"
#include "compiler/Solver/Split/Split.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace plim::solver;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace {

constexpr int64_t kRows = 128;

// A net whose maps are halved in rows, columns doubled in depth, and come back, joined with those of before: at each
// level a convolution of 3 rows on the way down and one on the way up, with tiles of 4 rows.
class UNet {
public:
  explicit UNet(int levels, int64_t tile = 4) : tile(tile) {
    p.values.push_back({"x", {1, kRows, 64}, kRows * 64, SplitValue::Kind::Input});
    std::vector<int> skips;
    int at = 0;
    for (int level = 0; level < levels; ++level) {
      skips.push_back(convolution("down" + std::to_string(level), {at}));
      at = add("pool" + std::to_string(level), rowsOf(skips.back()) / 2, {skips.back()}, {1, 2, 0, 0, 1}, 1, 1);
    }
    at = convolution("bottom", {at});
    for (int level = levels; level-- > 0;) {
      at = add("back" + std::to_string(level), 2 * rowsOf(at), {at}, {1, 1, 0, 0, 2}, 2, 1);
      at = add("join" + std::to_string(level), rowsOf(at), {skips[size_t(level)], at}, {1, 1, 0, 0, 1}, 1, 1);
      at = convolution("up" + std::to_string(level), {at});
    }
    add("y", kRows, {at}, {1, 1, 0, 0, 1}, 1, 1);
    p.values.back().output = true, p.values.back().bytes = kRows * 64;
  }

  SplitProblem p;

private:
  const int64_t tile;

  int64_t rowsOf(int value) const { return p.values[size_t(value)].dims[1]; }
  int convolution(const std::string &name, std::vector<int> reads) {
    const int64_t rows = rowsOf(reads[0]);
    return add(name, rows, std::move(reads), {1, 1, 1, 1, 1}, tile, tile);
  }
  int add(const std::string &name, int64_t rows, std::vector<int> reads, SplitOperand operand, int64_t align,
          int64_t tile) {
    SplitStep step;
    step.name = name, step.ns = operand.before == 1 ? 100'000'000 : 1'000'000;
    step.write = int(p.values.size());
    step.ways.push_back({1, align, false, std::vector<SplitOperand>(reads.size(), operand), tile});
    step.reads = std::move(reads);
    p.steps.push_back(std::move(step));
    p.values.push_back({name, {1, rows, 4096}, rows * 4096});
    return int(p.values.size()) - 1;
  }
};

constexpr const char *kLoose = "loose=down0,down1,down2,bottom,up2,up1,up0; ";

SplitCost costOf(const SplitProblem &problem, const std::string &text) {
  std::string why;
  const std::optional<SplitPlan> plan = parseSplitPlan(text, problem, why);
  EXPECT_TRUE(plan) << why;
  const std::optional<SplitCost> cost = plan ? costOfSplit(problem, *plan, why) : std::nullopt;
  EXPECT_TRUE(cost) << why;
  return cost ? *cost : SplitCost();
}

TEST(SplitParts, TextIsReadBackAndBadTextIsRefused) {
  const SplitProblem p = UNet(3).p;
  std::vector<std::string> errors;
  const std::optional<SplitProblem> again = parseSplitProblem(printSplitProblem(p), errors);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->steps[0].ways[0].tile, 4);
  std::string why;
  const std::string text = "loose=down0,up0; copy=down0 for=join0; pieces=8 parts=4 keep=y@1";
  const std::optional<SplitPlan> plan = parseSplitPlan(text, p, why);
  ASSERT_TRUE(plan) << why;
  EXPECT_EQ(printSplitPlan(*plan, p), text);
  for (auto [bad, reason] :
       {std::pair<const char *, const char *>{"loose=pool0; pieces=2 keep=y@1", "whose kernel has tiles"},
        {"copy=down0; pieces=2 keep=y@1", "need copy=NAME,... for=NAME,..."},
        {"copy=up0 for=join0; pieces=2 keep=y@1", "before those that read them"},
        {"copy=nobody for=join0; pieces=2 keep=y@1", "'nobody'"},
        {"pieces=2 parts=0 keep=y@1", "number of parts"}}) {
    EXPECT_FALSE(parseSplitPlan(bad, p, why)) << bad;
    EXPECT_THAT(why, HasSubstr(reason));
  }
}

TEST(SplitParts, EachRunIsMadeJustBeforeWhatReadsIt) {
  const SplitProblem p = UNet(1).p;
  std::string why;
  SplitPlan plan = *parseSplitPlan("loose=down0,bottom,up0; pieces=8 parts=4 keep=y@1", p, why);
  const PlannedProblem planned = asPlanned(p, plan);
  const std::optional<StageRows> rows = rowsOfStage(planned.problem, plan, 0, why);
  ASSERT_TRUE(rows) << why;
  EXPECT_THAT(checkSplit(planned.problem, plan.stages[0], *rows), IsEmpty());
  // Of a piece in the middle: 16 rows of the large maps in fours, 8 of the small ones in fours.
  std::vector<std::string> runs;
  for (const PieceRun &run : rows->pieces[4])
    if (const std::string &name = p.steps[size_t(planned.origins[size_t(run.step)])].name;
        name != "join0" && name != "y")
      runs.push_back(absl::StrCat(name, ":", run.rows.rows()));
  const std::vector<std::string> once = {"down0:4", "pool0:2", "down0:4", "pool0:2", "bottom:4",
                                         "back0:4", "up0:4",   "back0:4", "up0:4"};
  std::vector<std::string> twice = once;
  twice.insert(twice.end(), once.begin(), once.end());
  EXPECT_EQ(runs, twice);
}

TEST(SplitParts, TakeLessThanPiecesThatAreFewOrMany) {
  const SplitProblem p = UNet(3).p;
  const SplitCost parts = costOf(p, absl::StrCat(kLoose, "pieces=4 parts=8 keep=y@1"));
  const SplitCost few = costOf(p, absl::StrCat(kLoose, "pieces=4 keep=y@1"));
  const SplitCost many = costOf(p, absl::StrCat(kLoose, "pieces=32 keep=y@1"));
  const SplitCost grid = costOf(p, "pieces=4 parts=8 keep=y@1");
  EXPECT_LT(parts.peak, few.peak * 3 / 4);
  EXPECT_LT(double(parts.ns), 0.75 * double(many.ns)) << "a row of the smallest map takes the time of a tile";
  EXPECT_LT(parts.peak, grid.peak * 3 / 4) << "tiles of the whole wait for four rows at each step";
  EXPECT_GE(parts.ns, grid.ns);
}

TEST(SplitParts, ACopyTakesTheTimeOfItsStepsAndNoRowsWait) {
  const SplitProblem p = UNet(3).p;
  const SplitCost parts = costOf(p, absl::StrCat(kLoose, "pieces=4 parts=8 keep=y@1"));
  const SplitCost copies = costOf(p, absl::StrCat(kLoose, "copy=down0 for=join0; pieces=4 parts=8 keep=y@1"));
  EXPECT_LT(copies.peak, parts.peak - 20 * 4096);
  EXPECT_GT(copies.ns, parts.ns + 99'000'000);
  EXPECT_LT(copies.ns, parts.ns + 120'000'000);
}

TEST(SplitParts, AreProposedAndSound) {
  const SplitProblem p = UNet(3).p;
  SplitSearch own;
  own.kernels = SplitSearch::Kernels::Own;
  const std::vector<PricedSplit> first = proposeSplits(p, own), all = proposeSplits(p);
  ASSERT_FALSE(first.empty());
  ASSERT_FALSE(all.empty());
  EXPECT_LT(all.back().cost.peak, first.back().cost.peak * 2 / 3);
  EXPECT_THAT(all, Contains(::testing::Truly([](const PricedSplit &one) {
                return one.plan.loose.empty() && !one.plan.copied.empty() && one.plan.stages[0].parts > 1;
              })))
      << "with the bits of the whole";
  EXPECT_THAT(all.back().plan.loose, ::testing::SizeIs(7));
  EXPECT_FALSE(all.back().plan.copied.empty());
  bool between = false;
  for (const PricedSplit &one : all) {
    between |= !one.plan.loose.empty();
    EXPECT_EQ(!one.plan.loose.empty(), between) << "plans with other bits come last";
    std::string why;
    EXPECT_EQ(costOfSplit(p, one.plan, why)->peak, one.cost.peak);
    const PlannedProblem planned = asPlanned(p, one.plan);
    for (size_t s = 0; s < one.plan.stages.size(); ++s) {
      const std::optional<StageRows> rows = rowsOfStage(planned.problem, one.plan, s, why);
      ASSERT_TRUE(rows) << why;
      EXPECT_THAT(checkSplit(planned.problem, one.plan.stages[s], *rows), IsEmpty());
    }
  }
}

TEST(SplitParts, WithoutTilesTakeNoMoreTimeAndLessThanPieces) {
  const SplitProblem p = UNet(3, 1).p;
  std::string why;
  const int64_t whole = costOfSplit(p, {}, why)->ns;
  int64_t pieces = INT64_MAX, parts = INT64_MAX;
  for (int64_t count = 2; count <= kRows; count *= 2)
    pieces = std::min(pieces, costOf(p, absl::StrCat("pieces=", count, " keep=y@1")).peak);
  SplitSearch own;
  own.kernels = SplitSearch::Kernels::Own;
  for (const PricedSplit &one : proposeSplits(p, own)) {
    EXPECT_THAT(one.plan.loose, IsEmpty());
    if (one.cost.ns < whole * 101 / 100 && one.plan.copied.empty() && one.plan.stages.size() == 1)
      parts = std::min(parts, one.cost.peak);
  }
  EXPECT_LT(parts, pieces * 3 / 4);
}

// Two of them, one after the other, whose results are added.
SplitProblem twinsOf(const SplitProblem &one) {
  SplitProblem both = one;
  both.values.back().output = false;
  const int made = int(one.values.size()) - 1;
  for (size_t v = 1; v < one.values.size(); ++v) {
    both.values.push_back(both.values[v]);
    both.values.back().name += "#2";
  }
  for (SplitStep step : one.steps) {
    for (int &read : step.reads)
      read += read > 0 ? made : 0;
    step.write += made, step.name += "#2";
    both.steps.push_back(std::move(step));
  }
  SplitStep sum;
  sum.name = "sum", sum.ns = 1000, sum.reads = {made, 2 * made}, sum.write = 2 * made + 1;
  both.steps.push_back(sum);
  both.values.push_back({"sum", {1, kRows, 64}, kRows * 64});
  both.values.back().output = true;
  return both;
}

TEST(SplitParts, OfTwinsTheSameStepsAreLoose) {
  const SplitProblem p = twinsOf(UNet(2).p);
  const int steps = int(p.steps.size()) / 2;
  bool any = false;
  for (const PricedSplit &one : proposeSplitsOfTwins(p, 2)) {
    EXPECT_THAT(one.plan.copied, IsEmpty());
    any |= !one.plan.loose.empty();
    for (int step : one.plan.loose)
      EXPECT_THAT(one.plan.loose, Contains(step < steps ? step + steps : step - steps));
    std::string why;
    const PlannedProblem planned = asPlanned(p, one.plan);
    for (size_t s = 0; s < one.plan.stages.size(); ++s) {
      const std::optional<StageRows> rows = rowsOfStage(planned.problem, one.plan, s, why);
      ASSERT_TRUE(rows) << why;
      EXPECT_THAT(checkSplit(planned.problem, one.plan.stages[s], *rows), IsEmpty());
    }
  }
  EXPECT_TRUE(any);
}

} // namespace
