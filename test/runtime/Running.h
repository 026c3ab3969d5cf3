// The three objects of a run, made and destroyed together, and plans that several tests share.
#ifndef PLIM_TEST_RUNTIME_RUNNING_H
#define PLIM_TEST_RUNTIME_RUNNING_H

#include "test/runtime/RunObjects.h"
#include "test/runtime/TestKernels.h"

#include "plim/plim.h"

#include <gtest/gtest.h>
#include <string>

namespace plim::test {

#define PLIM_OK_OR_FAIL(call) ASSERT_EQ(call, PLIM_OK) << ::plim::test::lastError()

struct Running : RunObjects {
  Running(const plim_model &model, uint32_t threads = 1, const char *weightsPath = nullptr,
          const char *program = nullptr, const char *variant = nullptr, plim_context_options options = {}) {
    status = plim_find(&model, program, variant, &scope);
    if (!status)
      status = plim_weights_create(&model, scope, weightsPath, nullptr, &weights);
    options.threads = threads;
    if (!status)
      status = plim_context_create(weights, scope, &options, &context);
    if (!status)
      status = plim_session_create(weights, scope, nullptr, &session);
  }
  plim_status run(const plim_run_options *options = nullptr, uint32_t program = PLIM_NONE) {
    return plim_run(session, context, program, options);
  }
  plim_usage usage(uint32_t program = PLIM_NONE) {
    plim_usage u = {};
    EXPECT_EQ(plim_usage_of(session, context, program, &u), PLIM_OK) << lastError();
    return u;
  }
  plim_status status = PLIM_OK;
  plim_scope scope = {};
};

/// y[1] = sum(2 x + 2 x) over x[n], with a two-phase kernel that has shared and per-worker workspace.
/// Offsets and sizes are arguments so that tests can get them wrong.
struct ChainPlan {
  int64_t n = 4096;
  uint32_t tasks = 8;
  uint64_t secondOffset; // of the second buffer
  uint64_t arenaBytes;
  const char *scaleKernel = "test.scale";

  explicit ChainPlan(int64_t n = 4096, uint32_t tasks = 8)
      : n(n), tasks(tasks), secondOffset(bytes()), arenaBytes(2 * bytes() + workspace()) {}
  uint64_t bytes() const { return static_cast<uint64_t>(n) * 4; }
  uint64_t shared() const { return tasks * 64; }
  uint64_t workspace() const { return shared() + (tasks < 4 ? tasks : 4) * 256; }

  void build(TableBuilder &b) const {
    uint32_t arena = b.arena(PLIM_TRANSIENT, arenaBytes);
    uint32_t vector = b.shape({n}), one = b.shape({1});
    b.beginVariant("only");
    b.beginProgram("forward");
    uint32_t x = b.ioView(b.input("x", vector)), y = b.ioView(b.output("y", one));
    LaunchOptions o;
    o.tasks = tasks;
    o.attrs = {2.0};
    Live a = b.born(arena, 0, bytes(), "a");
    b.launch(scaleKernel, {b.read(x, vector), b.write(a, vector)}, o);
    Live c = b.born(arena, secondOffset, bytes(), "c");
    b.launch("test.add", {b.read(a, vector), b.read(a, vector), b.write(c, vector)}, o);
    b.dies(a);
    LaunchOptions s;
    s.tasks = tasks;
    s.workspaceArena = arena;
    s.workspaceOffset = 2 * bytes();
    s.shared = shared();
    s.scratch = 256;
    b.launch("test.sum", {b.read(c, vector), b.write(y, one)}, s);
    b.dies(c);
    b.endProgram();
  }
};

} // namespace plim::test

#endif
