// Solutions in which steps run again and values move between tiers become plans that pass the runtime's check and the
// independent replay; each plan that is changed a little is refused.
#include "test/compiler/Lowering/PlanProblem/TransferPlans.h"

using namespace mlir;
using namespace plim::plan;
using namespace plim::test;
using testing::HasSubstr;

namespace {

// a is made from x, needed at once and again at the end; two steps read the constant.
const char *kSkip = R"(
plan.module {
  plan.constant @small f32[16] bytes 64 at 0
  plan.constant @w f32[25000] bytes 100000 at 64
  plan.program @main virtual io(in %x "x" f32[5000] : <ram, 20000>, out %y "y" f32[5000] : <ram, 20000>) {
    %small = plan.resident @small : <64>
    %w = plan.resident @w : <100000>
    %a = plan.alloc from "a" : <20000>
    %b = plan.alloc from "b" : <20000>
    %c = plan.alloc from "c" : <20000>
    %d = plan.alloc from "d" : <20000>
    plan.launch "k"<ns = 10>(r %x f32[5000] : <ram, 20000>, r %small f32[16] : <64>, w %a f32[5000] : <20000>) pure from "a"
    plan.launch "k"<ns = 10>(r %a f32[5000] : <20000>, w %b f32[5000] : <20000>) pure from "b"
    plan.launch "k"<ns = 10>(r %b f32[5000] : <20000>, r %w f32[25000] : <100000>, w %c f32[5000] : <20000>) pure from "c"
    plan.launch "k"<ns = 10>(r %c f32[5000] : <20000>, r %w f32[25000] : <100000>, w %d f32[5000] : <20000>) pure from "d"
    plan.launch "k"<ns = 10>(r %a f32[5000] : <20000>, r %d f32[5000] : <20000>, w %y f32[5000] : <ram, 20000>) pure from "y"
    plan.return
  }
}
)";

int bufferNamed(const solver::Problem &problem, std::string_view name) {
  for (size_t b = 0; b < problem.buffers.size(); ++b)
    if (problem.buffers[b].name == name)
      return int(b);
  return -1;
}

TEST_F(TransferPlans, OnlyLargeConstantsOfPureLaunchesAndPlainValuesMayMove) {
  parse(kSkip), extract();
  const solver::Problem &p = extracted->problem;
  EXPECT_TRUE(p.buffers[bufferNamed(p, "w")].movable);
  EXPECT_FALSE(p.buffers[bufferNamed(p, "small")].movable);
  EXPECT_TRUE(p.buffers[bufferNamed(p, "a")].movable);
  EXPECT_FALSE(p.buffers[bufferNamed(p, "x")].movable);
  EXPECT_TRUE(p.levers.spill && p.levers.stream && p.levers.recompute && p.levers.move);
}

TEST_F(TransferPlans, AStepThatRunsAgainIsACloneWithANumber) {
  parse(kSkip), extract();
  Scheduler s(extracted->problem);
  for (int step : {0, 1, 2, 3, 0, 4})
    s.run(step);
  apply(assembled(extracted->problem, s.schedule));
  std::vector<int64_t> instances;
  module->walk([&](LaunchOp launch) {
    if (launch.getSource() == "a")
      instances.push_back(launch.getInstance());
  });
  EXPECT_THAT(instances, testing::ElementsAre(0, 1));
}

/// a is written to the ssd while b is made and read back while d is; the constant is read twice.
solver::Schedule transfers(const solver::Problem &p) {
  Scheduler s(p);
  int a = bufferNamed(p, "a"), w = bufferNamed(p, "w");
  s.stream(w);
  s.run(0);
  int write = s.copy(a, solver::Tier::Ssd);
  int there = s.schedule.actions[write].writes[0], home = s.schedule.actions[write].reads[0];
  // b is still made from the instance in the ram.
  s.run(1);
  s.schedule.actions.back().reads = {home};
  s.wait({write});
  int first = s.copy(w, solver::Tier::Ram);
  s.wait({first});
  s.run(2);
  int again = s.copy(w, solver::Tier::Ram);
  s.schedule.actions[again].reads = s.schedule.actions[first].reads;
  int back = s.copy(a, solver::Tier::Ram);
  s.schedule.actions[back].reads = {there};
  s.wait({again});
  s.run(3);
  s.wait({back});
  s.run(4);
  return s.schedule;
}

