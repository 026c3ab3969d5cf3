//===- CheckSolutionTest.cpp - Sound solutions pass, every mutated one is rejected ---------------===//
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/Fit.h"
#include "test/compiler/Check/DerivedFields.h"
#include "test/compiler/Check/Mutator.h"
#include "test/compiler/Solver/RandomProblem.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plim::check {
namespace {

using namespace solver;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Solution solve(const Problem &p, bool smallest) {
  FitOptions options;
  options.orderRounds = 20, options.packPasses = 8, options.exactNodes = 200;
  Ladder ladder(p, options);
  std::array<int64_t, kTierCount> capacity;
  capacity.fill(kUnbounded);
  return smallest ? ladder.smallest() : *ladder.fastest(capacity);
}

TEST(CheckSolution, RejectsEveryMutationOfSoundSolutions) {
  int tried = 0, elided = 0, inPlace = 0, strided = 0;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    Problem p = randomProblem(seed, {.steps = 4 + int(seed % 14)});
    ASSERT_THAT(validate(p), IsEmpty());
    Solution s = solve(p, seed % 2);
    ASSERT_THAT(checkSolution(p, s), IsEmpty()) << "seed " << seed;
    for (const Action &a : s.actions)
      elided += a.kind == ActionKind::Elided;
    for (const Place &at : s.places) {
      inPlace += at.alias >= 0 && p.aliases[at.alias].kind == AliasKind::InPlace;
      strided += at.run > 0;
    }
    Mutator mutator(p, s);
    mutator.tryAll();
    EXPECT_EQ(mutator.missed, 0) << "seed " << seed << " " << mutator.firstMissed;
    for (const auto &[kind, count] : mutator.tried)
      tried += count;
  }
  EXPECT_GT(tried, 20000);
  // The claim is about plans that use all kinds of aliases.
  EXPECT_GT(elided, 20);
  EXPECT_GT(inPlace, 100);
  EXPECT_GT(strided, 5);
}

TEST(CheckSolution, AcceptsWhatThePlannerMakes) {
  for (uint64_t seed = 1000; seed < 1600; ++seed) {
    Problem p = randomProblem(seed, {.steps = 3 + int(seed % 40)});
    const Solution s = solve(p, seed % 2);
    EXPECT_THAT(checkSolution(p, s), IsEmpty()) << "seed " << seed;
    p.levers.alias = false;
    if (std::any_of(s.places.begin(), s.places.end(), [](const Place &at) { return at.alias >= 0; })) {
      EXPECT_THAT(checkSolution(p, s), testing::Contains(HasSubstr("need no alias as that lever is off")));
    }
  }
}

TEST(CheckSolution, RejectsAPeakAboveTheCapacity) {
  Problem p = randomProblem(5);
  Solution s = solve(p, true);
  p.tiers[0].capacity = s.peak[0];
  EXPECT_THAT(checkSolution(p, s), IsEmpty());
  p.tiers[0].capacity = s.peak[0] - 1;
  EXPECT_THAT(checkSolution(p, s), ElementsAre(HasSubstr("tier ram: need a peak within")));
  EXPECT_THAT(checkSolution(p, s, IgnoreCapacity::Yes), IsEmpty());
}

// x -> a -> b -> y; a is also read by the last step.
struct Chain {
  Problem p;
  Solution s;
  Chain() {
    p.levers.recompute = p.levers.spill = p.levers.stream = p.levers.move = true;
    p.buffers = {{.name = "x", .bytes = 64, .kind = BufferKind::Input},
                 {.name = "a", .bytes = 64},
                 {.name = "b", .bytes = 64},
                 {.name = "y", .bytes = 64, .kind = BufferKind::Output}};
    auto step = [&](const char *name, std::vector<int> reads, int write) {
      p.steps.push_back({.name = name, .reads = std::move(reads), .writes = {write}, .candidates = {{.ns = 10}}});
    };
    step("first", {0}, 1), step("second", {1}, 2), step("third", {1, 2}, 3);
    s.storages = {{Region::Caller, Tier::Ram, 0, 64, 0, 3},
                  {Region::Transient, Tier::Ram, 0, 64, 0, 3},
                  {Region::Transient, Tier::Ram, 64, 64, 1, 3},
                  {Region::Caller, Tier::Ram, 0, 64, 0, 3}};
    for (int b = 0; b < 4; ++b)
      s.places.push_back({b, 0, b});
    for (int k = 0; k < 3; ++k)
      s.actions.push_back({ActionKind::Run, k, 0, 0, p.steps[k].reads, p.steps[k].writes});
    s.ns = 30, s.caller[0] = 128, s.arena[0] = s.live[0] = 128, s.peak[0] = 256, s.peakAction = 1;
  }
};

