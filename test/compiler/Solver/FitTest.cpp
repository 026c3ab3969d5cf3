//===- FitTest.cpp - Budgets: accepted or refused, monotone, deterministic ---------------------===//
#include "compiler/Solver/Fit.h"
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/Labels.h"
#include "compiler/Solver/Order.h"
#include "compiler/Solver/ProblemText.h"
#include "test/compiler/Solver/RandomGraph.h"
#include "test/compiler/Solver/RandomProblem.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <numeric>

namespace plim::solver {
namespace {

constexpr int64_t kMiB = 1 << 20;

FitOptions quick() {
  FitOptions options;
  options.orderRounds = 40, options.packPasses = 24, options.exactNodes = 500;
  return options;
}

// x -> attention (naive 64 MiB of scores, or flash 1 MiB but slower) -> y, twice.
Problem attentionModel() {
  Problem p;
  p.buffers = {{.name = "x", .bytes = 8 * kMiB, .kind = BufferKind::Input},
               {.name = "h", .source = "/layer0", .bytes = 8 * kMiB},
               {.name = "y", .source = "/layer1", .bytes = 8 * kMiB, .kind = BufferKind::Output}};
  for (int k = 0; k < 2; ++k) {
    Step s{.name = "attention" + std::to_string(k),
           .source = "/layer" + std::to_string(k),
           .reads = {k},
           .writes = {k + 1}};
    s.candidates = {{.kernel = "attention.naive", .label = "attention=naive", .ns = 1000, .sharedBytes = 64 * kMiB},
                    {.kernel = "attention.flash", .label = "attention=flash", .ns = 1500, .sharedBytes = kMiB}};
    p.steps.push_back(s);
  }
  return p;
}

TEST(Fit, TakesTheFastestCandidatesThatFit) {
  Problem p = attentionModel();
  FitResult all = fitBudget(p);
  ASSERT_TRUE(all.solution);
  EXPECT_EQ(all.solution->ns, 2000);
  EXPECT_EQ(all.solution->peak[0], 88 * kMiB);
  p.tiers[0].capacity = 30 * kMiB;
  FitResult tight = fitBudget(p);
  ASSERT_TRUE(tight.solution);
  EXPECT_EQ(tight.solution->ns, 3000);
  EXPECT_EQ(tight.solution->peak[0], 25 * kMiB);
}

TEST(Fit, RefusalSaysNeedHaveWhereAndWhatAlternativesWouldSave) {
  Problem p = attentionModel();
  for (Step &s : p.steps)
    s.candidates[1].barredBy = "--attention=naive";
  p.tiers[0].capacity = 40 * kMiB;
  FitResult result = fitBudget(p);
  ASSERT_TRUE(result.refusal);
  const Refusal &r = *result.refusal;
  EXPECT_EQ(r.need, 88 * kMiB);
  EXPECT_EQ(r.have, 40 * kMiB);
  EXPECT_EQ(r.peakStep, "attention0");
  ASSERT_GE(r.live.size(), 3u);
  EXPECT_EQ(r.live[0].name, "workspace of attention.naive");
  EXPECT_EQ(r.live[0].bytes, 64 * kMiB);
  EXPECT_EQ(std::accumulate(r.live.begin(), r.live.end(), int64_t(0),
                            [](int64_t sum, const LiveBuffer &b) { return sum + b.bytes; }),
            r.need);
  ASSERT_EQ(r.alternatives.size(), 2u);
  EXPECT_EQ(r.alternatives[0].label, "attention=flash");
  EXPECT_EQ(r.alternatives[0].need, 25 * kMiB);
  EXPECT_EQ(r.alternatives[0].barredBy, "--attention=naive");
  EXPECT_THAT(r.message(), testing::HasSubstr("need 92274688 bytes, have 41943040"));
  EXPECT_THAT(r.message(), testing::HasSubstr("attention=flash needs 26214400 bytes: saves 66060288 (forbidden by"));
  // x and y are the caller's, h is alive with one of them, and naive attention is all there is.
  EXPECT_EQ(r.bound, 88 * kMiB);
  EXPECT_TRUE(r.proved);
  EXPECT_THAT(r.message(), testing::HasSubstr("proved: no plan fits: no plan needs less than 92274688 bytes of ram"));
}

TEST(Fit, RefusalPricesLabelsThatAreAllowedOnlyWhereProved) {
  Problem p = attentionModel();
  p.tiers[0].capacity = 20 * kMiB;
  const FitResult result = fitBudget(p);
  ASSERT_TRUE(result.refusal);
  EXPECT_EQ(result.refusal->need, 25 * kMiB);
  const std::string message = result.refusal->message();
  EXPECT_THAT(message, testing::HasSubstr("attention=naive needs at least 92274688 bytes: costs 66060288\n"));
  EXPECT_THAT(message, testing::Not(testing::HasSubstr("attention=flash needs")));
}

TEST(Fit, NoLabelAloneNeedsLessThanAllOfThem) {
  FitOptions options = quick();
  options.alternatives = false, options.jointRounds = options.jointRescues = 8, options.rungs = 4;
  int plans = 0, lower = 0;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    Problem p = seed % 2 ? randomProblem(seed, {.steps = 14, .labels = true})
                         : randomGraph(kGraphFamilies[seed / 2 % std::size(kGraphFamilies)], 10, seed);
    p.levers.recompute = true, p.levers.spill = seed % 4 == 0;
    Ladder ladder(p, options);
    const int64_t need = ladder.smallest().peak[0];
    for (const Solution &plan : smallestByLabel(p, options)) {
      EXPECT_THAT(check::checkSolution(p, plan, check::IgnoreCapacity::Yes), testing::IsEmpty()) << "seed " << seed;
      EXPECT_LE(need, plan.peak[0]) << "seed " << seed;
      // And who has that much gets no slower a plan.
      const Solution *given = ladder.fastest(plan.peak);
      EXPECT_TRUE(given && given->ns <= plan.ns) << "seed " << seed;
      ++plans, lower += plan.peak[0] == need;
    }
  }
  EXPECT_GT(plans, 20);
  EXPECT_GT(lower, 0);
}

TEST(Fit, PiecesOfAConcatAreWrittenIntoItsResult) {
  Problem p;
  p.buffers = {{.name = "x", .bytes = 1024, .kind = BufferKind::Input},
               {.name = "a", .bytes = 640},
               {.name = "b", .bytes = 1280},
               {.name = "c", .bytes = 1920},
               {.name = "y", .bytes = 64, .kind = BufferKind::Output}};
  auto step = [&](const char *name, std::vector<int> reads, std::vector<int> writes) {
    p.steps.push_back(
        {.name = name, .reads = std::move(reads), .writes = std::move(writes), .candidates = {{.ns = 100}}});
  };
  step("a", {0}, {1}), step("b", {0}, {2}), step("concat", {1, 2}, {3}), step("sum", {3}, {4});
  p.aliases = {{AliasKind::Into, 1, 3, 2, 0, 0, 0, 30}, {AliasKind::Into, 2, 3, 2, 640, 0, 0, 70}};
  ASSERT_THAT(validate(p), testing::IsEmpty());
  FitResult result = fitBudget(p);
  ASSERT_TRUE(result.solution);
  EXPECT_EQ(result.solution->arena[0], 1920);
  EXPECT_EQ(result.solution->ns, 300);
  EXPECT_EQ(result.solution->actions[2].kind, ActionKind::Elided);
  p.levers.alias = false;
  EXPECT_EQ(fitBudget(p).solution->arena[0], 3840);
}

TEST(Fit, AnOperandReadAgainIsNotOverwritten) {
  Problem p;
  p.buffers = {{.name = "x", .bytes = 640, .kind = BufferKind::Input},
               {.name = "a", .bytes = 640},
               {.name = "b", .bytes = 640},
               {.name = "y", .bytes = 640, .kind = BufferKind::Output}};
  auto step = [&](std::vector<int> reads, int write) {
    p.steps.push_back({.name = "s", .reads = std::move(reads), .writes = {write}, .candidates = {{.ns = 1}}});
  };
  step({0}, 1), step({1}, 2), step({1, 2}, 3);
  p.aliases = {{AliasKind::InPlace, 2, 1, 1}, {AliasKind::InPlace, 3, 2, 2}};
  FitResult result = fitBudget(p);
  ASSERT_TRUE(result.solution);
  // b may not take a's bytes, which the last step reads; but b may be written into the caller's y beforehand.
  EXPECT_EQ(result.solution->arena[0], 640);
}

TEST(Fit, IsMonotoneOverFortyBudgetsAndExactAboutTheSmallest) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Problem p = randomProblem(seed, {.steps = 6 + int(seed % 25)});
    ASSERT_THAT(validate(p), testing::IsEmpty()) << "seed " << seed;
    FitOptions options = quick();
    options.alternatives = false;
    Ladder ladder(p, options);
    const int64_t need = ladder.smallest().peak[0];
    std::array<int64_t, kTierCount> capacity;
    capacity.fill(kUnbounded);
    const int64_t most = ladder.fastest(capacity)->peak[0];
    int64_t lastNs = INT64_MAX;
    for (int k = 0; k < 40; ++k) {
      capacity[0] = need * 9 / 10 + (most + 64 - need * 9 / 10) * k / 39;
      const Solution *plan = ladder.fastest(capacity);
      EXPECT_EQ(plan != nullptr, capacity[0] >= need) << "seed " << seed;
      if (!plan)
        continue;
      EXPECT_LE(plan->peak[0], capacity[0]);
      EXPECT_LE(plan->ns, lastNs) << "seed " << seed;
      lastNs = plan->ns;
      p.tiers[0].capacity = capacity[0];
      EXPECT_THAT(check::checkSolution(p, *plan), testing::IsEmpty()) << "seed " << seed;
    }
    capacity[0] = need;
    EXPECT_TRUE(ladder.fastest(capacity));
    capacity[0] = need - 1;
    EXPECT_FALSE(ladder.fastest(capacity));
    p.tiers[0].capacity = need - 1;
    FitResult refused = fitBudget(p, options);
    ASSERT_TRUE(refused.refusal);
    EXPECT_EQ(refused.refusal->need, need);
  }
}

