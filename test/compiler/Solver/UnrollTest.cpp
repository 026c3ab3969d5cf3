//===- UnrollTest.cpp - Schedules with recomputation and transfers become sound solutions ------===//
#include "compiler/Solver/Unroll.h"
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/Order.h"
#include "compiler/Solver/ProblemText.h"
#include "test/compiler/Solver/RandomProblem.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plim::solver {
namespace {

PackOptions quick() {
  PackOptions options;
  options.passes = 24, options.exactNodes = 500;
  return options;
}

// Draws what a planner might do, without any aim: steps run again before a use, values written to the ssd and read
// back, constants streamed.
class Scrambler {
public:
  Scrambler(const Problem &problem, uint64_t seed) : p(problem), random(seed) {}

  Schedule run() {
    const Draft draft = fastestDraft(p);
    out.choices = draft.choices;
    current.assign(p.buffers.size(), -1);
    for (int b = 0; b < int(p.buffers.size()); ++b)
      if (p.buffers[b].kind != BufferKind::Transient) {
        const bool streamed = p.buffers[b].kind == BufferKind::Constant && below(2);
        current[b] = instance(b, streamed ? Tier::Ssd : Tier::Ram);
      }
    for (int s : draft.order) {
      for (int b : p.steps[s].reads)
        disturb(b, draft);
      runStep(s, draft);
    }
    return std::move(out);
  }

private:
  const Problem &p;
  std::mt19937_64 random;
  Schedule out;
  std::vector<int> current; // by buffer: the instance to read

  int below(int limit) { return int(random() % uint64_t(limit)); }
  int instance(int buffer, Tier tier) {
    out.instances.push_back({buffer, tier});
    return int(out.instances.size()) - 1;
  }

  int copy(int from, Tier to) {
    const int made = instance(out.instances[from].buffer, to);
    Action action{.kind = ActionKind::Copy, .reads = {from}, .writes = {made}};
    action.queue = to == Tier::Ssd ? Queue::Write : Queue::Read;
    out.actions.push_back(action);
    return made;
  }
  void wait(int copies) {
    Action action{.kind = ActionKind::Wait};
    for (int k = copies; k > 0; --k)
      action.waits.push_back(int(out.actions.size()) - k);
    out.actions.push_back(action);
  }

  void disturb(int b, const Draft &draft) {
    if (out.instances[current[b]].tier == Tier::Ssd) {
      const int file = current[b];
      current[b] = copy(file, Tier::Ram);
      wait(1);
      return;
    }
    if (p.buffers[b].kind != BufferKind::Transient)
      return;
    if (below(5) == 0) {
      const int there = copy(current[b], Tier::Ssd);
      wait(1);
      current[b] = copy(there, Tier::Ram);
      // Two in flight at once, done by one wait.
      const int again = below(2) ? copy(there, Tier::Ram) : -1;
      wait(again < 0 ? 1 : 2);
      current[b] = again < 0 ? current[b] : again;
    } else if (below(4) == 0) {
      for (int s = 0; s < int(p.steps.size()); ++s)
        if (std::count(p.steps[s].writes.begin(), p.steps[s].writes.end(), b) && p.steps[s].pure && repeats(p.steps[s]))
          runStep(s, draft);
    }
  }
  bool repeats(const Step &step) const {
    auto plain = [&](int b) { return p.buffers[b].kind != BufferKind::State; };
    return std::all_of(step.writes.begin(), step.writes.end(), plain) &&
           std::all_of(step.reads.begin(), step.reads.end(),
                       [&](int b) { return plain(b) && out.instances[current[b]].tier == Tier::Ram; });
  }

  void runStep(int s, const Draft &draft) {
    Action action;
    action.step = s, action.candidate = draft.candidates[s];
    for (int b : p.steps[s].reads)
      action.reads.push_back(current[b]);
    for (int b : p.steps[s].writes) {
      const bool first = current[b] >= 0 && p.buffers[b].kind != BufferKind::Transient;
      action.writes.push_back(first ? current[b] : instance(b, Tier::Ram));
      current[b] = action.writes.back();
    }
    out.actions.push_back(action);
  }
};

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
    p.links = {{Tier::Ram, Tier::Ssd, 900'000'000, 80'000}, {Tier::Ssd, Tier::Ram, 1'200'000'000, 50'000}};
    p.levers.recompute = p.levers.spill = p.levers.stream = true;
    const Unrolled unrolled(p, Scrambler(p, seed).run());
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