TEST(CheckSolution, AcceptsAHandWrittenPlan) {
  Chain c;
  EXPECT_THAT(checkSolution(c.p, c.s), IsEmpty());
}

TEST(CheckSolution, SaysWhichContentsAnInPlaceWriteDestroys) {
  Chain c;
  c.p.aliases = {{AliasKind::InPlace, 2, 1, 1}};
  c.s.places[2] = {2, 0, 1, 0, 0, 0, 0};
  c.s.places[3].storage = 2;
  c.s.storages.erase(c.s.storages.begin() + 2);
  EXPECT_THAT(checkSolution(c.p, c.s),
              ElementsAre("action 1 ('second'): writing place 2 of 'b' destroys place 1 of 'a', "
                          "which is needed until action 2"));
}

TEST(CheckSolution, LetsOnlyKernelsThatMayRunInPlace) {
  Chain c;
  c.p.aliases = {{AliasKind::InPlace, 2, 1, 1}};
  c.p.steps[2].reads = c.s.actions[2].reads = {2}; // so that 'second' reads a last
  c.s.places[2] = {2, 0, 1, 0, 0, 0, 0};
  c.s.places[3].storage = 2;
  c.s.storages.erase(c.s.storages.begin() + 2);
  c.s.arena[0] = c.s.live[0] = 64, c.s.peak[0] = 192, c.s.peakAction = 0;
  EXPECT_THAT(checkSolution(c.p, c.s), IsEmpty());
  c.p.steps[1].candidates[0].flags = kSubrangeOk;
  EXPECT_THAT(checkSolution(c.p, c.s), ElementsAre("action 1 ('second'): candidate '' does not run in place"));
}

TEST(CheckSolution, LendsOutputsWithLeaveOnly) {
  Chain c;
  c.p.steps[2].reads = c.s.actions[2].reads = {2}; // a is dead when y is written
  c.s.places[1].storage = 3;
  c.s.storages.erase(c.s.storages.begin() + 1);
  c.s.storages[1].offset = 0;
  for (int i : {1, 2, 3})
    --c.s.places[i].storage;
  c.s.arena[0] = c.s.live[0] = 64, c.s.peak[0] = 192, c.s.peakAction = 1;
  EXPECT_THAT(checkSolution(c.p, c.s),
              ElementsAre("place 1 of 'a': need no storage of 'y' without an alias as lending is off"));
  c.p.levers.lend = true;
  EXPECT_THAT(checkSolution(c.p, c.s), IsEmpty());
  c.p.steps[2].reads = c.s.actions[2].reads = {1, 2}; // now 'third' reads a while it writes y
  EXPECT_THAT(checkSolution(c.p, c.s), ElementsAre(HasSubstr("writing place 3 of 'y' destroys place 1 of 'a'")));
}

TEST(CheckSolution, AcceptsRecomputationAsASecondInstance) {
  Chain c;
  // 'first' runs again for 'third', so that a may be freed after 'second'.
  c.s.storages[1] = {Region::Transient, Tier::Ram, 0, 64, 0, 2};
  c.s.storages[2] = {Region::Transient, Tier::Ram, 64, 64, 1, 4};
  c.s.storages[0].death = c.s.storages[3].death = 4;
  c.s.storages.push_back({Region::Transient, Tier::Ram, 0, 64, 2, 4});
  c.s.places.push_back({1, 1, 4});
  c.s.actions.insert(c.s.actions.begin() + 2, {ActionKind::Run, 0, 1, 0, {0}, {4}});
  c.s.actions[3].reads = {4, 2};
  c.s.ns = 40;
  EXPECT_THAT(checkSolution(c.p, c.s), IsEmpty());
  c.p.steps[0].pure = false;
  EXPECT_THAT(checkSolution(c.p, c.s), ElementsAre(HasSubstr("an impure step may run once only")));
}

