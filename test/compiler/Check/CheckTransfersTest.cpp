//===- CheckTransfersTest.cpp - Spills, streams, moves and recomputation ------------------------===//
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/Fit.h"
#include "compiler/Solver/Unroll.h"
#include "test/compiler/Check/DerivedFields.h"
#include "test/compiler/Check/Mutator.h"
#include "test/compiler/Check/RandomPlan.h"
#include "test/compiler/Solver/RandomGraph.h"
#include "test/compiler/Solver/RandomProblem.h"
#include "test/compiler/Solver/RandomSchedule.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plim::check {
namespace {

using namespace solver;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Every mutation of the plan; counts those of each kind.
void expectRefused(const Problem &p, const Solution &s, uint64_t seed, std::map<std::string, int> &tried) {
  Mutator mutator(p, s);
  mutator.tryAll();
  EXPECT_EQ(mutator.missed, 0) << "seed " << seed << " " << mutator.firstMissed;
  for (const auto &[kind, count] : mutator.tried)
    tried[kind] += count;
}

TEST(CheckTransfers, AcceptsRandomPlansAndRejectsEveryMutation) {
  std::map<std::string, int> tried;
  int reads = 0, writes = 0, moves = 0, shared = 0, again = 0;
  for (uint64_t seed = 0; seed < 120; ++seed) {
    Problem p = randomProblem(seed, {.steps = 6 + int(seed % 14)});
    allowTransfers(p);
    const Solution s = randomPlan(p, seed);
    ASSERT_THAT(checkSolution(p, s), IsEmpty()) << "seed " << seed;
    for (const Action &a : s.actions) {
      reads += a.queue == Queue::Read, writes += a.queue == Queue::Write, again += a.instance > 0;
      if (a.kind != ActionKind::Copy || a.queue != Queue::Cpu)
        continue;
      ++moves;
      const Storage &x = s.storages[s.places[a.reads[0]].storage], &y = s.storages[s.places[a.writes[0]].storage];
      shared += x.offset < y.offset + y.bytes && y.offset < x.offset + x.bytes;
    }
    expectRefused(p, s, seed, tried);
  }
  // The claim is about plans that have all of these.
  EXPECT_GT(reads, 100);
  EXPECT_GT(writes, 100);
  EXPECT_GT(moves, 100);
  EXPECT_GT(shared, 30);
  EXPECT_GT(again, 50);
  for (const char *kind :
       {"queue", "missing wait, all else made right", "wait moved later", "stale clone", "reader of what has slid",
        "dropped, all else made right", "unaligned on the ssd", "overlap", "order", "ns", "death"})
    EXPECT_GT(tried[kind], 20) << kind;
}

// With aliases, which the plans above do not have.
TEST(CheckTransfers, RejectsEveryMutationOfUnrolledSchedules) {
  std::map<std::string, int> tried;
  PackOptions quick;
  quick.passes = 4, quick.exactNodes = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Problem p = seed % 2 ? randomProblem(seed, {.steps = 6 + int(seed % 9)})
                         : randomGraph(kGraphFamilies[seed / 2 % std::size(kGraphFamilies)], 6 + int(seed % 7), seed);
    offerSsd(p);
    for (Buffer &b : p.buffers)
      b.movable = true; // the schedules ask no buffer
    const Unrolled unrolled(p, randomSchedule(p, seed));
    const Solution s = assemble(unrolled, unrolled.draft, quick);
    ASSERT_THAT(checkSolution(p, s), IsEmpty()) << "seed " << seed;
    expectRefused(p, s, seed, tried);
  }
  for (const char *kind :
       {"no alias", "missing wait, all else made right", "wait moved later", "stale clone", "overlap"})
    EXPECT_GT(tried[kind], 20) << kind;
}