TEST_F(TransferPlans, TransfersHaveTokensQueuesAndWaits) {
  parse(kSkip), extract();
  apply(assembled(extracted->problem, transfers(extracted->problem)));
  int reads = 0, writes = 0, fromFile = 0, waits = 0;
  module->walk([&](CopyOp copy) {
    (copy.getQueue()->getKind() == QueueKind::Read ? reads : writes) += 1;
    fromFile += isa_and_present<ResidentOp>(copy.getSrc().getDefiningOp());
    EXPECT_TRUE(copy.getToken());
  });
  module->walk([&](WaitOp) { ++waits; });
  EXPECT_EQ(reads, 3);
  EXPECT_EQ(writes, 1);
  EXPECT_EQ(fromFile, 2);
  EXPECT_EQ(waits, 4);
  // The constant that is kept comes first in the file, the streamed one at the next block; the arena ends between.
  module->walk([&](ConstantOp constant) { EXPECT_EQ(constant.getOffset(), constant.getSymName() == "w" ? 4096 : 0); });
  module->walk([&](ArenaOp arena) {
    if (arena.getKind() == ArenaKind::Persistent) {
      EXPECT_EQ(arena.getBufferType().getBytes(), 64);
    }
  });
}

TEST_F(TransferPlans, EveryWaitThatComesTooLateIsFound) {
  parse(kSkip), extract();
  apply(assembled(extracted->problem, transfers(extracted->problem)));
  const uint32_t count = table->bytes.table()->sections[PLIM_SEC_STEPS].count;
  int waits = 0;
  for (uint32_t at = 0; at < count; ++at) {
    TableBytes bytes = TableBytes::copyOf(table->bytes.data());
    auto *steps = records<plim_t_step>(bytes, PLIM_SEC_STEPS);
    if (steps[at].opcode != PLIM_OP_WAIT)
      continue;
    std::rotate(steps + at, steps + at + 1, steps + count - 1); // right before the end
    EXPECT_THAT(plim::check::checkTable(bytes.table()), testing::Contains(HasSubstr("need a wait for token")));
    ++waits;
  }
  EXPECT_EQ(waits, 4);
}

TEST_F(TransferPlans, EveryDeathThatComesTooEarlyIsFound) {
  parse(kSkip), extract();
  apply(assembled(extracted->problem, transfers(extracted->problem)));
  const uint32_t count = table->bytes.table()->sections[PLIM_SEC_STEPS].count;
  int deaths = 0;
  for (uint32_t at = 0; at < count; ++at) {
    TableBytes bytes = TableBytes::copyOf(table->bytes.data());
    auto *steps = records<plim_t_step>(bytes, PLIM_SEC_STEPS);
    if (steps[at].opcode != PLIM_OP_MARK || !records<plim_t_mark>(bytes, PLIM_SEC_MARKS)[steps[at].record].is_death)
      continue;
    uint32_t before = at; // the step that it stands behind
    while (steps[before].opcode == PLIM_OP_MARK)
      --before;
    std::rotate(steps + before, steps + at, steps + at + 1);
    EXPECT_THAT(plim::check::checkTable(bytes.table()), testing::Not(IsEmpty())) << "step " << at;
    ++deaths;
  }
  EXPECT_GT(deaths, 5);
}

TEST_F(TransferPlans, EveryBufferAtAnotherPlaceIsFound) {
  parse(kSkip), extract();
  apply(assembled(extracted->problem, transfers(extracted->problem)));
  const uint32_t count = table->bytes.table()->sections[PLIM_SEC_COPIES].count;
  for (uint32_t at = 0; at < count; ++at)
    for (bool source : {true, false})
      for (int64_t change : {64, 4096, -64}) {
        TableBytes bytes = TableBytes::copyOf(table->bytes.data());
        const auto &copy = records<plim_t_copy>(bytes, PLIM_SEC_COPIES)[at];
        plim_t_view &view = records<plim_t_view>(bytes, PLIM_SEC_VIEWS)[source ? copy.src : copy.dst];
        if (int64_t(view.offset) + change < 0 || (view.base == PLIM_BASE_CONSTANT_FILE && change % 4096 == 0))
          continue; // other bytes of the file are the runtime's to refuse
        view.offset += uint64_t(change);
        EXPECT_THAT(plim::check::checkTable(bytes.table()), testing::Not(IsEmpty())) << at << " " << change;
      }
}

