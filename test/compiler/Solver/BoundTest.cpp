//===- BoundTest.cpp - The proved bound is never above what is possible, and often equal to it -----===//
#include "compiler/Solver/Bound/Bound.h"
#include "compiler/Solver/Fit.h"
#include "test/compiler/Solver/ExhaustivePlans.h"
#include "test/compiler/Solver/RandomProblem.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cstdio>

namespace plim::solver {
namespace {

using Argument = LeastBytes::Argument;

FitOptions quick() {
  FitOptions options;
  options.orderRounds = 40, options.packPasses = 24, options.exactNodes = 500, options.alternatives = false;
  return options;
}

struct Builder {
  Problem p;
  int buffer(BufferKind kind, int64_t bytes) {
    p.buffers.push_back({.name = "b" + std::to_string(p.buffers.size()), .bytes = bytes, .kind = kind});
    return int(p.buffers.size()) - 1;
  }
  void step(std::vector<int> reads, std::vector<int> writes, int64_t workspace = 0) {
    p.steps.push_back({.name = "s" + std::to_string(p.steps.size()),
                       .reads = std::move(reads),
                       .writes = std::move(writes),
                       .candidates = {{.ns = 1, .sharedBytes = workspace}}});
  }
};

// x -> a (large workspace) and x -> b (large workspace), then y = a + b: whichever is made last meets the other.
Builder twoBranches() {
  Builder g;
  const int x = g.buffer(BufferKind::Input, 64), a = g.buffer(BufferKind::Transient, 640),
            b = g.buffer(BufferKind::Transient, 1280), y = g.buffer(BufferKind::Output, 64);
  g.step({x}, {a}, 6400), g.step({x}, {b}, 12800), g.step({a, b}, {y});
  return g;
}

TEST(Bound, OperandsOfAStepCannotComeTogetherInLess) {
  Problem p = twoBranches().p;
  p.levers.recompute = true;
  const LeastBytes least = leastBytes(p);
  // b first alone: 12800 + 1280, then a: 1280 + 640 + 6400. In the other order a would be there, too.
  EXPECT_EQ(least.bytes, 64 + 64 + 12800 + 1280);
  EXPECT_EQ(least.argument, Argument::WorkingSet);
  p.steps[0].candidates[0].sharedBytes = 12800;
  const LeastBytes both = leastBytes(p);
  EXPECT_EQ(both.bytes, 64 + 64 + 12800 + 1280 + 640);
  EXPECT_EQ(both.argument, Argument::Backward);
  EXPECT_EQ(both.step, 2);
  EXPECT_THAT(both.buffers, testing::ElementsAre(2, 1));
  EXPECT_TRUE(both.covered.recompute);
  EXPECT_FALSE(both.covered.spill);
  EXPECT_EQ(both.bytes, exhaustiveLeast(p));
  EXPECT_EQ(
      explain(p, both),
      "no plan needs less than 14848 bytes of ram: the operands of step 's2' come together in no "
      "smaller way than over step 's1'; proved for any order, choose, alias, recompute, move; in pieces at least 128");
}

TEST(Bound, WithSpillOnlyWhatOneStepTouchesCounts) {
  Problem p = twoBranches().p;
  p.steps[0].candidates[0].sharedBytes = 12800;
  p.levers.spill = true;
  const LeastBytes least = leastBytes(p);
  EXPECT_EQ(least.bytes, 64 + 64 + 12800 + 1280);
  EXPECT_TRUE(least.covered.spill);
}

TEST(Bound, WhatIsMadeOnceLivesToItsLastReader) {
  // A skip connection that could be made again from x at the end, but may not.
  Builder g;
  const int x = g.buffer(BufferKind::Input, 64), skip = g.buffer(BufferKind::Transient, 6400),
            a = g.buffer(BufferKind::Transient, 640), b = g.buffer(BufferKind::Transient, 64),
            y = g.buffer(BufferKind::Output, 64);
  g.step({x}, {skip}), g.step({skip}, {a}), g.step({a}, {b}, 12800), g.step({skip, b}, {y});
  Problem p = g.p;
  const LeastBytes once = leastBytes(p);
  EXPECT_EQ(once.argument, Argument::Cut);
  EXPECT_EQ(once.step, 2);
  EXPECT_EQ(once.bytes, 64 + 64 + 6400 + 640 + 64 + 12800);
  EXPECT_THAT(once.buffers, testing::ElementsAre(skip, a, b));
  EXPECT_FALSE(once.covered.recompute);
  p.levers.recompute = true;
  EXPECT_EQ(leastBytes(p).bytes, 64 + 64 + 640 + 64 + 12800);
}

TEST(Bound, AFixedOrderCountsAsGiven) {
  // Two chains side by side; the given order makes both large values before it uses either.
  Builder g;
  const int x = g.buffer(BufferKind::Input, 64);
  const int a = g.buffer(BufferKind::Transient, 6400), b = g.buffer(BufferKind::Transient, 6400),
            c = g.buffer(BufferKind::Transient, 64), d = g.buffer(BufferKind::Transient, 64),
            y = g.buffer(BufferKind::Output, 64);
  g.step({x}, {a}), g.step({x}, {b}), g.step({a}, {c}), g.step({b}, {d}), g.step({c, d}, {y});
  EXPECT_EQ(leastBytes(g.p).bytes, 64 + 64 + 6400 + 2 * 64);
  g.p.levers.order = false;
  const LeastBytes given = leastBytes(g.p);
  EXPECT_EQ(given.bytes, 64 + 64 + 2 * 6400 + 64);
  EXPECT_FALSE(given.covered.order);
}

TEST(Bound, StreamedConstantsCountOnlyWhereTheyAreUsedAndInPiecesWhereAStepIsCut) {
  Builder g;
  const int x = g.buffer(BufferKind::Input, 64), w0 = g.buffer(BufferKind::Constant, 64000),
            w1 = g.buffer(BufferKind::Constant, 32000), h = g.buffer(BufferKind::Transient, 640),
            y = g.buffer(BufferKind::Output, 64);
  g.step({x, w0}, {h}), g.step({h, w1}, {y});
  EXPECT_EQ(leastBytes(g.p).bytes, 64 + 64 + 96000 + 640);
  g.p.levers.stream = true;
  EXPECT_EQ(leastBytes(g.p).bytes, 64 + 64 + 64000 + 640);
  EXPECT_TRUE(leastBytes(g.p).covered.stream);
  g.p.buffers[w0].movable = false;
  EXPECT_EQ(leastBytes(g.p).bytes, 64 + 64 + 64000 + 32000 + 640);
  g.p.buffers[w0].movable = true;
  g.p.steps[0].splits = {{.name = "columns", .extent = 10, .minPiece = 1, .operands = {{.stride = 0}, {.stride = 1}}}};
  g.p.levers.split = true;
  EXPECT_EQ(leastBytes(g.p).bytes, 64 + 64 + 32000 + 640); // the second step is not cut
  g.p.steps[1].splits = g.p.steps[0].splits;
  g.p.steps[1].splits[0].extent = 5;
  // One of ten columns of w0, a tenth of h; or all of h and one of five of w1.
  EXPECT_EQ(leastBytes(g.p).bytes, 64 + 64 + alignUp(32000 / 5 + 640, 64));
}

TEST(Bound, APieceNeedsNoRowsThatStridesPassAndMayLieInAnyOperand) {
  Builder g;
  const int x = g.buffer(BufferKind::Input, 64), a = g.buffer(BufferKind::Transient, 16 * 640),
            row = g.buffer(BufferKind::Transient, 640), b = g.buffer(BufferKind::Transient, 8 * 640),
            y = g.buffer(BufferKind::Output, 64);
  g.step({x}, {a}), g.step({x}, {row}), g.step({a, row}, {b}), g.step({b}, {y});
  g.p.levers.split = true;
  const SplitAxis::Operand strided{.stride = 2, .before = 0, .after = -1}, whole{.stride = 0}, each{};
  g.p.steps[0].splits = {{.name = "rows", .extent = 16, .operands = {each}}};
  g.p.steps[2].splits = {{.name = "rows", .extent = 8, .operands = {strided, whole}}};
  g.p.steps[3].splits = {{.name = "rows", .extent = 8, .operands = {each}}};
  // A row of `a` beside all of `row`; the result may lie in one of them.
  EXPECT_EQ(leastBytes(g.p).bytes, 64 + 64 + 640 + 640);
}

TEST(Bound, OutputsAreScratchWhereTheyAreLentOrAliasesLeadThere) {
  Builder g;
  const int x = g.buffer(BufferKind::Input, 64), a = g.buffer(BufferKind::Transient, 6400),
            b = g.buffer(BufferKind::Transient, 6400), y = g.buffer(BufferKind::Output, 6400);
  g.step({x}, {a}), g.step({a}, {b}), g.step({b}, {y});
  EXPECT_EQ(leastBytes(g.p).bytes, 64 + 6400 + 2 * 6400);
  g.p.levers.lend = true;
  EXPECT_EQ(leastBytes(g.p).bytes, 64 + 6400 + 6400);
  EXPECT_TRUE(leastBytes(g.p).covered.lend);
  g.p.levers.lend = false;
  g.p.aliases = {{AliasKind::InPlace, y, b, 2}};
  EXPECT_EQ(leastBytes(g.p).bytes, 64 + 6400 + 6400);
  g.p.aliases.push_back({AliasKind::InPlace, b, a, 1});
  EXPECT_EQ(leastBytes(g.p).bytes, 64 + 6400);
}

TEST(Bound, PiecesOfAWholeCountOnce) {
  Builder g;
  const int x = g.buffer(BufferKind::Input, 64), a = g.buffer(BufferKind::Transient, 640),
            b = g.buffer(BufferKind::Transient, 1280), c = g.buffer(BufferKind::Transient, 1920),
            y = g.buffer(BufferKind::Output, 64);
  g.step({x}, {a}), g.step({x}, {b}), g.step({a, b}, {c}), g.step({c}, {y});
  g.p.aliases = {{AliasKind::Into, a, c, 2, 0}, {AliasKind::Into, b, c, 2, 640}};
  EXPECT_EQ(leastBytes(g.p).bytes, 64 + 1920 + 64);
  g.p.levers.alias = false;
  EXPECT_EQ(leastBytes(g.p).bytes, 64 + 64 + 2 * 1920);
}

TEST(Bound, IsAtMostTheOptimumOfSmallGraphs) {
  for (int levers = 0; levers < 16; ++levers) {
    double sum = 0, least = 1;
    int equal = 0, count = 0;
    for (uint64_t seed = 0; seed < 60; ++seed) {
      Problem p = smallProblem(seed, {.steps = 4 + int(seed % 9)});
      ASSERT_THAT(validate(p), testing::IsEmpty()) << "seed " << seed;
      p.levers.recompute = levers & 1, p.levers.stream = levers & 2, p.levers.spill = levers & 4;
      p.levers.lend = levers & 8;
      const int64_t optimum = exhaustiveLeast(p), bound = leastBytes(p).bytes;
      ASSERT_LE(bound, optimum) << "seed " << seed << " levers " << levers;
      equal += bound == optimum, ++count;
      const double part = optimum ? double(bound) / double(optimum) : 1;
      sum += part, least = std::min(least, part);
    }
    std::printf("recompute %d stream %d spill %d lend %d: bound / optimum mean %.4f, least %.4f, equal in %d of %d\n",
                levers & 1, levers >> 1 & 1, levers >> 2 & 1, levers >> 3, sum / count, least, equal, count);
    // Where values may be made again or spilled, the arguments leave nothing out.
    EXPECT_GE(equal, (levers & 5) == 0 ? count * 8 / 10 : count);
  }
}

TEST(Bound, SeesThroughReshapes) {
  for (uint64_t seed = 0; seed < 120; ++seed) {
    Problem plain = smallProblem(seed, {.steps = 4 + int(seed % 8)});
    Problem p = withReshapes(plain, seed);
    ASSERT_THAT(validate(p), testing::IsEmpty()) << "seed " << seed;
    for (bool recompute : {false, true}) {
      plain.levers.recompute = p.levers.recompute = recompute;
      ASSERT_LE(leastBytes(p).bytes, exhaustiveLeast(plain)) << "seed " << seed;
    }
  }
}

TEST(Bound, OptimumIsAtMostWhatThePlannerFinds) {
  for (bool recompute : {false, true}) {
    double bound = 0, optimum = 0;
    int equal = 0, count = 0;
    for (uint64_t seed = 0; seed < 60; ++seed, ++count) {
      Problem p = smallProblem(seed, {.steps = 4 + int(seed % 9)});
      p.levers.recompute = recompute, p.levers.lend = seed & 1;
      const int64_t found = Ladder(p, quick()).smallest().peak[0], best = exhaustiveLeast(p);
      ASSERT_LE(best, found) << "seed " << seed << " recompute " << recompute;
      ASSERT_LE(leastBytes(p).bytes, best) << "seed " << seed << " recompute " << recompute;
      optimum += double(best) / double(found), bound += double(leastBytes(p).bytes) / double(found);
      equal += best == found;
    }
    std::printf("recompute %d: optimum / found mean %.4f, equal in %d of %d; bound / found mean %.4f\n", recompute,
                optimum / count, equal, count, bound / count);
  }
}

TEST(Bound, IsAtMostWhatThePlannerFindsWithAllAliasesGroupsAndStates) {
  double sum = 0, least = 1;
  const int count = 400;
  for (uint64_t seed = 0; seed < count; ++seed) {
    Problem p = randomProblem(seed, {.steps = 6 + int(seed % 30)});
    for (bool order : {true, false}) {
      p.levers.order = order, p.levers.lend = seed & 1;
      const int64_t found = Ladder(p, quick()).smallest().peak[0], bound = leastBytes(p).bytes;
      ASSERT_LE(bound, found) << "seed " << seed << " order " << order;
      sum += double(bound) / double(found), least = std::min(least, double(bound) / double(found));
    }
  }
  std::printf("bound / found: mean %.4f, least %.4f\n", sum / count / 2, least);
}

// Beside a constant that stays, one more may cost no page, while the arena would need one to hold it.
TEST(Bound, AConstantThatMayBeStreamedMayAlsoStay) {
  Builder g;
  const int x = g.buffer(BufferKind::Input, 64), small = g.buffer(BufferKind::Constant, 2048),
            large = g.buffer(BufferKind::Constant, 2048), a = g.buffer(BufferKind::Transient, 4096),
            y = g.buffer(BufferKind::Output, 64);
  g.step({x, small}, {a}), g.step({a, large}, {y});
  Problem &p = g.p;
  p.granule = 4096, p.levers.stream = true, p.buffers[size_t(small)].movable = false;
  p.links = {{Tier::Ssd, Tier::Ram, 1'000'000'000, 0}};
  EXPECT_EQ(leastBytes(p).bytes, 64 + 64 + 8192);
  p.tiers[0].capacity = 64 + 64 + 8192;
  EXPECT_TRUE(fitBudget(p, quick()).solution);
  p.tiers[0].capacity -= 1;
  EXPECT_FALSE(fitBudget(p, quick()).solution);
}

TEST(Bound, MoreWorkNeverLowersIt) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Problem p = randomProblem(seed, {.steps = 40});
    p.levers.recompute = seed & 1;
    int64_t last = 0;
    for (int64_t work : {0, 1000, 100'000, 10'000'000}) {
      const int64_t now = leastBytes(p, {.backwardWork = work, .cutWork = work}).bytes;
      EXPECT_GE(now, last) << "seed " << seed << " work " << work;
      last = now;
    }
  }
}

} // namespace
} // namespace plim::solver