TEST(CheckTransfers, RejectsEveryMutationOfThePlannersOwnPlans) {
  FitOptions quick;
  quick.orderRounds = 20, quick.tradeEvaluations = 100, quick.packPasses = 4, quick.exactNodes = 0;
  quick.jointRounds = quick.jointRescues = 8, quick.rungs = 4, quick.alternatives = false;
  std::map<std::string, int> tried;
  int transfers = 0, moves = 0, again = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Problem p = randomGraph(kGraphFamilies[seed % std::size(kGraphFamilies)], 6 + int(seed % 9), seed);
    p.levers.recompute = p.levers.spill = p.levers.stream = p.levers.move = true;
    p.tiers[0].capacity = 0;
    const FitResult none = fitBudget(p, quick);
    if (!none.refusal)
      continue;
    p.tiers[0].capacity = none.refusal->need;
    const FitResult least = fitBudget(p, quick);
    ASSERT_TRUE(least.solution) << "seed " << seed;
    const Solution &s = *least.solution;
    for (const Action &a : s.actions) {
      transfers += a.queue != Queue::Cpu, again += a.instance > 0;
      moves += a.kind == ActionKind::Copy && a.queue == Queue::Cpu;
    }
    ASSERT_THAT(checkSolution(p, s), IsEmpty()) << "seed " << seed;
    expectRefused(p, s, seed, tried);
  }
  EXPECT_GT(transfers, 10);
  for (const char *kind : {"no alias", "missing wait, all else made right", "wait moved later", "overlap", "order"})
    EXPECT_GT(tried[kind], 10) << kind;
  std::printf("%d transfers, %d moves, %d steps run again\n", transfers, moves, again);
}

TEST(CheckTransfers, AcceptsLargerRandomPlans) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Problem p = randomGraph(kGraphFamilies[seed % std::size(kGraphFamilies)], 5 + int(seed % 60), seed);
    allowTransfers(p);
    EXPECT_THAT(checkSolution(p, randomPlan(p, seed)), IsEmpty()) << "graph " << seed;
  }
  for (uint64_t seed = 1000; seed < 1200; ++seed) {
    Problem p = randomProblem(seed, {.steps = 3 + int(seed % 60)});
    allowTransfers(p);
    EXPECT_THAT(checkSolution(p, randomPlan(p, seed)), IsEmpty()) << "seed " << seed;
  }
}

// x -> a -> b -> y with a weight w in the last step; a is also read by it. All sizes 64 bytes.
struct Chain {
  Problem p;
  Solution s;

  Chain() {
    allowTransfers(p);
    p.buffers = {{.name = "x", .bytes = 64, .kind = BufferKind::Input},
                 {.name = "a", .bytes = 64},
                 {.name = "b", .bytes = 64},
                 {.name = "w", .bytes = 64, .kind = BufferKind::Constant},
                 {.name = "y", .bytes = 64, .kind = BufferKind::Output}};
    auto step = [&](const char *name, std::vector<int> reads, int write) {
      p.steps.push_back({.name = name, .reads = std::move(reads), .writes = {write}, .candidates = {{.ns = 10}}});
    };
    step("first", {0}, 1), step("second", {1}, 2), step("third", {1, 2, 3}, 4);
    place(0, Region::Caller, 0), place(1, Region::Transient, 0), place(2, Region::Transient, 4096);
    place(3, Region::Constant, 0), place(4, Region::Caller, 0);
    s.actions = {run(0, {0}, 1), run(1, {1}, 2), run(2, {1, 2, 3}, 4)};
  }

  int place(int buffer, Region region, int64_t offset, Tier tier = Tier::Ram, int instance = 0) {
    s.storages.push_back({region, tier, offset});
    s.places.push_back({buffer, instance, int(s.storages.size()) - 1});
    return int(s.places.size()) - 1;
  }
  static Action run(int step, std::vector<int> reads, int write, int instance = 0) {
    return {.step = step, .instance = instance, .candidate = 0, .reads = std::move(reads), .writes = {write}};
  }
  static Action copy(int from, int to, Queue queue = Queue::Cpu) {
    return {.kind = ActionKind::Copy, .reads = {from}, .writes = {to}, .queue = queue};
  }
  static Action wait(std::vector<int> copies) { return {.kind = ActionKind::Wait, .waits = std::move(copies)}; }

