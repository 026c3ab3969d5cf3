// Programs whose buffers go to the ssd and whose constants are streamed, by each way of I/O.
#include "runtime/io/io_fault.h"
#include "test/runtime/SsdPlan.h"

#include <atomic>

using namespace plim::test;
using namespace plim::rt;

namespace {

const uint32_t allWays[] = {PLIM_IO_ANY, PLIM_IO_REGISTERED, PLIM_IO_URING, PLIM_IO_THREADS};

plim_context_options by(uint32_t way) {
  plim_context_options o = {};
  o.io_way = way;
  return o;
}

plim_context_options in(const Folder &folder) {
  plim_context_options o = {};
  o.spill_folder = folder.path.c_str();
  return o;
}

/// A program with input x and output y of four floats, bound, with a spill folder of its own.
struct FourFloats {
  explicit FourFloats(TableBuilder &b) : model(b), r(model.model, 1, nullptr, nullptr, nullptr, in(folder)) {
    if (r.status)
      return;
    plim_bind_input(r.session, PLIM_NONE, "x", x.data(), 16, nullptr, 0);
    plim_bind_output(r.session, PLIM_NONE, "y", y.data(), 16);
  }
  plim_status runPoisoned() {
    plim_run_options options = {};
    options.flags = PLIM_RUN_POISON;
    return r.run(&options);
  }
  Folder folder;
  Model model;
  Running r;
  std::vector<float> x = {1, 2, 3, 4}, y = std::vector<float>(4);
};

TEST(Spill, ResultsAreTheSameByEveryWayAndDepthAndFiguresEqualThePlan) {
  for (uint32_t way : allWays)
    for (uint32_t depth : {0u, 1u, 3u, 32u, 1000u})
      for (int64_t n : {1, 1024, 3000, 700000}) {
        if (n > 3000 && depth != 3)
          continue;
        SsdPlan plan;
        plan.depth = depth;
        plan.n = n;
        SsdRun r(plan, by(way));
        PLIM_OK_OR_FAIL(r.running->status);
        for (uint32_t flags :
             {0u, 0u, uint32_t(PLIM_RUN_POISON), uint32_t(PLIM_RUN_POISON), uint32_t(PLIM_RUN_RED_ZONES)}) {
          PLIM_OK_OR_FAIL(r.run(flags)) << way << " " << depth << " " << n;
          EXPECT_TRUE(r.right()) << way << " " << depth << " " << n;
        }
        plim_usage u = r.usage();
        for (plim_tier tier : {PLIM_RAM, PLIM_SSD}) {
          EXPECT_EQ(u.reserved[tier], u.planned[tier]);
          EXPECT_EQ(u.live[tier], u.live_planned[tier]);
          EXPECT_EQ(u.touched[tier], u.touched_planned[tier]);
        }
        EXPECT_EQ(u.reserved[PLIM_SSD], plan.spill());
        EXPECT_GE(u.io_way, way) << "a way falls to the next one only";
        EXPECT_EQ(u.transfers, plan.transfers());
        EXPECT_EQ(u.bytes_read, (plan.rounds + 1) * plan.bytes());
        EXPECT_EQ(u.bytes_written, plan.rounds * plan.bytes());
      }
}

TEST(Spill, BuffersWithRoomForWholeBlocksAreTouchedAsPlanned) {
  for (int64_t n : {1, 1024, 3000}) {
    SsdPlan plan;
    plan.n = n;
    plan.padded = true;
    SsdRun r(plan);
    PLIM_OK_OR_FAIL(r.running->status);
    for (int i = 0; i < 2; ++i) {
      PLIM_OK_OR_FAIL(r.run(PLIM_RUN_POISON));
      EXPECT_TRUE(r.right());
    }
    plim_usage u = r.usage();
    for (plim_tier tier : {PLIM_RAM, PLIM_SSD}) {
      EXPECT_EQ(u.live[tier], u.live_planned[tier]);
      EXPECT_EQ(u.touched[tier], u.touched_planned[tier]) << n << " " << tier;
    }
  }
}

TEST(Spill, ProgramsThatTakeTurnsShareOneFileOfTheLargest) {
  SsdPlan small, large;
  small.stream = large.stream = false;
  large.rounds = 5;
  TableBuilder b;
  b.beginVariant("only");
  small.buildProgram(b, "small");
  large.buildProgram(b, "large");
  Model model(b);
  Folder folder;
  Running r(model.model, 1, nullptr, nullptr, nullptr, in(folder));
  PLIM_OK_OR_FAIL(r.status);
  std::vector<float> x(3000, 1), y(3000);
  for (int turn = 0; turn < 3; ++turn)
    for (uint32_t program : {0u, 1u}) {
      plim_bind_input(r.session, program, "x", x.data(), x.size() * 4, nullptr, 0);
      plim_bind_output(r.session, program, "y", y.data(), y.size() * 4);
      PLIM_OK_OR_FAIL(r.run(nullptr, program));
      EXPECT_EQ(y, std::vector<float>(3000, program ? 2.0f + 3 + 4 + 5 + 6 : 2.0f + 3 + 4));
      plim_usage u = r.usage(program);
      EXPECT_EQ(u.planned[PLIM_SSD], large.spill());
      EXPECT_EQ(u.reserved[PLIM_SSD], large.spill());
      EXPECT_EQ(u.reserved[PLIM_RAM], u.planned[PLIM_RAM]);
      EXPECT_EQ(u.live[PLIM_SSD], u.live_planned[PLIM_SSD]);
    }
}

TEST(Spill, NothingIsLeftInTheFolder) {
  SsdPlan plan;
  plan.stream = false;
  Folder folder;
  {
    SsdRun r(plan, in(folder));
    PLIM_OK_OR_FAIL(r.running->status);
    PLIM_OK_OR_FAIL(r.run());
    EXPECT_EQ(folder.entries(), 0u) << "the file has no name";
  }
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(Spill, AKernelThatReadsATargetInFlightSeesPoison) {
  // y = b before the wait, then after it.
  for (bool early : {true, false}) {
    TableBuilder b;
    uint32_t arena = b.arena(PLIM_TRANSIENT, 2 * PLIM_PAGE), ssd = b.arena(PLIM_TRANSIENT, PLIM_PAGE, PLIM_SSD);
    uint32_t four = b.shape({4});
    b.beginVariant("only");
    b.beginProgram("forward");
    uint32_t x = b.ioView(b.input("x", four)), y = b.ioView(b.output("y", four));
    uint32_t written = b.token(), arrived = b.token();
    Live a = b.born(arena, 0, 16), s = b.born(ssd, 0, 16), back = b.born(arena, PLIM_PAGE, 16);
    b.launch("test.scale", {b.read(x, four), b.write(a, four)}, {1.0});
    b.copy(a.view, s.view, 16, written, 0, PLIM_QUEUE_WRITE);
    b.wait({written});
    b.copy(a.view, back.view, 16); // so that the right bytes are there already, but for the poison
    b.copy(s.view, back.view, 16, arrived, 0, PLIM_QUEUE_READ);
    if (!early)
      b.wait({arrived});
    b.launch("test.scale", {b.read(back, four), b.write(y, four)}, {1.0});
    if (early)
      b.wait({arrived});
    b.dies(a);
    b.dies(s);
    b.dies(back);
    b.endProgram();
    FourFloats f(b);
    PLIM_OK_OR_FAIL(f.r.status);
    for (int i = 0; i < 2; ++i) {
      PLIM_OK_OR_FAIL(f.runPoisoned());
      EXPECT_EQ(f.y == f.x, !early);
    }
  }
}

TEST(Spill, StepsRunWhileATransferIsInFlight) {
  // The transfer does not end before the walk has come to the wait, two steps behind the copy.
  for (uint32_t way : {uint32_t(PLIM_IO_ANY), uint32_t(PLIM_IO_THREADS)}) {
    SsdRun r(SsdPlan(), by(way));
    PLIM_OK_OR_FAIL(r.running->status);
    struct Gate {
      const plim_t_step *steps;
      std::atomic<bool> open{false}, late{false};
    } gate = {static_cast<const plim_t_step *>(plim_table_section(r.model->table.get(), PLIM_SEC_STEPS))};
    setIoFault(
        [](void *data, const IoEvent &e, int64_t result) {
          auto &g = *static_cast<Gate *>(data);
          for (int i = 0; e.call == IoCall::write && !g.open && i < 20000; ++i)
            usleep(500);
          g.late = g.late || (e.call == IoCall::write && !g.open);
          return result;
        },
        &gate);
    plim_run_options options = {};
    options.progress_data = &gate;
    options.progress = [](void *data, uint32_t step, uint32_t) {
      auto &g = *static_cast<Gate *>(data);
      g.open = g.open || g.steps[step].opcode == PLIM_OP_WAIT;
      return 0;
    };
    plim_status st = r.running->run(&options);
    setIoFault(nullptr, nullptr);
    EXPECT_EQ(st, PLIM_OK) << lastError();
    EXPECT_FALSE(gate.late) << "the copy held the walk";
    EXPECT_TRUE(r.right());
  }
}

TEST(Spill, ALargeTransferKeepsAsManyPiecesInFlightAsTheDepth) {
  SsdPlan plan;
  plan.n = 2 << 20; // 8 pieces
  plan.depth = 3;
  SsdRun r(plan, by(PLIM_IO_THREADS));
  PLIM_OK_OR_FAIL(r.running->status);
  static std::atomic<int> now, most;
  now = most = 0;
  setIoFault(
      [](void *, const IoEvent &, int64_t result) {
        int in = ++now, before = most;
        while (in > before && !most.compare_exchange_weak(before, in))
          ;
        for (int i = 0; most < 3 && i < 20000; ++i) // a thread may come late where others have the cores
          usleep(500);
        usleep(2000);
        --now;
        return result;
      },
      nullptr);
  plim_status st = r.run();
  setIoFault(nullptr, nullptr);
  EXPECT_EQ(st, PLIM_OK) << lastError();
  EXPECT_EQ(most, 3);
}

TEST(Spill, ASourceThatChangesWhileItIsWrittenIsNotWhatComesBackInAPoisonRun) {
  TableBuilder b;
  uint32_t arena = b.arena(PLIM_TRANSIENT, PLIM_PAGE), ssd = b.arena(PLIM_TRANSIENT, PLIM_PAGE, PLIM_SSD);
  uint32_t four = b.shape({4});
  b.beginVariant("only");
  b.beginProgram("forward");
  uint32_t x = b.ioView(b.input("x", four)), y = b.ioView(b.output("y", four));
  uint32_t written = b.token();
  Live a = b.born(arena, 0, 16), s = b.born(ssd, 0, 16);
  b.launch("test.scale", {b.read(x, four), b.write(a, four)}, {1.0});
  b.copy(a.view, s.view, 16, written, 0, PLIM_QUEUE_WRITE);
  b.launch("test.scale", {b.read(x, four), b.write(a, four)}, {9.0});
  b.wait({written});
  b.copy(s.view, a.view, 16); // on the cpu's queue: done when the next step starts
  b.launch("test.scale", {b.read(a, four), b.write(y, four)}, {1.0});
  b.dies(a);
  b.dies(s);
  b.endProgram();
  FourFloats f(b);
  PLIM_OK_OR_FAIL(f.r.status);
  PLIM_OK_OR_FAIL(f.runPoisoned());
  EXPECT_EQ(f.y, (std::vector<float>{9, 18, 27, 36}));
}

/// x goes to [64, 4160), slides down to 0 and up to 128, and out; with a step between COPY and death where `late`.
void slide(bool late, bool &right) {
  TableBuilder b;
  constexpr uint64_t bytes = 4096;
  uint32_t arena = b.arena(PLIM_TRANSIENT, bytes + 128), vector = b.shape({bytes / 4}), one = b.shape({1});
  b.beginVariant("only");
  b.beginProgram("forward");
  uint32_t x = b.ioView(b.input("x", vector)), y = b.ioView(b.output("y", vector));
  uint32_t z = b.ioView(b.output("z", one));
  Live first = b.born(arena, 64, bytes);
  b.launch("test.scale", {b.read(x, vector), b.write(first, vector)}, {1.0});
  Live down = b.born(arena, 0, bytes);
  b.copy(first.view, down.view, bytes);
  if (late)
    b.launch("test.scale", {b.read(x, one), b.write(z, one)}, {1.0});
  b.dies(first);
  Live up = b.born(arena, 128, bytes);
  b.copy(down.view, up.view, bytes);
  b.dies(down);
  b.launch("test.scale", {b.read(up, vector), b.write(y, vector)}, {1.0});
  b.dies(up);
  b.copy(x, z, 4);
  b.endProgram();
  Model model(b);
  Running r(model.model);
  PLIM_OK_OR_FAIL(r.status);
  std::vector<float> in(bytes / 4), out(bytes / 4);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<float>(i);
  float last;
  plim_bind_input(r.session, PLIM_NONE, "x", in.data(), bytes, nullptr, 0);
  plim_bind_output(r.session, PLIM_NONE, "y", out.data(), bytes);
  plim_bind_output(r.session, PLIM_NONE, "z", &last, 4);
  plim_run_options options = {};
  options.flags = PLIM_RUN_POISON | PLIM_RUN_RED_ZONES;
  right = true;
  for (int i = 0; i < 2; ++i) {
    PLIM_OK_OR_FAIL(r.run(&options));
    right &= out == in;
  }
  EXPECT_EQ(r.usage().touched[PLIM_RAM], r.usage().touched_planned[PLIM_RAM]);
}

TEST(Spill, BirthAndDeathOfASlideLeaveTheBytesThatTheTwoBuffersShare) {
  bool right;
  slide(false, right);
  EXPECT_TRUE(right);
  slide(true, right);
  EXPECT_FALSE(right) << "a step between the copy and the death: no slide, and the death poisons what it shared";
}

TEST(Spill, TheTraceShowsTransfersOnQueuesOfTheirOwnBesideTheSteps) {
  SsdRun r((SsdPlan()));
  PLIM_OK_OR_FAIL(r.running->status);
  std::vector<plim_trace_event> ring(256);
  plim_trace trace = {ring.data(), ring.size(), 0};
  PLIM_OK_OR_FAIL(r.run(0, &trace));
  uint32_t reads = 0, writes = 0;
  auto *steps = static_cast<const plim_t_step *>(plim_table_section(r.model->table.get(), PLIM_SEC_STEPS));
  for (uint64_t i = 0; i < trace.written; ++i) {
    const plim_trace_event &e = ring[i];
    if (e.worker < PLIM_TRACE_READ)
      continue;
    (e.worker == PLIM_TRACE_READ ? reads : writes)++;
    EXPECT_EQ(steps[e.step].opcode, PLIM_OP_COPY);
    EXPECT_EQ(steps[e.step].queue, e.worker == PLIM_TRACE_READ ? PLIM_QUEUE_READ : PLIM_QUEUE_WRITE);
    EXPECT_LT(e.begin_ns, e.end_ns);
  }
  EXPECT_EQ(reads, 4u);
  EXPECT_EQ(writes, 3u);
  EXPECT_GT(r.usage().stall_ns, 0u);
}

TEST(Spill, WhatTheTableSaysAboutTheSsdButNoRuntimeOffersIsRefusedByName) {
  auto refused = [](auto build) {
    TableBuilder b;
    uint32_t arena = b.arena(PLIM_TRANSIENT, 2 * PLIM_PAGE), ssd = b.arena(PLIM_TRANSIENT, 2 * PLIM_PAGE, PLIM_SSD);
    uint32_t four = b.shape({4});
    b.beginVariant("only");
    b.beginProgram("forward");
    uint32_t x = b.ioView(b.input("x", four));
    build(b, x, b.view(arena, 0, 4096), b.view(arena, 64, 64), b.view(ssd, 0, 4096), b.view(ssd, 64, 64));
    b.endProgram();
    Model model(b);
    Running r(model.model);
    EXPECT_EQ(r.status, PLIM_ERR_UNSUPPORTED) << lastError();
    return std::string(plim_last_error()->message);
  };
  using B = TableBuilder &;
  EXPECT_EQ(refused([](B b, uint32_t x, uint32_t, uint32_t, uint32_t s, uint32_t) { b.copy(x, s, 16); }),
            "a copy between the ssd and an input or output, which is not offered by this runtime");
  EXPECT_EQ(refused([](B b, uint32_t, uint32_t, uint32_t, uint32_t s, uint32_t u) { b.copy(s, u, 16); }),
            "a copy goes from the ssd to the ssd, which is not offered by this runtime");
  for (bool far : {false, true})
    EXPECT_EQ(
        refused([=](B b, uint32_t, uint32_t r, uint32_t v, uint32_t s, uint32_t u) {
          b.copy(far ? r : v, far ? u : s, 16);
        }),
        "a copy between the ssd and the ram at an offset that is no multiple of 4096, which is not offered by this "
        "runtime");
  EXPECT_EQ(refused([](B b, uint32_t, uint32_t r, uint32_t, uint32_t s, uint32_t) {
              b.copy(r, s, 16, PLIM_NONE, 0, PLIM_QUEUE_READ);
            }),
            "a copy from the ssd runs on queue read:0, one to it on write:0, which is not offered by this runtime");
  EXPECT_EQ(refused([](B b, uint32_t, uint32_t r, uint32_t v, uint32_t, uint32_t) {
              b.copy(r, v, 16, PLIM_NONE, 0, PLIM_QUEUE_READ);
            }),
            "a copy inside the ram runs on queue cpu:0, which is not offered by this runtime");
  EXPECT_EQ(refused([](B b, uint32_t, uint32_t, uint32_t, uint32_t s, uint32_t) { b.fill(s, 1); }),
            "a step other than a copy works on the ssd, which is not offered by this runtime");
}

} // namespace
