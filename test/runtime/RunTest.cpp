// The walk: every opcode, threads, faults, and what this runtime does not offer.
#include "test/runtime/VectorPlan.h"

#include <bit>
#include <cstring>

using namespace plim::test;

namespace {

using Floats = std::vector<float>;

TEST(Run, ResultsAreBitEqualForEveryNumberOfThreads) {
  std::vector<float> results;
  for (uint32_t threads = 1; threads <= 4; ++threads) {
    TableBuilder b;
    ChainPlan plan(100000);
    plan.tasks = 37;
    plan.arenaBytes = 2 * plan.bytes() + plan.workspace();
    plan.build(b);
    Model model(b);
    Running r(model.model, threads);
    PLIM_OK_OR_FAIL(r.status);
    std::vector<float> x(100000);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = 1.0f / static_cast<float>(i + 1);
    float y;
    plim_bind_input(r.session, PLIM_NONE, "x", x.data(), x.size() * 4, nullptr, 0);
    plim_bind_output(r.session, PLIM_NONE, "y", &y, 4);
    for (int i = 0; i < 200; ++i) {
      PLIM_OK_OR_FAIL(r.run());
      results.push_back(y);
    }
  }
  for (float y : results)
    EXPECT_EQ(std::bit_cast<uint32_t>(y), std::bit_cast<uint32_t>(results[0]));
}

TEST(Run, CopiesAndFillsGiveTokensThatAreWaitedOn) {
  VectorPlan p;
  Live a = p.b.born(p.arena, 0, 16), c = p.b.born(p.arena, 64, 16);
  uint32_t t0 = p.b.token();
  p.b.copy(p.x, a.view, 16, t0);
  float two[] = {2, 2};
  uint64_t pattern;
  memcpy(&pattern, two, 8);
  p.b.fill(c.view, pattern);
  p.b.wait({t0});
  p.b.launch("test.add", {p.b.read(a, p.vector), p.b.read(c, p.vector), p.b.write(p.y, p.vector)});
  p.b.dies(a);
  p.b.dies(c);
  p.b.endProgram();
  EXPECT_EQ(runVector(p.b, {1, 2, 3, 4}), (Floats{3, 4, 5, 6}));
}

TEST(Run, ACopyMayOverlapItself) {
  VectorPlan p(32);
  Live a = p.b.born(p.arena, 0, 192);
  uint32_t low = p.b.view(p.arena, 0, 128), high = p.b.view(p.arena, 64, 128);
  p.b.copy(p.x, low, 128);
  p.b.copy(low, high, 128);
  p.b.copy(high, p.y, 128);
  p.b.dies(a);
  p.b.endProgram();
  Floats x(32);
  for (size_t i = 0; i < 32; ++i)
    x[i] = static_cast<float>(i);
  EXPECT_EQ(runVector(p.b, x), x);
}

TEST(Run, ACopyWhoseHashDiffersIsAnError) {
  VectorPlan p;
  p.b.copy(p.x, p.y, 16, PLIM_NONE, 12345);
  p.b.endProgram();
  runVector(p.b, {1, 2, 3, 4}, PLIM_ERR_IO);
}

TEST(Run, ScalarsFlowFromKernelsLoadsAndEvalsToBranches) {
  for (float first : {0.0f, 7.0f}) {
    VectorPlan p;
    uint32_t count = p.b.scalar(), twice = p.b.scalar(), difference = p.b.scalar(), sum = p.b.scalar();
    LaunchOptions o;
    o.results = {count};
    p.b.launch("test.count", {p.b.read(p.x, p.vector)}, o);
    p.b.eval(EVAL_DOUBLE, {count}, {twice});
    p.b.eval(EVAL_SUM_DIFFERENCE, {twice, twice}, {sum, difference});
    p.b.check(sum, 0, 16, "four times the count");
    p.b.load(p.x, PLIM_I32, 0, difference, INT32_MIN, INT32_MAX); // the bits of x[0]: 0 for 0.0f
    p.b.beginIf(difference);
    p.b.launch("test.scale", {p.b.read(p.x, p.vector), p.b.write(p.y, p.vector)}, {10.0});
    p.b.otherwise();
    p.b.launch("test.scale", {p.b.read(p.x, p.vector), p.b.write(p.y, p.vector)}, {100.0});
    p.b.endIf();
    p.b.endProgram();
    float factor = first == 0 ? 100 : 10;
    EXPECT_EQ(runVector(p.b, {first, 1, 2, 3}), (Floats{first * factor, factor, 2 * factor, 3 * factor}));
  }
}

TEST(Run, ACheckOutsideItsBoundsEndsTheRunWithItsMessage) {
  VectorPlan p;
  uint32_t count = p.b.scalar();
  LaunchOptions o;
  o.results = {count};
  p.b.launch("test.count", {p.b.read(p.x, p.vector)}, o);
  p.b.check(count, 0, 2, "too many elements are set");
  p.b.endProgram();
  runVector(p.b, {1, 2, 3, 0}, PLIM_ERR_BOUND);
  EXPECT_STREQ(plim_last_error()->message, "too many elements are set: 3 is not in [0, 2]");
  EXPECT_EQ(plim_last_error()->need, 2);
  EXPECT_EQ(plim_last_error()->have, 3);
  EXPECT_EQ(plim_last_error()->step, 1u);
}

TEST(Run, ALoopRunsItsTripsAndItsBodysBuffersLiveOncePerTrip) {
  for (int32_t trips : {0, 1, 5}) {
    VectorPlan p;
    uint32_t n = p.b.scalar(), counter = p.b.scalar();
    Live a = p.b.born(p.arena, 0, 16);
    p.b.copy(p.x, a.view, 16);
    p.b.load(p.x, PLIM_I32, 0, n, 0, 5);
    p.b.beginLoop(n, counter, 5);
    Live c = p.b.born(p.arena, 64, 16);
    p.b.launch("test.add", {p.b.read(a, p.vector), p.b.read(a, p.vector), p.b.write(c, p.vector)});
    p.b.copy(c.view, a.view, 16);
    p.b.dies(c);
    p.b.endLoop();
    p.b.copy(a.view, p.y, 16);
    p.b.dies(a);
    p.b.endProgram();
    Floats x = {0, 1, 2, 3};
    memcpy(x.data(), &trips, 4);
    float factor = static_cast<float>(1 << trips);
    EXPECT_EQ(runVector(p.b, x)[2], 2 * factor);
  }
}

TEST(Run, MoreTripsThanPlannedEndTheRun) {
  VectorPlan p;
  uint32_t n = p.b.scalar(), counter = p.b.scalar();
  p.b.load(p.x, PLIM_I32, 0, n, 0, 100);
  p.b.beginLoop(n, counter, 3);
  p.b.copy(p.x, p.y, 16);
  p.b.endLoop();
  p.b.endProgram();
  Floats x = {0, 1, 2, 3};
  int32_t trips = 4;
  memcpy(x.data(), &trips, 4);
  runVector(p.b, x, PLIM_ERR_BOUND);
  trips = 3;
  memcpy(x.data(), &trips, 4);
  EXPECT_EQ(runVector(p.b, x), x);
}

TEST(Run, AConditionEndsALoopEarly) {
  VectorPlan p;
  uint32_t counter = p.b.scalar(), more = p.b.scalar(), one = p.b.scalar(), unused = p.b.scalar();
  // more = (1 - 1) after one trip: starts as the count of x, which is 1.
  LaunchOptions o;
  o.results = {more};
  p.b.launch("test.count", {p.b.read(p.x, p.vector)}, o);
  p.b.eval(EVAL_DOUBLE, {counter}, {one});
  p.b.beginLoop(PLIM_NONE, counter, 1000, more);
  p.b.eval(EVAL_SUM_DIFFERENCE, {more, more}, {unused, more});
  p.b.endLoop();
  p.b.check(counter, 1, 1, "trips");
  p.b.copy(p.x, p.y, 16);
  p.b.endProgram();
  runVector(p.b, {1, 0, 0, 0});
}

TEST(Run, AKernelsCodeIsReportedWithItsStep) {
  VectorPlan p;
  p.b.copy(p.x, p.y, 16);
  p.b.launch("test.fail", {p.b.read(p.x, p.vector), p.b.write(p.y, p.vector)}, {42.0});
  p.b.endProgram();
  runVector(p.b, {1, 2, 3, 4}, PLIM_ERR_KERNEL);
  EXPECT_EQ(plim_last_error()->code, 42);
  EXPECT_EQ(plim_last_error()->step, 1u);
  EXPECT_STREQ(plim_last_error()->where, "program forward, step 1");
}

TEST(Run, ATableThatNamesAnotherQueueIsRefusedByName) {
  VectorPlan p;
  LaunchOptions o;
  o.attrs = {1.0};
  o.queue = PLIM_QUEUE_STREAM | 2 << 4;
  p.b.launch("test.scale", {p.b.read(p.x, p.vector), p.b.write(p.y, p.vector)}, o);
  p.b.endProgram();
  Model model(p.b);
  Running r(model.model);
  EXPECT_EQ(r.status, PLIM_ERR_UNSUPPORTED);
  EXPECT_STREQ(plim_last_error()->message, "queue stream:2 is not offered by this runtime, which has: cpu:0, and for "
                                           "copies read:0, write:0");
}

TEST(Run, ATableThatNamesAnotherTierIsRefusedByName) {
  TableBuilder b;
  uint32_t arena = b.arena(PLIM_TRANSIENT, 4096, PLIM_GPU), vector = b.shape({4});
  b.beginVariant("only");
  b.beginProgram("forward");
  uint32_t x = b.ioView(b.input("x", vector));
  Live a = b.born(arena, 0, 16);
  b.copy(x, a.view, 16);
  b.dies(a);
  b.endProgram();
  Model model(b);
  Running r(model.model);
  EXPECT_EQ(r.status, PLIM_ERR_UNSUPPORTED);
  EXPECT_STREQ(plim_last_error()->message, "tier gpu is not offered by this runtime, which has: ram, ssd");
}

TEST(Run, AKernelForHigherCpusAndACappedLevelAreRefused) {
  VectorPlan p;
  p.b.launch("test.wide", {p.b.read(p.x, p.vector), p.b.write(p.y, p.vector)}, {1.0});
  p.b.endProgram();
  Model model(p.b);
  ASSERT_EQ(setenv("PLIM_ISA", "v3", 1), 0);
  Running capped(model.model);
  EXPECT_EQ(capped.status, PLIM_ERR_CPU);
  EXPECT_EQ(plim_last_error()->need, PLIM_ISA_V4);
  ASSERT_EQ(setenv("PLIM_ISA", "base", 1), 0);
  EXPECT_EQ(plim_cpu_isa(), PLIM_ISA_BASE);
  VectorPlan q;
  q.b.isaMin = PLIM_ISA_V3;
  q.b.copy(q.x, q.y, 16);
  q.b.endProgram();
  Model needsV3(q.b);
  Running refused(needsV3.model);
  EXPECT_EQ(refused.status, PLIM_ERR_CPU);
  EXPECT_STREQ(plim_last_error()->message, "the model needs x86-64-v3, this CPU (or PLIM_ISA) offers x86-64-v1");
  ASSERT_EQ(setenv("PLIM_ISA", "v5", 1), 0);
  Running misspelt(needsV3.model);
  EXPECT_EQ(misspelt.status, PLIM_ERR_CPU);
  EXPECT_STREQ(plim_last_error()->message, "need base, v3 or v4, have 'v5'");
  unsetenv("PLIM_ISA");
}

} // namespace