  std::vector<std::string> check() {
    derive(p, s);
    return checkSolution(p, s);
  }
};

TEST(CheckTransfers, CountsTimeAndBytesOfASpill) {
  Chain c;
  c.p.links = {{Tier::Ram, Tier::Ssd, 4'096'000'000, 5}, {Tier::Ssd, Tier::Ram, 4'096'000'000, 7}};
  const int spilled = c.place(1, Region::Transient, 0, Tier::Ssd, 1),
            back = c.place(1, Region::Transient, 0, Tier::Ram, 2);
  c.s.actions = {c.run(0, {0}, 1),
                 c.copy(1, spilled, Queue::Write),
                 c.run(1, {1}, 2),
                 c.wait({1}),
                 c.copy(spilled, back, Queue::Read),
                 c.wait({4}),
                 c.run(2, {back, 2, 3}, 4)};
  EXPECT_THAT(c.check(), IsEmpty());
  // 4,096 bytes take 1,000 ns. The write starts at 10 + 5; the second step ends before it does.
  EXPECT_EQ(c.s.ns, (10 + 5 + 1000) + (7 + 1000) + 10);
  EXPECT_EQ(c.s.arena, (std::array<int64_t, kTierCount>{4096 + 64, 0, 4096, 0}));
  EXPECT_EQ(c.s.storages[1].bytes, 4096);
  EXPECT_EQ(c.s.storages[1].death, 4);
  c.p.levers.spill = false;
  EXPECT_THAT(c.check(), ElementsAre("action 1 (copy): need no spill as that lever is off"));
  c.p.levers.spill = true;
  c.p.tiers[int(Tier::Ssd)].capacity = 4095;
  EXPECT_THAT(c.check(), ElementsAre("tier ssd: need a peak within 4095 bytes, have 4096"));
}

TEST(CheckTransfers, SaysWhatIsWrongWithATransfer) {
  auto spill = [] {
    Chain c;
    const int out = c.place(1, Region::Transient, 0, Tier::Ssd, 1), in = c.place(1, Region::Transient, 0, Tier::Ram, 2);
    c.s.actions = {
        c.run(0, {0}, 1), c.copy(1, out, Queue::Write), c.run(1, {1}, 2), c.wait({1}), c.copy(out, in, Queue::Read),
        c.wait({4}),      c.run(2, {in, 2, 3}, 4)};
    return c;
  };
  Chain c = spill();
  std::swap(c.s.actions[5], c.s.actions[6]);
  EXPECT_THAT(c.check(), ElementsAre("action 5 ('third'): reads place 6 of 'a' instance 2, which is in flight until "
                                     "action 6"));
  c = spill();
  c.s.actions[5].waits.clear();
  EXPECT_THAT(c.check(), ElementsAre("action 5 (wait): need a copy to wait for, have none",
                                     "action 4 (copy): need a wait for it before the end, have it in flight"));
  c = spill();
  std::swap(c.s.actions[3].waits, c.s.actions[5].waits);
  EXPECT_THAT(c.check(), Contains("action 3 (wait): need an earlier copy from or to the ssd, have action 4"));
  c = spill();
  c.s.actions[5].waits = {1, 4};
  EXPECT_THAT(c.check(), ElementsAre("action 5 (wait): need each copy waited for once, have 1 again"));
  c = spill();
  c.s.actions[1].queue = Queue::Cpu, c.s.actions[3] = c.run(0, {0}, 1);
  EXPECT_THAT(c.check(), Contains("action 1 (copy): need the cpu inside a tier, read from the ssd, write to the ssd; "
                                  "have ram to ssd on the cpu"));
  c = spill();
  c.s.storages[2].offset = 64, c.s.storages[6].offset = 64; // b beside a's 64 bytes, inside the block that is written
  EXPECT_THAT(c.check(), ElementsAre("storage 6: need an offset that is a multiple of 4096, have 64"));
  c.s.storages[6].offset = 4096;
  EXPECT_THAT(c.check(), ElementsAre("action 2: storage 2 [64, 128) overlaps storage 1 [0, 4096)"));
  c = spill();
  c.s.places[6].offset = 64;
  EXPECT_THAT(c.check(),
              ElementsAre(HasSubstr("need all of its storage, 4096 bytes at 0, as the ssd reads or writes it")));
  c = spill();
  c.s.actions[1].reads = {0}, c.s.places[5].buffer = 0, c.s.actions.resize(4), c.s.places.pop_back(),
  c.s.storages.pop_back();
  c.s.actions.push_back(c.run(2, {1, 2, 3}, 4));
  EXPECT_THAT(c.check(), ElementsAre("place 0 of 'x': need it in a transient storage as the ssd reads or writes it"));
  c = spill();
  c.p.links.clear();
  EXPECT_THAT(c.check(), ElementsAre("action 1 (copy): need a link from ram to ssd, have none",
                                     "action 4 (copy): need a link from ssd to ram, have none"));
}

