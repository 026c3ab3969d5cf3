//===- LadderTest.cpp - Budgets over all levers: monotone, exact about the smallest, lazy ------===//
#include "compiler/Solver/Ladder.h"
#include "absl/strings/str_replace.h"
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/Fit.h"
#include "compiler/Solver/Generate/Generate.h"
#include "compiler/Solver/JointRungs.h"
#include "compiler/Solver/ProblemText.h"
#include "test/compiler/Solver/RandomGraph.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cmath>

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

TEST(Ladder, AnAliasThatNoKernelCanFollowIsNoHopeForAFasterPlan) {
  // h is every other row of y, and would save a copy there if the step that makes it could leave gaps.
  std::vector<std::string> errors;
  const std::string text = R"(problem 1
buffer x kind=input bytes=512
buffer h bytes=512
buffer y kind=output bytes=1024
step make reads=0 writes=1
  candidate k ns=10 flags=FLAGS
step concat reads=0,1 writes=2
  candidate concat ns=20
alias into buffer=1 base=2 step=1 offset=64 run=64 stride=128 saves=5
)";
  for (const char *flags : {"inplace", "subrange"}) {
    std::optional<Problem> p = parseProblem(absl::StrReplaceAll(text, {{"FLAGS", flags}}), errors);
    ASSERT_TRUE(p) << errors.front();
    FitOptions options = quick();
    std::vector<std::string> lines;
    options.progress = [&](const std::string &line) { lines.push_back(line); };
    Ladder ladder(*p, options);
    EXPECT_EQ(ladder.fastest(budget(kUnbounded, 0))->ns, std::string(flags) == "subrange" ? 25 : 30);
    EXPECT_THAT(lines, testing::IsEmpty()) << flags;
  }
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

// Convolutions whose maps shrink while their weights grow; the faster way to run one takes twice its result as
// workspace.
Problem convolutions() {
  Problem p;
  p.granule = 4096;
  p.levers = {.recompute = true, .stream = true, .move = true};
  p.links = {{Tier::Ssd, Tier::Ram, 1'200'000'000, 60'000}, {Tier::Ram, Tier::Ssd, 900'000'000, 80'000}};
  auto add = [&](std::string name, int64_t bytes, BufferKind kind) {
    p.buffers.push_back({.name = std::move(name), .bytes = bytes, .kind = kind});
    return int(p.buffers.size()) - 1;
  };
  int map = add("x", 600'000, BufferKind::Input);
  for (int block = 0; block < 16; ++block) {
    const int64_t scale = int64_t(1) << (block / 4), skip = map;
    for (int k = 0; k < 2; ++k) {
      const int weight = add("w", scale == 1 ? 147'456 : 294'912 * scale, BufferKind::Constant);
      const int next = add("h", 802'816 / scale, BufferKind::Transient);
      Step step{.name = "conv", .reads = {map, weight}, .writes = {next}};
      if (k == 1 && block % 4)
        step.reads.push_back(int(skip));
      step.candidates = {{.kernel = "fast", .ns = 400'000, .sharedBytes = 1'605'632 / scale},
                         {.kernel = "lean", .ns = 700'000}};
      p.steps.push_back(std::move(step));
      map = next;
    }
  }
  const int y = add("y", 4096, BufferKind::Output);
  p.steps.push_back({.name = "head", .reads = {map}, .writes = {y}, .candidates = {{.kernel = "k", .ns = 10'000}}});
  return p;
}

TEST(Ladder, FindsAPlanForEveryBudgetOfTheGridWhereConstantsAreStreamed) {
  // What the layout takes beyond the schedule's count is not made up for by less of the arena: constants take its
  // place.
  const Problem p = convolutions();
  ASSERT_THAT(validate(p), testing::IsEmpty());
  const Context context(p);
  FitOptions options = quick();
  DraftRungs drafts(context, options);
  const JointRungs joint(context, drafts.leanest(), options);
  const int64_t need = joint.smallest(budget(kUnbounded, 0))->peak[0], most = drafts.first().peak[0];
  EXPECT_LT(need, most / 3);
  for (int k = 1; k < 24; ++k) {
    const int64_t ram = int64_t(double(need) * std::pow(double(most) / double(need), k / 24.0));
    EXPECT_TRUE(joint.within(budget(ram, 0))) << k << ": " << ram << " bytes";
  }
}

} // namespace
} // namespace plim::solver