TEST_F(TransferPlans, ATransferOnTheWrongQueueIsFound) {
  parse(kSkip), extract();
  apply(assembled(extracted->problem, transfers(extracted->problem)));
  const uint32_t count = table->bytes.table()->sections[PLIM_SEC_STEPS].count;
  for (uint32_t at = 0; at < count; ++at) {
    TableBytes bytes = TableBytes::copyOf(table->bytes.data());
    plim_t_step &step = records<plim_t_step>(bytes, PLIM_SEC_STEPS)[at];
    if (step.opcode != PLIM_OP_COPY)
      continue;
    step.queue = step.queue == PLIM_QUEUE_READ ? PLIM_QUEUE_WRITE : PLIM_QUEUE_READ;
    EXPECT_THAT(plim::check::checkTable(bytes.table()), testing::Contains(HasSubstr("the ssd on a queue that")));
  }
}

// b slides down by 64 bytes onto bytes that were a's.
TEST_F(TransferPlans, ABufferSlidesOverBytesOfItself) {
  parse(R"(
plan.module {
  plan.program @main virtual io(in %x "x" f32[1024] : <ram, 4096>, out %y "y" f32[1024] : <ram, 4096>) {
    %a = plan.alloc from "a" : <64>
    %b = plan.alloc from "b" : <4096>
    plan.launch "k"<ns = 10>(r %x f32[1024] : <ram, 4096>, w %a f32[16] : <64>) pure from "a"
    plan.launch "k"<ns = 10>(r %a f32[16] : <64>, w %b f32[1024] : <4096>) pure from "b"
    plan.launch "k"<ns = 10>(r %b f32[1024] : <4096>, w %y f32[1024] : <ram, 4096>) pure from "y"
    plan.return
  }
}
)"),
      extract();
  solver::Problem &p = extracted->problem;
  Scheduler s(p);
  for (int step : {0, 1, 2})
    s.run(step);
  solver::Solution solution = assembled(p, s.schedule);
  // By hand: b at 64 until the copy, at 0 from then on.
  int b = bufferNamed(p, "b"), place = 0;
  while (solution.places[place].buffer != b)
    ++place;
  const int old = solution.places[place].storage;
  solver::Storage slid = solution.storages[old];
  for (solver::Storage &storage : solution.storages)
    if (storage.region == solver::Region::Transient)
      storage.offset = storage.bytes == 64 ? 0 : 64;
  solution.storages[old].death = 3;
  slid.offset = 0, slid.birth = 2, slid.death = 4;
  solution.places.push_back({.buffer = b, .instance = 1, .storage = int(solution.storages.size())});
  solution.storages.push_back(slid);
  const int moved = int(solution.places.size()) - 1;
  solver::Action copy{.kind = solver::ActionKind::Copy};
  copy.reads = {place}, copy.writes = {moved};
  solution.actions.insert(solution.actions.begin() + 2, copy);
  solution.actions[3].reads = {moved};
  for (solver::Storage &storage : solution.storages)
    if (storage.region != solver::Region::Transient)
      storage.death = 4;
  ASSERT_TRUE(succeeded(applySolution(*extracted, solution)));
  ASSERT_TRUE(succeeded(verify(*module)));
  ASSERT_TRUE(succeeded(placeProgram(extracted->program)));
  ASSERT_TRUE(succeeded(verify(*module)));
  FailureOr<EncodedTable> encoded = encodeTable(*module);
  ASSERT_TRUE(succeeded(encoded));
  EXPECT_THAT(plim::check::checkTable(encoded->bytes.table()), IsEmpty());
  // A step between the three, or a copy of something else, is refused.
  const uint32_t count = encoded->bytes.table()->sections[PLIM_SEC_STEPS].count;
  for (uint32_t at = 1; at + 1 < count; ++at) {
    TableBytes bytes = TableBytes::copyOf(encoded->bytes.data());
    auto *steps = records<plim_t_step>(bytes, PLIM_SEC_STEPS);
    if (steps[at].opcode != PLIM_OP_COPY)
      continue;
    for (uint32_t other : {at - 1, at}) {
      std::swap(steps[other], steps[other + 1]);
      EXPECT_THAT(plim::check::checkTable(bytes.table()), testing::Not(IsEmpty()));
      std::swap(steps[other], steps[other + 1]);
    }
    plim_t_step &step = steps[at];
    step.queue = PLIM_QUEUE_STREAM;
    EXPECT_THAT(plim::check::checkTable(bytes.table()), testing::Not(IsEmpty()));
  }
}

} // namespace