TEST(Fit, GivesEqualPlansForEqualProblems) {
  for (uint64_t seed = 100; seed < 110; ++seed) {
    Problem p = randomProblem(seed, {.steps = 20});
    EXPECT_EQ(printSolution(*fitBudget(p, quick()).solution), printSolution(*fitBudget(p, quick()).solution));
  }
}

TEST(Fit, LeversOnlyHelp) {
  // Not monotone lever by lever in general, as each is a search; but all levers never need more than none.
  for (uint64_t seed = 200; seed < 240; ++seed) {
    Problem p = randomProblem(seed, {.steps = 16});
    FitOptions options = quick();
    options.alternatives = false;
    const int64_t all = Ladder(p, options).smallest().peak[0];
    p.levers = {.order = false, .choose = false, .alias = false};
    EXPECT_LE(all, Ladder(p, options).smallest().peak[0]) << "seed " << seed;
  }
}

TEST(Fit, SaysWhatItCannotPlan) {
  Problem p = attentionModel();
  p.steps[0].candidates[1].tier = Tier::Gpu;
  EXPECT_THAT(unplannable(p), testing::ElementsAre("step 'attention0': need candidates in tier ram, have "
                                                   "'attention.flash' in tier gpu"));
}

// Live bytes step by step with sets, as the accounting is defined.
int64_t plainPeak(const Problem &p, const std::vector<int> &order, const std::vector<int> &candidates) {
  std::vector<int> readsLeft(p.buffers.size(), 0);
  for (const Step &s : p.steps)
    for (int b : s.reads)
      ++readsLeft[b];
  int64_t live = 0, peak = 0;
  auto bytes = [&](int b) {
    return p.buffers[b].kind == BufferKind::Transient ? alignUp(p.buffers[b].bytes, p.buffers[b].align) : 0;
  };
  for (int s : order) {
    for (int b : p.steps[s].writes)
      live += bytes(b);
    peak = std::max(peak, live + alignUp(p.workspace(p.steps[s].candidates[candidates[s]]), kAlign));
    for (int b : p.steps[s].reads)
      live -= --readsLeft[b] == 0 ? bytes(b) : 0;
    for (int b : p.steps[s].writes)
      live -= readsLeft[b] == 0 ? bytes(b) : 0;
  }
  return peak;
}

