// Runs that are watched and shared: progress, cancel, trace, sessions.
#include "test/runtime/VectorPlan.h"

#include <atomic>
#include <thread>

using namespace plim::test;

namespace {

/// Binds x[4] and y[4].
void bindFour(plim_session *session, float *x, float *y) {
  EXPECT_EQ(plim_bind_input(session, PLIM_NONE, "x", x, 16, nullptr, 0), PLIM_OK) << lastError();
  EXPECT_EQ(plim_bind_output(session, PLIM_NONE, "y", y, 16), PLIM_OK) << lastError();
}

TEST(RunControl, ProgressSeesEveryStepAndCanCancel) {
  VectorPlan p;
  for (int i = 0; i < 5; ++i)
    p.b.copy(p.x, p.y, 16);
  p.b.endProgram();
  struct Seen {
    std::vector<uint32_t> steps;
    uint32_t stopAt;
  } seen = {{}, PLIM_NONE};
  plim_run_options options = {};
  options.progress_data = &seen;
  options.progress = [](void *data, uint32_t step, uint32_t steps) {
    EXPECT_EQ(steps, 6u);
    auto &s = *static_cast<Seen *>(data);
    s.steps.push_back(step);
    return static_cast<int32_t>(step == s.stopAt);
  };
  runVector(p.b, {1, 2, 3, 4}, PLIM_OK, &options);
  EXPECT_EQ(seen.steps, (std::vector<uint32_t>{0, 1, 2, 3, 4, 5}));
  seen = {{}, 3};
  runVector(p.b, {1, 2, 3, 4}, PLIM_ERR_CANCELLED, &options);
  EXPECT_EQ(plim_last_error()->step, 3u);
}

TEST(RunControl, CancelFromAnotherThreadStopsALongRunAndTheSessionRunsAgain) {
  VectorPlan p;
  uint32_t counter = p.b.scalar();
  p.b.beginLoop(PLIM_NONE, counter, uint64_t(1) << 40);
  p.b.copy(p.x, p.y, 16);
  p.b.endLoop();
  p.b.endProgram();
  Model model(p.b);
  Running r(model.model);
  PLIM_OK_OR_FAIL(r.status);
  float x[4] = {}, y[4];
  bindFour(r.session, x, y);
  for (int i = 0; i < 2; ++i) {
    std::atomic<bool> begun = false;
    plim_run_options options = {};
    options.progress_data = &begun;
    options.progress = [](void *data, uint32_t, uint32_t) {
      auto &flag = *static_cast<std::atomic<bool> *>(data);
      flag = true;
      flag.notify_one();
      return 0;
    };
    std::thread other([&] {
      begun.wait(false);
      plim_cancel(r.session);
    });
    EXPECT_EQ(r.run(&options), PLIM_ERR_CANCELLED);
    other.join();
  }
}

TEST(RunControl, ASessionInUseRefusesASecondRun) {
  VectorPlan p;
  p.b.copy(p.x, p.y, 16);
  p.b.endProgram();
  Model model(p.b);
  Running r(model.model);
  PLIM_OK_OR_FAIL(r.status);
  float x[4] = {}, y[4];
  bindFour(r.session, x, y);
  plim_run_options options = {};
  options.progress_data = &r;
  options.progress = [](void *data, uint32_t, uint32_t) {
    auto &running = *static_cast<Running *>(data);
    plim_status other = PLIM_OK;
    std::thread([&] { other = running.run(); }).join();
    EXPECT_EQ(other, PLIM_ERR_BUSY);
    return 0;
  };
  PLIM_OK_OR_FAIL(r.run(&options));
}

TEST(RunControl, TheTraceHasEveryTaskOfEveryLaunchOnce) {
  TableBuilder b;
  ChainPlan plan(65536);
  plan.build(b);
  Model model(b);
  Running r(model.model, 4);
  PLIM_OK_OR_FAIL(r.status);
  std::vector<float> x(65536, 1);
  float y;
  plim_bind_input(r.session, PLIM_NONE, "x", x.data(), x.size() * 4, nullptr, 0);
  plim_bind_output(r.session, PLIM_NONE, "y", &y, 4);
  std::vector<plim_trace_event> ring(256);
  plim_trace trace = {ring.data(), ring.size(), 0};
  plim_run_options options = {};
  options.trace = &trace;
  PLIM_OK_OR_FAIL(r.run(&options));
  ASSERT_LE(trace.written, ring.size());
  uint32_t tasks = 0;
  for (uint64_t i = 0; i < trace.written; ++i) {
    tasks += ring[i].last_task - ring[i].first_task;
    EXPECT_LE(ring[i].begin_ns, ring[i].end_ns);
    EXPECT_LT(ring[i].worker, 4);
  }
  EXPECT_EQ(tasks, 4 * plan.tasks); // scale, add, and two phases of sum
}

TEST(RunControl, ATooSmallTraceRingKeepsTheLastEvents) {
  VectorPlan p;
  for (int i = 0; i < 10; ++i)
    p.b.copy(p.x, p.y, 16);
  p.b.endProgram();
  plim_trace_event ring[4];
  plim_trace trace = {ring, 4, 0};
  plim_run_options options = {};
  options.trace = &trace;
  runVector(p.b, {1, 2, 3, 4}, PLIM_OK, &options);
  EXPECT_EQ(trace.written, 10u);
  for (uint64_t i = 6; i < 10; ++i)
    EXPECT_EQ(ring[i % 4].step, i);
}

TEST(RunControl, TwoSessionsTakeTurnsOnOneContext) {
  VectorPlan p;
  Live a = p.b.born(p.arena, 0, 16);
  p.b.launch("test.scale", {p.b.read(p.x, p.vector), p.b.write(a, p.vector)}, {3.0});
  p.b.copy(a.view, p.y, 16);
  p.b.dies(a);
  p.b.endProgram();
  Model model(p.b);
  Running r(model.model);
  PLIM_OK_OR_FAIL(r.status);
  plim_session *second;
  PLIM_OK_OR_FAIL(plim_session_create(r.weights, r.scope, nullptr, &second));
  float x1[4] = {1, 1, 1, 1}, y1[4], x2[4] = {2, 2, 2, 2}, y2[4];
  bindFour(r.session, x1, y1);
  bindFour(second, x2, y2);
  for (int i = 0; i < 3; ++i) {
    PLIM_OK_OR_FAIL(r.run());
    PLIM_OK_OR_FAIL(plim_run(second, r.context, PLIM_NONE, nullptr));
    EXPECT_EQ(y1[3], 3);
    EXPECT_EQ(y2[3], 6);
  }
  plim_session_destroy(second);
}

} // namespace
