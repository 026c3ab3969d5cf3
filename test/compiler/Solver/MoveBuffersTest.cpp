//===- MoveBuffersTest.cpp - Plans fit in what is alive at one time, by moves that are sound ----===//
#include "compiler/Solver/MoveBuffers.h"
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/ProblemText.h"
#include "compiler/Solver/Unroll.h"
#include "test/compiler/Solver/RandomProblem.h"
#include "test/compiler/Solver/RandomSchedule.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plim::solver {
namespace {

// One pass and no exact search: leaves gaps to close.
constexpr PackOptions kPoor{.passes = 1, .exactNodes = 0};

TEST(MoveBuffers, TakesWhatIsAliveAtOneTimeAndIsSound) {
  int moves = 0, fitted = 0, tried = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    Problem p = randomProblem(seed, {.steps = 10 + int(seed % 40)});
    offerSsd(p);
    p.levers.move = true;
    if (seed % 2)
      p.links.push_back({Tier::Ram, Tier::Ram, 15'000'000'000, 100});
    const Unrolled unrolled(p, seed % 3 ? randomSchedule(p, seed) : scheduleOf(p, fastestDraft(p)));
    const Layout layout = layOut(unrolled.context, unrolled.draft);
    const Solution plan = assemble(unrolled, unrolled.draft, kPoor);
    if (plan.arena[0] == alignUp(plan.live[0], p.granule))
      continue;
    ++tried;
    auto moved = moveBuffers(p, plan, layout.ns, plan.live[0], kPoor);
    if (!moved)
      continue;
    ++fitted;
    EXPECT_LE(moved->arena[0], alignUp(plan.live[0], p.granule)) << "seed " << seed;
    ASSERT_THAT(check::checkSolution(p, *moved), testing::IsEmpty()) << "seed " << seed << "\n"
                                                                     << printProblem(p) << printSolution(*moved);
    int64_t ns = 0;
    for (const Action &a : moved->actions)
      if (a.kind == ActionKind::Copy && a.queue == Queue::Cpu) {
        ++moves;
        if (const Link *link = p.link(Tier::Ram, Tier::Ram))
          ns += link->latencyNs + transferNs(*link, bytesOf(p, moved->places[a.reads[0]].buffer, plan.choices));
      }
    if (seed % 3 == 0) // no transfers beside which they could hide
      EXPECT_EQ(moved->ns, plan.ns + ns);
  }
  EXPECT_GT(tried, 100);
  EXPECT_GT(fitted, tried / 2);
  EXPECT_GT(moves, 200);
}

TEST(MoveBuffers, LeavesAloneWhatMayNotMove) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Problem p = randomProblem(seed, {.steps = 30});
    for (Buffer &b : p.buffers)
      b.movable = false;
    p.levers.move = true;
    const Context context(p);
    const Draft draft = fastestDraft(p);
    const Solution plan = assemble(context, draft, kPoor);
    std::vector<int64_t> ns;
    const Layout layout = layOut(context, draft);
    for (int s : draft.order)
      ns.push_back(layout.ns[s]);
    auto moved = moveBuffers(p, plan, ns, plan.live[0], kPoor);
    if (moved) // by other offsets
      EXPECT_EQ(moved->actions.size(), plan.actions.size());
  }
}

} // namespace
} // namespace plim::solver
