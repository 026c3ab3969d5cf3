//===- UnrollTest.cpp - Schedules with recomputation and transfers become sound solutions ------===//
#include "compiler/Solver/Unroll.h"
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/Order.h"
#include "compiler/Solver/ProblemText.h"
#include "test/compiler/Solver/RandomProblem.h"
#include "test/compiler/Solver/RandomSchedule.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plim::solver {
namespace {

PackOptions quick() {
  PackOptions options;
  options.passes = 24, options.exactNodes = 500;
  return options;
}

TEST(Unroll, APlainScheduleGivesWhatItsDraftGives) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Problem p = randomProblem(seed, {.steps = 4 + int(seed % 40)});
    const Context context(p);
    Draft draft = fastestDraft(p);
    if (seed % 2)
      orderForMemory(context, draft, 20);
    const Solution plain = assemble(context, draft, quick());
    const Unrolled unrolled(p, scheduleOf(p, draft));
    EXPECT_EQ(printSolution(assemble(unrolled, unrolled.draft, quick())), printSolution(plain)) << "seed " << seed;
  }
}

TEST(Unroll, SchedulesWithTransfersAndRepeatedStepsBecomeSoundSolutions) {
  int repeated = 0, spilled = 0, streamed = 0, aliased = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Problem p = randomProblem(seed, {.steps = 4 + int(seed % 30)});
    offerSsd(p);
    const Unrolled unrolled(p, randomSchedule(p, seed));
    const Solution s = assemble(unrolled, unrolled.draft, quick());
    ASSERT_THAT(check::checkSolution(p, s), testing::IsEmpty()) << "seed " << seed << "\n"
                                                                << printProblem(p) << printSolution(s);
    for (const Action &a : s.actions)
      repeated += a.instance > 0, spilled += a.queue == Queue::Write;
    for (const Storage &st : s.storages)
      streamed += st.region == Region::File;
    for (const Place &at : s.places)
      aliased += at.instance > 0 && at.alias >= 0;
  }
  EXPECT_GT(repeated, 200);
  EXPECT_GT(spilled, 400);
  EXPECT_GT(streamed, 100);
  EXPECT_GT(aliased, 100);
}

// x (1,000 ns) -> a -> b (2,000 ns) -> y reads a and b; a is written to the ssd while b runs, and read back.
TEST(Unroll, TransfersOverlapWithRunsUntilTheyAreWaitedFor) {
  Problem p;
  p.buffers = {{.name = "x", .bytes = 64, .kind = BufferKind::Input},
               {.name = "a", .bytes = 5000},
               {.name = "b", .bytes = 64},
               {.name = "y", .bytes = 64, .kind = BufferKind::Output}};
  auto step = [&](std::vector<int> reads, int write, int64_t ns) {
    p.steps.push_back({.name = "s", .reads = std::move(reads), .writes = {write}, .candidates = {{.ns = ns}}});
  };
  step({0}, 1, 1000), step({1}, 2, 2000), step({1, 2}, 3, 10);
  p.links = {{Tier::Ram, Tier::Ssd, 8'192'000'000, 100}, {Tier::Ssd, Tier::Ram, 8'192'000'000, 300}};
  p.levers.spill = true;
  Schedule s;
  s.instances = {{0}, {1}, {2}, {3}, {1, Tier::Ssd}, {1}};
  s.actions = {{.step = 0, .candidate = 0, .reads = {0}, .writes = {1}},
               {.kind = ActionKind::Copy, .reads = {1}, .writes = {4}, .queue = Queue::Write},
               {.step = 1, .candidate = 0, .reads = {1}, .writes = {2}},
               {.kind = ActionKind::Wait, .waits = {1}},
               {.kind = ActionKind::Copy, .reads = {4}, .writes = {5}, .queue = Queue::Read},
               {.kind = ActionKind::Wait, .waits = {4}},
               {.step = 2, .candidate = 0, .reads = {5, 2}, .writes = {3}}};
  const Unrolled unrolled(p, s);
  const Solution plan = assemble(unrolled, unrolled.draft, quick());
  // 8,192 bytes take 1,000 ns: written at 1,100 to 2,100, long before b is there at 3,000; read from 3,300 to 4,300.
  EXPECT_EQ(plan.ns, 1000 + 2000 + 300 + 1000 + 10);
  EXPECT_THAT(check::checkSolution(p, plan), testing::IsEmpty());
  // Its bytes are whole blocks on both sides, and it has them until the write is done.
  const Storage &a = plan.storages[plan.places[1].storage], &there = plan.storages[plan.places[4].storage];
  EXPECT_EQ(a.bytes, 8192);
  EXPECT_EQ(a.offset % kSsdAlign, 0);
  EXPECT_EQ(a.death, 4);
  EXPECT_EQ(there.tier, Tier::Ssd);
  EXPECT_EQ(there.birth, 1);
  EXPECT_EQ(there.death, 6);
  EXPECT_EQ(plan.arena[2], 8192);
}

} // namespace
} // namespace plim::solver