TEST(CheckTransfers, StreamedConstantsCountNowhere) {
  Chain c;
  c.s.storages[3] = {Region::File, Tier::Ssd, 0};
  const int here = c.place(3, Region::Transient, 8192, Tier::Ram, 1);
  c.s.actions = {c.copy(3, here, Queue::Read), c.run(0, {0}, 1), c.run(1, {1}, 2), c.wait({0}),
                 c.run(2, {1, 2, here}, 4)};
  EXPECT_THAT(c.check(), IsEmpty());
  EXPECT_EQ(c.s.constants, (std::array<int64_t, kTierCount>{}));
  EXPECT_EQ(c.s.peak[int(Tier::Ssd)], 0);
  Chain direct = c;
  direct.s.actions[4].reads[2] = 3;
  EXPECT_THAT(direct.check(), ElementsAre("action 4 ('third'): need place 3 of 'w' in tier ram, have ssd"));
  Chain off = c;
  off.p.levers.stream = false;
  EXPECT_THAT(off.check(), ElementsAre("place 3 of 'w': need it resident as streaming is off"));
  Chain pinned = c;
  pinned.p.buffers[3].movable = false;
  EXPECT_THAT(pinned.check(), ElementsAre("place 3 of 'w': need one resident place as the buffer is not movable",
                                          HasSubstr("place 5 of 'w' instance 1: need one resident place")));
}

TEST(CheckTransfers, MovesMaySlideWhereNothingReadsTheSourceLater) {
  Chain c;
  for (Storage &st : c.s.storages)
    if (st.region == Region::Transient)
      st.offset += 64;
  c.p.buffers[1].bytes = 256;
  const int slid = c.place(1, Region::Transient, 0, Tier::Ram, 1);
  c.s.actions = {c.run(0, {0}, 1), c.run(1, {1}, 2), c.copy(1, slid), c.run(2, {slid, 2, 3}, 4)};
  EXPECT_THAT(c.check(), IsEmpty());
  EXPECT_EQ(c.s.live[0], 64 + 256 + 64); // the bytes that both have count once
  EXPECT_EQ(c.s.peakAction, 2);
  Chain later = c;
  later.s.actions[3].reads[0] = 1;
  EXPECT_THAT(later.check(), ElementsAre("action 2: storage 5 [0, 256) overlaps storage 1 [64, 320)"));
  Chain off = c;
  off.p.levers.move = false;
  EXPECT_THAT(off.check(), ElementsAre("action 2 (copy): need no move as that lever is off"));
  Chain within = c; // inside one storage nothing may slide
  within.s.places[slid] = {1, 1, 1, 64}, within.s.storages.pop_back();
  EXPECT_THAT(within.check(),
              ElementsAre(HasSubstr("action 2 (copy): writing place 5 of 'a' instance 1 destroys place 1 of 'a'")));
}