TEST(Simulate, EqualsAPlainCountWithoutAliases) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Problem p = randomProblem(seed, {.steps = 3 + int(seed % 30), .aliases = false, .groups = false});
    Context context(p);
    Draft draft = fastestDraft(p);
    EXPECT_EQ(simulate(context, draft, layOut(context, draft)).peak[0], plainPeak(p, draft.order, draft.candidates));
  }
}

TEST(Order, IsNeverWorseAndKeepsDependencies) {
  int better = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Problem p = randomProblem(seed, {.steps = 3 + int(seed % 40), .aliases = seed % 2 == 0, .groups = false});
    Context context(p);
    Draft draft = fastestDraft(p);
    const int64_t before = simulate(context, draft, layOut(context, draft)).peak[0];
    orderForMemory(context, draft, 60);
    const int64_t after = simulate(context, draft, layOut(context, draft)).peak[0];
    EXPECT_LE(after, before) << "seed " << seed;
    better += after < before;
    std::vector<int> position(p.steps.size(), -1);
    for (size_t k = 0; k < draft.order.size(); ++k)
      position[draft.order[k]] = int(k);
    for (size_t s = 0; s < p.steps.size(); ++s) {
      ASSERT_GE(position[s], 0);
      for (int b : context.deps.before[s])
        EXPECT_LT(position[b], position[s]);
    }
  }
  EXPECT_GT(better, 50);
}

