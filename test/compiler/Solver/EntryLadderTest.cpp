//===- EntryLadderTest.cpp - Programs that share constants under one budget -------------------===//
#include "compiler/Solver/Entries/EntryLadder.h"
#include "absl/strings/str_cat.h"
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/ProblemText.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <set>

namespace plim::solver {
namespace {

constexpr int64_t kKiB = 1024, kMiB = 1024 * kKiB;

FitOptions quick() {
  FitOptions options;
  options.orderRounds = 40, options.tradeEvaluations = 500, options.packPasses = 24, options.exactNodes = 500;
  options.jointRounds = 30, options.jointRescues = 30, options.alternatives = false;
  return options;
}

int add(Problem &p, Buffer buffer) {
  p.buffers.push_back(std::move(buffer));
  return int(p.buffers.size()) - 1;
}

// Dense layers over rows of 64 KiB, with a state that the last layer reads and that is replaced then. Layer i has
// constant w<i>, every third of them twice as large.
Problem stack(int layers, int64_t rows, const std::string &own = "") {
  Problem p;
  p.granule = 4096;
  p.levers = {.recompute = true, .stream = true, .move = true};
  p.fixed = {{"tables", Tier::Ram, 8192}};
  p.links = {{Tier::Ssd, Tier::Ram, 1'200'000'000, 60'000}, {Tier::Ram, Tier::Ssd, 900'000'000, 80'000}};
  const int64_t bytes = rows * 64 * kKiB;
  int h = add(p, {.name = "x", .bytes = bytes, .kind = BufferKind::Input});
  const int state = add(p, {.name = "s", .bytes = 128 * kKiB, .kind = BufferKind::State});
  const int bias = add(p, {.name = "bias", .bytes = 4096, .kind = BufferKind::Constant, .movable = false});
  auto step = [&](std::string name, std::vector<int> reads, std::vector<int> writes, int64_t ns) {
    p.steps.push_back({.name = std::move(name), .reads = std::move(reads), .writes = std::move(writes)});
    p.steps.back().candidates = {{.kernel = "k", .ns = ns}};
  };
  std::vector<int> skips;
  for (int i = 0; i < layers; ++i) {
    const int w = add(p, {.name = absl::StrCat("w", i), .bytes = (i % 3 ? 1 : 2) * kMiB, .kind = BufferKind::Constant});
    const int next = add(p, {.name = absl::StrCat("h", i), .bytes = bytes});
    step(absl::StrCat("layer", i), {h, w, bias}, {next}, 200'000 * rows);
    skips.push_back(h = next);
  }
  if (!own.empty()) {
    const int w = add(p, {.name = own, .bytes = 3 * kMiB, .kind = BufferKind::Constant});
    const int next = add(p, {.name = own + ".h", .bytes = bytes});
    step(own, {h, w}, {next}, 100'000 * rows);
    h = next;
  }
  const int y = add(p, {.name = "y", .bytes = bytes, .kind = BufferKind::Output});
  step("head", {h, state, skips[0]}, {y}, 50'000);
  step("keep", {h, state}, {state}, 20'000);
  EXPECT_THAT(validate(p), testing::IsEmpty());
  return p;
}

EntryProblems twoEntries() {
  EntryProblems entries;
  entries.programs = {stack(8, 1), stack(8, 24, "tail")};
  entries.otherBytes = 20'000;
  return entries;
}

std::set<std::string> streamed(const Problem &p, const Solution &plan) {
  std::set<std::string> names;
  for (const Place &place : plan.places)
    if (plan.storages[place.storage].region == Region::File)
      names.insert(p.buffers[place.buffer].name);
  return names;
}

// Bytes of the constants that some program has in memory.
int64_t resident(const EntryProblems &entries, const EntryPlan &all) {
  std::map<std::string, int64_t> kept;
  for (size_t p = 0; p < all.plans.size(); ++p)
    for (const Place &place : all.plans[p].places)
      if (all.plans[p].storages[place.storage].region == Region::Constant) {
        const Buffer &b = all.problems[p].buffers[place.buffer];
        kept[b.name] = alignUp(b.bytes, kAlign);
      }
  int64_t sum = entries.otherBytes;
  for (const auto &[name, bytes] : kept)
    sum += bytes;
  return alignUp(sum, 4096);
}

TEST(EntryLadder, IsMonotoneAndExactAboutTheSmallest) {
  const EntryProblems entries = twoEntries();
  EntryLadder ladder(entries, quick());
  const int64_t need = ladder.smallest()->need;
  EXPECT_TRUE(ladder.fastest(need));
  EXPECT_FALSE(ladder.fastest(need - 1));
  const EntryPlan *top = ladder.fastest(kUnbounded);
  ASSERT_TRUE(top);
  EXPECT_LT(need, top->need / 2);
  int64_t before = INT64_MAX;
  std::set<size_t> counts; // of streamed constants
  for (int k = 0; k <= 30; ++k) {
    const int64_t ram = need * 9 / 10 + (top->need - need * 9 / 10) * k / 30;
    const EntryPlan *plan = ladder.fastest(ram);
    ASSERT_EQ(plan != nullptr, ram >= need) << ram;
    if (!plan)
      continue;
    EXPECT_LE(plan->need, ram);
    EXPECT_LE(plan->ns, before) << ram;
    before = plan->ns;
    int64_t ns = 0, kept = 0;
    for (size_t p = 0; p < plan->plans.size(); ++p) {
      const Solution &s = plan->plans[p];
      EXPECT_THAT(check::checkSolution(plan->problems[p], s, check::IgnoreCapacity::Yes), testing::IsEmpty());
      EXPECT_LE(s.peak[0], plan->need);
      ns += s.ns;
      // Whatever is in memory for any program counts for this one.
      for (const FixedCost &f : plan->problems[p].fixed)
        kept += f.name == "constants of other programs" ? f.bytes : 0;
      kept += s.constants[0];
      EXPECT_EQ(kept, resident(entries, *plan)) << ram;
      kept = 0;
    }
    EXPECT_EQ(plan->ns, ns);
    counts.insert(streamed(plan->problems[1], plan->plans[1]).size());
  }
  EXPECT_EQ(before, top->ns);
  EXPECT_GT(counts.size(), 3u) << "sets between none and all are taken";
}

TEST(EntryLadder, KeepsAConstantForAllProgramsOrForNone) {
  EntryLadder ladder(twoEntries(), quick());
  const int64_t need = ladder.smallest()->need, most = ladder.fastest(kUnbounded)->need;
  for (int k = 0; k < 6; ++k) {
    const EntryPlan *plan = ladder.fastest(need + (most - need) * k / 6);
    ASSERT_TRUE(plan);
    std::set<std::string> one = streamed(plan->problems[0], plan->plans[0]);
    std::set<std::string> many = streamed(plan->problems[1], plan->plans[1]);
    many.erase("tail");
    EXPECT_EQ(one, many);
  }
}

TEST(EntryLadder, NeedsLessThanTheProgramsThatKeepWhatTheyLike) {
  // Each program alone keeps at its smallest what it holds anyway; together that would be in memory twice over.
  EntryProblems entries = twoEntries();
  EntryLadder ladder(entries, quick());
  const EntryPlan *plan = ladder.smallest();
  int64_t largest = 0;
  for (size_t p = 0; p < plan->plans.size(); ++p)
    largest = std::max(largest, plan->plans[p].arena[0]);
  EXPECT_EQ(streamed(plan->problems[0], plan->plans[0]).size(), 8u);
  EXPECT_EQ(streamed(plan->problems[1], plan->plans[1]).size(), 9u);
  EXPECT_LT(largest, 10 * kMiB);
}

TEST(EntryLadder, CountsTheTablesOfEachPlan) {
  EntryProblems entries = twoEntries();
  auto tables = [](int p, const Solution &plan, int streamed) {
    int64_t copies = 0;
    for (const Action &a : plan.actions)
      copies += a.kind == ActionKind::Copy;
    return int64_t(16384) * (p + 1) + 4096 * copies + 64 * streamed;
  };
  entries.tables = tables;
  EntryLadder ladder(entries, quick());
  const int64_t need = ladder.smallest()->need;
  EXPECT_FALSE(ladder.fastest(need - 1));
  for (int k = 0; k < 5; ++k) {
    const int64_t ram = need + 2 * kMiB * k;
    const EntryPlan *plan = ladder.fastest(ram);
    ASSERT_TRUE(plan);
    for (int p = 0; p < 2; ++p) {
      std::set<std::string> all = streamed(plan->problems[0], plan->plans[0]);
      all.merge(streamed(plan->problems[1], plan->plans[1]));
      EXPECT_EQ(plan->problems[p].fixed.front().bytes, tables(p, plan->plans[p], int(all.size())));
      EXPECT_LE(plan->plans[p].peak[0], ram);
    }
  }
}

TEST(EntryLadder, GivesPlansThatDoNotDependOnWhatWasAskedBefore) {
  EntryLadder upwards(twoEntries(), quick()), downwards(twoEntries(), quick());
  const int64_t most = upwards.fastest(kUnbounded)->need;
  std::vector<std::string> texts;
  auto text = [&](EntryLadder &ladder, int k) {
    std::string all;
    if (const EntryPlan *plan = ladder.fastest(most * k / 6))
      for (const Solution &s : plan->plans)
        all += printSolution(s);
    return all;
  };
  for (int k = 1; k <= 6; ++k)
    texts.push_back(text(upwards, k));
  for (int k = 6; k >= 1; --k)
    EXPECT_EQ(text(downwards, k), texts[size_t(k - 1)]) << k;
}

TEST(EntryLadder, WithoutConstantsToStreamEachProgramHasItsOwnLadder) {
  EntryProblems entries = twoEntries();
  for (Problem &p : entries.programs)
    for (Buffer &b : p.buffers)
      b.movable = b.movable && b.kind != BufferKind::Constant;
  EntryLadder ladder(entries, quick());
  const EntryPlan *plan = ladder.smallest();
  EXPECT_THAT(streamed(plan->problems[1], plan->plans[1]), testing::IsEmpty());
  EXPECT_TRUE(ladder.fastest(plan->need));
  EXPECT_FALSE(ladder.fastest(plan->need - 1));
}

} // namespace
} // namespace plim::solver