TEST(CheckTransfers, RecomputationKeepsToTheNumericsClassAndTheLever) {
  Chain c;
  c.p.steps[0].candidates = {
      {.ns = 10, .numerics = "f32"}, {.ns = 20, .numerics = "f32"}, {.ns = 5, .numerics = "tf32"}};
  const int again = c.place(1, Region::Transient, 0, Tier::Ram, 7); // numbers need no order
  c.s.actions = {c.run(0, {0}, 1), c.run(1, {1}, 2), c.run(0, {0}, again, 3), c.run(2, {again, 2, 3}, 4)};
  c.s.actions[2].candidate = 1;
  EXPECT_THAT(c.check(), IsEmpty());
  EXPECT_EQ(c.s.ns, 50);
  Chain other = c;
  other.s.actions[2].candidate = 2;
  EXPECT_THAT(other.check(),
              ElementsAre("action 2 ('first' instance 3): need the numerics class of its other instances, "
                          "'f32', have 'tf32'"));
  Chain off = c;
  off.p.levers.recompute = false;
  EXPECT_THAT(off.check(), ElementsAre(HasSubstr("need no recomputation as that lever is off")));
  Chain fixed = c;
  fixed.p.buffers[1].movable = false;
  EXPECT_THAT(fixed.check(), ElementsAre(HasSubstr("need one resident place as the buffer is not movable")));
}

// A copy keeps the version that the state had.
TEST(CheckTransfers, KnowsTheVersionOfACopiedState) {
  Chain c;
  c.p = {}, c.s = {};
  allowTransfers(c.p);
  c.p.buffers = {{.name = "cache", .bytes = 64, .kind = BufferKind::State},
                 {.name = "a", .bytes = 64, .kind = BufferKind::Output},
                 {.name = "b", .bytes = 64, .kind = BufferKind::Output}};
  c.p.steps = {{.name = "before", .reads = {0}, .writes = {1}, .candidates = {{.ns = 1}}},
               {.name = "update", .reads = {0}, .writes = {0}, .candidates = {{.ns = 1}}},
               {.name = "after", .reads = {0}, .writes = {2}, .candidates = {{.ns = 1}}}};
  c.place(0, Region::State, 0), c.place(1, Region::Caller, 0), c.place(2, Region::Caller, 0);
  const int old = c.place(0, Region::Transient, 0, Tier::Ram, 1);
  c.s.actions = {c.copy(0, old), c.run(1, {0}, 0), c.run(0, {old}, 1), c.run(2, {0}, 2)};
  EXPECT_THAT(c.check(), IsEmpty()); // 'before' runs after the update, and still finds what was there before it
  Chain late = c;                    // a copy of the new value
  late.s.actions = {c.run(0, {0}, 1), c.run(1, {0}, 0), c.copy(0, old), c.run(2, {old}, 2)};
  EXPECT_THAT(late.check(), IsEmpty());
  Chain stale = c;
  stale.s.actions[3].reads = {old};
  EXPECT_THAT(stale.check(), ElementsAre("action 3 ('after'): need state 'cache' after 1 writes, have 0"));
  Chain early = c;
  early.s.actions[2].reads = {0}; // no longer the old value
  EXPECT_THAT(early.check(), ElementsAre("action 2 ('before'): need state 'cache' after 0 writes, have 1"));
  Chain elsewhere = c;
  elsewhere.s.actions[1] = c.run(1, {old}, old);
  EXPECT_THAT(elsewhere.check(),
              Contains("action 1 ('update'): need it to write instance 0 of state 'cache', have place 3 "
                       "of 'cache' instance 1"));
  Chain apart = c;
  apart.s.actions[1].reads = {old};
  EXPECT_THAT(apart.check(), ElementsAre("action 1 ('update'): need state 'cache' updated in place, have place 3 of "
                                         "'cache' instance 1 read and place 0 of 'cache' written"));
}

} // namespace
} // namespace plim::check