TEST(Order, FindsTheOptimumOfMostSmallProblems) {
  int optimal = 0, rounds = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Problem p = randomProblem(seed, {.steps = 6, .aliases = false, .groups = false, .states = false});
    Context context(p);
    Draft draft = fastestDraft(p);
    int64_t best = INT64_MAX;
    std::vector<int> order;
    std::vector<char> done(p.steps.size(), 0);
    auto enumerate = [&](auto &self) -> void {
      if (order.size() == p.steps.size()) {
        best = std::min(best, plainPeak(p, order, draft.candidates));
        return;
      }
      for (int s = 0; s < int(p.steps.size()); ++s) {
        bool ready = !done[s];
        for (int b : context.deps.before[s])
          ready = ready && done[b];
        if (!ready)
          continue;
        done[s] = 1, order.push_back(s);
        self(self);
        done[s] = 0, order.pop_back();
      }
    };
    enumerate(enumerate);
    orderForMemory(context, draft, 200);
    const int64_t found = simulate(context, draft, layOut(context, draft)).peak[0];
    EXPECT_GE(found, best);
    optimal += found == best, ++rounds;
  }
  EXPECT_GE(optimal, rounds * 9 / 10);
}

TEST(Fit, ManyStepsTakeLessWorkspaceAtOnceWhereTheBudgetLiesBetween) {
  Problem p;
  p.levers = {.order = false};
  p.buffers = {{.name = "x", .bytes = 64, .kind = BufferKind::Input}};
  for (int s = 0; s < 200; ++s) {
    p.buffers.push_back({.name = "v" + std::to_string(s), .bytes = 64});
    Step step{.name = "s" + std::to_string(s), .reads = {s}, .writes = {s + 1}};
    for (auto [bytes, ns] : {std::pair<int64_t, int64_t>{64000, 100}, {16000, 110}, {640, 200}})
      step.candidates.push_back({.kernel = "k", .ns = ns, .sharedBytes = bytes});
    p.steps.push_back(std::move(step));
  }
  p.buffers.back().kind = BufferKind::Output;
  p.tiers[0].capacity = 20000;
  FitOptions options;
  options.tradeEvaluations = 10; // of 200 steps that would each be traded
  const FitResult fit = fitBudget(p, options);
  ASSERT_TRUE(fit.solution);
  EXPECT_EQ(fit.solution->ns, 200 * 110);
}

} // namespace
} // namespace plim::solver
