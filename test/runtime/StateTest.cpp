// States: they last from run to run, reach a file and come back, and a failure that tears them is said.
#include "test/runtime/Running.h"

#include "plim/weights.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace plim::test;

namespace {

/// sum += x (a durable state), seen = x (not durable); y = sum. Two programs: "step" does this, "peek" only reads sum.
struct CounterPlan {
  TableBuilder b;
  /// With shared homes both variants keep the states at the same place.
  explicit CounterPlan(bool sharedHomes = false) {
    uint32_t states = 0;
    for (const char *variant : {"fast", "small"}) {
      bool fast = variant[0] == 'f';
      if (fast || !sharedHomes)
        states = b.arena(PLIM_PERSISTENT, fast ? 8192 : 4096);
      uint32_t scratch = b.arena(PLIM_TRANSIENT, fast ? 8192 : 4096);
      uint32_t four = b.shape({4});
      if (fast) {
        sum = b.state("sum", four, 16);
        seen = b.state("seen", four, 16, PLIM_NONE, 0);
      }
      b.beginVariant(variant);
      uint64_t at = fast || sharedHomes ? 4096 : 64;
      b.beginProgram("step");
      uint32_t home = b.resident(true, sum, states, at, 16), other = b.resident(true, seen, states, 0, 16);
      uint32_t x = b.ioView(b.input("x", four)), y = b.ioView(b.output("y", four));
      Live a = b.born(scratch, 0, 16);
      b.launch("test.add", {b.read(home, four), b.read(x, four), b.write(a, four)});
      b.commit();
      b.copy(a.view, home, 16);
      b.copy(x, other, 16);
      b.copy(home, y, 16);
      b.dies(a);
      b.endProgram();
      b.beginProgram("peek");
      b.resident(true, sum, states, at, 16);
      uint32_t state = b.ioView(b.input("sum", four, sum)), out = b.ioView(b.output("y", four));
      b.copy(state, out, 16);
      b.endProgram();
    }
  }
  uint32_t sum = 0, seen = 0;
};

struct Counter {
  explicit Counter(const Model &model, const char *variant = nullptr) : r(model.model, 1, nullptr, nullptr, variant) {
    EXPECT_EQ(r.status, PLIM_OK) << lastError();
    const plim_t_variant &v =
        const_cast<Table &>(model.table).record<plim_t_variant>(PLIM_SEC_VARIANTS, r.scope.variant);
    stepProgram = v.first_program;
    peekProgram = v.first_program + 1;
    EXPECT_EQ(plim_bind_input(r.session, stepProgram, "x", x, 16, nullptr, 0), PLIM_OK) << lastError();
    EXPECT_EQ(plim_bind_output(r.session, stepProgram, "y", y, 16), PLIM_OK) << lastError();
    EXPECT_EQ(plim_bind_output(r.session, peekProgram, "y", y, 16), PLIM_OK) << lastError();
  }
  plim_status step(float value, const plim_run_options *options = nullptr) {
    for (float &v : x)
      v = value;
    return r.run(options, stepProgram);
  }
  float peek() {
    EXPECT_EQ(r.run(nullptr, peekProgram), PLIM_OK) << lastError();
    return y[0];
  }
  float x[4] = {}, y[4] = {};
  Running r;
  uint32_t stepProgram, peekProgram;
};

struct TemporaryFile {
  std::string path = "/tmp/plim-state-test-" + std::to_string(getpid());
  ~TemporaryFile() { std::filesystem::remove(path); }
};

TEST(State, ProgramsOfAVariantShareStatesAndReserveWhatTheVariantPlans) {
  CounterPlan plan;
  Model model(plan.b);
  Counter c(model);
  PLIM_OK_OR_FAIL(c.step(1));
  PLIM_OK_OR_FAIL(c.step(2));
  EXPECT_EQ(c.peek(), 3);
  plim_usage u = c.r.usage(c.stepProgram);
  EXPECT_EQ(u.reserved[PLIM_RAM], u.planned[PLIM_RAM]);
  EXPECT_EQ(u.live[PLIM_RAM], u.live_planned[PLIM_RAM]);
  EXPECT_EQ(u.runs, 2u);
  uint64_t planned, measured;
  PLIM_OK_OR_FAIL(plim_arena_touched(c.r.session, c.r.context, c.stepProgram, 0, &planned, &measured));
  EXPECT_EQ(planned, 4112u);
  EXPECT_EQ(measured, planned);
  PLIM_OK_OR_FAIL(plim_state_reset(c.r.session));
  EXPECT_EQ(c.peek(), 0);
}

TEST(State, AStateIsNotBound) {
  CounterPlan plan;
  Model model(plan.b);
  Counter c(model);
  EXPECT_EQ(plim_bind_input(c.r.session, c.peekProgram, "sum", c.x, 16, nullptr, 0), PLIM_ERR_ARG);
  void *data;
  uint64_t bytes;
  PLIM_OK_OR_FAIL(plim_state_data(c.r.session, "sum", &data, &bytes));
  EXPECT_EQ(bytes, 16u);
  static_cast<float *>(data)[0] = 42;
  EXPECT_EQ(c.peek(), 42);
  EXPECT_EQ(plim_state_data(c.r.session, "nothing", &data, &bytes), PLIM_ERR_ARG);
  EXPECT_STREQ(plim_last_error()->message, "no such state; there is: sum, seen");
}

TEST(State, AFileCarriesDurableStatesToAnotherSessionOfAnyVariant) {
  CounterPlan plan;
  Model model(plan.b);
  Counter c(model);
  TemporaryFile file;
  PLIM_OK_OR_FAIL(c.step(5));
  PLIM_OK_OR_FAIL(plim_state_save(c.r.session, file.path.c_str()));
  for (const char *variant : {"fast", "small"}) {
    Counter other(model, variant);
    PLIM_OK_OR_FAIL(other.step(100));
    PLIM_OK_OR_FAIL(plim_state_load(other.r.session, file.path.c_str()));
    EXPECT_EQ(other.peek(), 5);
    void *seen;
    uint64_t bytes;
    PLIM_OK_OR_FAIL(plim_state_data(other.r.session, "seen", &seen, &bytes));
    EXPECT_EQ(static_cast<float *>(seen)[0], 0) << "a state that is not durable starts anew";
  }
}

TEST(State, StatesMoveBetweenVariantsInMemory) {
  CounterPlan plan;
  Model model(plan.b);
  Counter c(model, "fast"), other(model, "small");
  PLIM_OK_OR_FAIL(c.step(7));
  PLIM_OK_OR_FAIL(plim_state_copy(other.r.session, c.r.session));
  EXPECT_EQ(other.peek(), 7);
}

TEST(State, ASessionSwitchesToAnotherVariantAndKeepsStatesAndBindings) {
  CounterPlan plan(true);
  Model model(plan.b);
  Counter c(model, "fast");
  PLIM_OK_OR_FAIL(c.step(7));
  plim_scope small;
  plim_context *context = nullptr;
  PLIM_OK_OR_FAIL(plim_find(&model.model, nullptr, "small", &small));
  PLIM_OK_OR_FAIL(plim_context_create(c.r.weights, small, nullptr, &context));
  plim_scope smallStep;
  PLIM_OK_OR_FAIL(plim_find(&model.model, "step", "small", &smallStep));
  PLIM_OK_OR_FAIL(plim_session_switch(c.r.session, small.variant));
  EXPECT_EQ(plim_run(c.r.session, c.r.context, smallStep.program, nullptr), PLIM_ERR_ARG) << "a context of the old one";
  EXPECT_EQ(plim_run(c.r.session, context, c.stepProgram, nullptr), PLIM_ERR_ARG) << "a program of the old one";
  for (float &x : c.x)
    x = 5;
  PLIM_OK_OR_FAIL(plim_run(c.r.session, context, smallStep.program, nullptr));
  EXPECT_EQ(c.y[0], 12);
  plim_usage u;
  PLIM_OK_OR_FAIL(plim_usage_of(c.r.session, context, smallStep.program, &u));
  EXPECT_EQ(u.runs, 1u);
  EXPECT_EQ(u.live[PLIM_RAM], u.live_planned[PLIM_RAM]);
  PLIM_OK_OR_FAIL(plim_session_switch(c.r.session, c.r.scope.variant));
  PLIM_OK_OR_FAIL(c.step(1));
  EXPECT_EQ(c.y[0], 13);
  EXPECT_EQ(plim_session_switch(c.r.session, 9), PLIM_ERR_ARG);
  EXPECT_EQ(c.peek(), 13);
  plim_context_destroy(context);
}

TEST(State, ASwitchIsRefusedWhereStatesLieElsewhere) {
  CounterPlan plan;
  Model model(plan.b);
  Counter c(model, "fast"), other(model, "small");
  PLIM_OK_OR_FAIL(c.step(7));
  EXPECT_EQ(plim_session_switch(c.r.session, other.r.scope.variant), PLIM_ERR_ARG);
  EXPECT_EQ(c.peek(), 7);
}

TEST(State, AnyChangedByteOfAStateFileIsRefusedAndChangesNothing) {
  CounterPlan plan;
  Model model(plan.b);
  Counter c(model);
  TemporaryFile file;
  PLIM_OK_OR_FAIL(c.step(5));
  PLIM_OK_OR_FAIL(plim_state_save(c.r.session, file.path.c_str()));
  PLIM_OK_OR_FAIL(c.step(1));
  auto length = static_cast<long>(std::filesystem::file_size(file.path));
  for (long at = 0; at < length; ++at) {
    if (at >= 48 && at < 64)
      continue; // reserved
    std::fstream f(file.path, std::ios::in | std::ios::out | std::ios::binary);
    f.seekg(at);
    char byte = static_cast<char>(f.get());
    auto put = [&](char value) {
      f.seekp(at);
      f.put(value);
      f.flush();
    };
    put(static_cast<char>(byte ^ 4));
    bool entry = at >= 64 && at < 80; // entries are compared through the header
    EXPECT_EQ(plim_state_load(c.r.session, file.path.c_str()), entry ? PLIM_OK : PLIM_ERR_ARG) << at;
    put(byte);
    if (!entry) {
      EXPECT_EQ(c.peek(), 6);
    } else {
      PLIM_OK_OR_FAIL(c.step(1));
    }
  }
  std::filesystem::resize_file(file.path, static_cast<uintmax_t>(length - 1));
  EXPECT_EQ(plim_state_load(c.r.session, file.path.c_str()), PLIM_ERR_ARG);
  EXPECT_EQ(plim_last_error()->need, length);
  EXPECT_EQ(plim_state_load(c.r.session, "/nonexistent/file"), PLIM_ERR_IO);
}

TEST(State, SavingToAFolderThatIsNotThereLeavesNothing) {
  CounterPlan plan;
  Model model(plan.b);
  Counter c(model);
  EXPECT_EQ(plim_state_save(c.r.session, "/nonexistent/state"), PLIM_ERR_IO);
  EXPECT_EQ(plim_last_error()->code, ENOENT);
}

TEST(State, AFailureAfterTheFirstCommitTearsTheSessionAndBeforeItDoesNot) {
  CounterPlan plan;
  Model model(plan.b);
  Counter c(model);
  TemporaryFile file;
  PLIM_OK_OR_FAIL(c.step(5));
  PLIM_OK_OR_FAIL(plim_state_save(c.r.session, file.path.c_str()));
  plim_run_options options = {};
  uint32_t commit = model.table.record<plim_t_program>(PLIM_SEC_PROGRAMS, 0).first_commit_step;
  options.fault = commit; // number of the step before it, plus 1
  EXPECT_EQ(c.step(1, &options), PLIM_ERR_IO);
  EXPECT_EQ(c.peek(), 5);
  options.fault = commit + 2;
  EXPECT_EQ(c.step(1, &options), PLIM_ERR_IO);
  EXPECT_EQ(c.step(1), PLIM_ERR_TORN);
  EXPECT_EQ(plim_state_save(c.r.session, file.path.c_str()), PLIM_ERR_TORN);
  PLIM_OK_OR_FAIL(plim_state_load(c.r.session, file.path.c_str()));
  PLIM_OK_OR_FAIL(c.step(1));
  EXPECT_EQ(c.peek(), 6);
}

TEST(State, ARunIsNotCancelledAfterItsFirstCommit) {
  CounterPlan plan;
  Model model(plan.b);
  Counter c(model);
  plim_run_options options = {};
  uint32_t commit = model.table.record<plim_t_program>(PLIM_SEC_PROGRAMS, 0).first_commit_step;
  options.progress_data = &commit;
  options.progress = [](void *data, uint32_t step, uint32_t) {
    return static_cast<int32_t>(step >= *static_cast<uint32_t *>(data));
  };
  PLIM_OK_OR_FAIL(c.step(3, &options));
  EXPECT_EQ(c.peek(), 3);
  commit -= 1;
  EXPECT_EQ(c.step(3, &options), PLIM_ERR_CANCELLED);
  EXPECT_EQ(c.peek(), 3);
}

TEST(State, AWriteBeforeTheFirstCommitIsRefused) {
  CounterPlan plan;
  Table table = plan.b.finish();
  auto &p = table.record<plim_t_program>(PLIM_SEC_PROGRAMS, 0);
  ++p.first_commit_step;
  table.rehash();
  EXPECT_EQ(plim_table_check(table.get(), table.size()), PLIM_ERR_TABLE);
  EXPECT_STREQ(plim_last_error()->message, "writes a state before the first commit step");
}

} // namespace