TEST(CheckSolution, KeepsRequiredOrders) {
  Problem p;
  p.buffers = {{.name = "a", .bytes = 64, .kind = BufferKind::Output},
               {.name = "b", .bytes = 64, .kind = BufferKind::Output}};
  p.steps = {{.name = "first", .writes = {0}, .candidates = {{.ns = 1}}},
             {.name = "second", .writes = {1}, .candidates = {{.ns = 1}}}};
  Solution s = solve(p, true);
  if (s.actions[0].step == 0)
    std::swap(s.actions[0], s.actions[1]);
  EXPECT_THAT(checkSolution(p, s), IsEmpty());
  p.steps[1].after = {0};
  EXPECT_THAT(checkSolution(p, s), ElementsAre("action 0 ('second'): need 'first' before it, have it after"));
  p.steps[1].after = {};
  p.steps[0].pure = p.steps[1].pure = false;
  EXPECT_THAT(checkSolution(p, s),
              ElementsAre("action 1 ('first'): need the impure step 'second' after it, have it before"));
  p.steps[0].pure = p.steps[1].pure = true;
  p.levers.order = false;
  EXPECT_THAT(checkSolution(p, s), ElementsAre("action 1 ('first'): need the given order as that lever is off, have "
                                               "'second' before it"));
}

TEST(CheckSolution, ViewsMayStandAnywhere) {
  Problem p;
  p.buffers = {{.name = "x", .bytes = 128, .kind = BufferKind::Input},
               {.name = "part", .bytes = 64},
               {.name = "y", .bytes = 64, .kind = BufferKind::Output},
               {.name = "z", .bytes = 64, .kind = BufferKind::Output}};
  p.steps = {{.name = "slice", .reads = {0}, .writes = {1}, .candidates = {{.ns = 1}}},
             {.name = "other", .reads = {0}, .writes = {2}, .candidates = {{.ns = 1}}},
             {.name = "use", .reads = {1}, .writes = {3}, .candidates = {{.ns = 1}}}};
  p.levers.order = false;
  Solution s = solve(p, true);
  std::swap(s.actions[0], s.actions[1]);
  derive(p, s);
  EXPECT_THAT(checkSolution(p, s), ElementsAre(HasSubstr("need the given order as that lever is off, have 'other'")));
  p.aliases = {{AliasKind::View, 1, 0, 0, 64}};
  EXPECT_THAT(checkSolution(p, s), IsEmpty());
}

TEST(CheckSolution, RejectsAReadOfAnotherVersionOfAState) {
  Problem p;
  p.buffers = {{.name = "cache", .bytes = 64, .kind = BufferKind::State},
               {.name = "a", .bytes = 64},
               {.name = "b", .bytes = 64, .kind = BufferKind::Output}};
  p.steps = {{.name = "read", .reads = {0}, .writes = {1}, .candidates = {{.ns = 1}}},
             {.name = "update", .reads = {0}, .writes = {0}, .candidates = {{.ns = 1}}},
             {.name = "use", .reads = {1}, .writes = {2}, .candidates = {{.ns = 1}}}};
  Solution s = solve(p, true);
  ASSERT_THAT(checkSolution(p, s), IsEmpty());
  size_t read = 0, update = 0;
  for (size_t k = 0; k < s.actions.size(); ++k)
    (s.actions[k].step == 0 ? read : s.actions[k].step == 1 ? update : k) = k;
  std::swap(s.actions[read], s.actions[update]);
  EXPECT_THAT(checkSolution(p, s), testing::Contains(HasSubstr("need state 'cache' after 0 writes, have 1")));
}

} // namespace
} // namespace plim::check
