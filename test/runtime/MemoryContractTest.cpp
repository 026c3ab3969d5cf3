// The memory contract on hand-written plans: reserved, live and touched bytes equal what the table says, and a table
// that says something else is caught.
#include "test/runtime/Running.h"

using namespace plim::test;

namespace {

struct ChainRun {
  explicit ChainRun(const ChainPlan &plan, uint32_t threads = 1, uint32_t flags = 0)
      : n(plan.n), model(built(plan)), running(model.model, threads), x(static_cast<size_t>(n)) {
    options.flags = flags;
    for (int64_t i = 0; i < n; ++i)
      x[static_cast<size_t>(i)] = static_cast<float>(i % 97) - 31.5f;
    bind();
  }
  static TableBuilder &built(const ChainPlan &plan) {
    static thread_local TableBuilder b;
    b = TableBuilder();
    plan.build(b);
    return b;
  }
  void bind() {
    if (running.status)
      return;
    EXPECT_EQ(plim_bind_input(running.session, PLIM_NONE, "x", x.data(), x.size() * 4, nullptr, 0), PLIM_OK);
    EXPECT_EQ(plim_bind_output(running.session, PLIM_NONE, "y", &y, 4), PLIM_OK);
  }
  plim_status run() { return running.run(&options); }
  float expected() const {
    double sum = 0;
    for (float v : x)
      sum += 4.0 * v;
    return static_cast<float>(sum);
  }
  int64_t n;
  Model model;
  Running running;
  std::vector<float> x;
  float y = 0;
  plim_run_options options = {};
};

TEST(MemoryContract, ReservedBytesEqualThePlanForEveryNumberOfThreads) {
  for (uint32_t threads : {1u, 2u, 3u, 4u, 9u}) {
    uint64_t before, after, peak;
    plim_ledger_totals(&before, &peak);
    ChainRun chain(ChainPlan(), threads);
    PLIM_OK_OR_FAIL(chain.running.status);
    PLIM_OK_OR_FAIL(chain.run());
    plim_ledger_totals(&after, &peak);
    plim_usage u = chain.running.usage();
    EXPECT_EQ(u.reserved[PLIM_RAM], u.planned[PLIM_RAM]);
    EXPECT_EQ(after - before, u.planned[PLIM_RAM]);
    EXPECT_EQ(u.threads, threads < 4 ? threads : 4);
    EXPECT_NEAR(chain.y, chain.expected(), 1);
  }
}

TEST(MemoryContract, OverheadAndArenasAddUpToTheReservedPeak) {
  ChainPlan plan;
  ChainRun chain(plan);
  const plim_t_program &p = chain.model.table.record<plim_t_program>(PLIM_SEC_PROGRAMS, 0);
  plim_reserve_terms terms = {};
  terms.workers = 4;
  terms.arenas = 1;
  terms.programs = 1;
  terms.ios = 2;
  terms.max_operands = 3;
  terms.stack_bytes = 65536;
  EXPECT_EQ(plim_reserved_overhead(&terms) + plim_page(plan.arenaBytes), p.reserved_peak[PLIM_RAM]);
}

TEST(MemoryContract, LiveBytesEqualThePlan) {
  ChainRun chain{ChainPlan()};
  PLIM_OK_OR_FAIL(chain.run());
  plim_usage u = chain.running.usage();
  EXPECT_EQ(u.live[PLIM_RAM], u.live_planned[PLIM_RAM]);
  EXPECT_EQ(u.live[PLIM_RAM], 3 * 4096 * 4 + 4u); // two buffers, the input and the output
  EXPECT_EQ(u.io_bytes, 4096 * 4 + 4u);
}

TEST(MemoryContract, TouchedBytesOfPoisonRunsEqualThePlanForEveryNumberOfThreads) {
  for (uint32_t threads : {1u, 2u, 4u}) {
    ChainRun chain(ChainPlan(), threads, PLIM_RUN_POISON);
    PLIM_OK_OR_FAIL(chain.run());
    PLIM_OK_OR_FAIL(chain.run());
    plim_usage u = chain.running.usage();
    EXPECT_EQ(u.poison_runs, 2u);
    EXPECT_EQ(u.touched[PLIM_RAM], u.touched_planned[PLIM_RAM]);
    EXPECT_EQ(u.touched[PLIM_RAM], ChainPlan().arenaBytes);
    EXPECT_NEAR(chain.y, chain.expected(), 1);
  }
}

TEST(MemoryContract, StepsWithFewerTasksThanWorkersHaveScratchForTheirTasksOnly) {
  for (uint32_t tasks : {1u, 2u, 3u})
    for (uint32_t threads : {1u, 2u, 4u}) {
      const ChainPlan plan(1 << 16, tasks);
      ChainRun chain(plan, threads, PLIM_RUN_POISON);
      for (int i = 0; i < 20; ++i)
        PLIM_OK_OR_FAIL(chain.run());
      plim_usage u = chain.running.usage();
      EXPECT_EQ(u.touched[PLIM_RAM], u.touched_planned[PLIM_RAM]);
      EXPECT_EQ(u.touched[PLIM_RAM], 2 * plan.bytes() + plan.shared() + tasks * 256);
      EXPECT_NEAR(chain.y, chain.expected(), 1e-3 * chain.expected());
    }
}

TEST(MemoryContract, LiveBytesOfABranchAreThoseOfTheStepsThatRan) {
  TableBuilder b;
  uint32_t arena = b.arena(PLIM_TRANSIENT, 4096), one = b.shape({1}, PLIM_I32);
  b.beginVariant("only");
  b.beginProgram("forward");
  uint32_t x = b.ioView(b.input("x", one)), y = b.ioView(b.output("y", one)), which = b.scalar();
  b.load(x, PLIM_I32, 0, which, 0, 1);
  b.beginIf(which);
  Live large = b.born(arena, 0, 4096);
  b.copy(x, large.view, 4);
  b.copy(large.view, y, 4);
  b.dies(large);
  b.otherwise();
  Live small = b.born(arena, 0, 64);
  b.copy(x, small.view, 4);
  b.copy(small.view, y, 4);
  b.dies(small);
  b.endIf();
  b.endProgram();
  Model model(b);
  for (int32_t taken : {0, 1}) {
    Running r(model.model);
    PLIM_OK_OR_FAIL(r.status);
    int32_t out = -1;
    plim_bind_input(r.session, PLIM_NONE, "x", &taken, 4, nullptr, 0);
    plim_bind_output(r.session, PLIM_NONE, "y", &out, 4);
    PLIM_OK_OR_FAIL(r.run());
    plim_usage u = r.usage();
    EXPECT_EQ(out, taken);
    EXPECT_EQ(u.live[PLIM_RAM], 8u + (taken ? 4096 : 64));
    EXPECT_EQ(u.live_planned[PLIM_RAM], 8u + 4096);
  }
}

TEST(MemoryContract, APlanThatClaimsMoreThanItTouchesIsMeasured) {
  ChainPlan plan;
  plan.secondOffset = plan.arenaBytes; // the second buffer is the highest
  plan.arenaBytes += plan.bytes();
  ChainRun honest(plan, 1, PLIM_RUN_POISON);
  TableBuilder b;
  plan.build(b);
  Table table = b.finish();
  uint32_t second = table.record<plim_t_buffer>(PLIM_SEC_BUFFERS, 1).view;
  table.record<plim_t_view>(PLIM_SEC_VIEWS, second).bytes += 64;
  table.record<plim_t_arena>(PLIM_SEC_ARENAS, 0).bytes += 64;
  plim_table_seal(table.get());
  Model model(std::move(table), b.kernels());
  Running r(model.model);
  PLIM_OK_OR_FAIL(r.status);
  float y;
  plim_bind_input(r.session, PLIM_NONE, "x", honest.x.data(), honest.x.size() * 4, nullptr, 0);
  plim_bind_output(r.session, PLIM_NONE, "y", &y, 4);
  plim_run_options options = {};
  options.flags = PLIM_RUN_POISON;
  PLIM_OK_OR_FAIL(r.run(&options));
  PLIM_OK_OR_FAIL(r.run(&options));
  plim_usage u = r.usage();
  EXPECT_LT(u.touched[PLIM_RAM], u.touched_planned[PLIM_RAM]);
}

TEST(MemoryContract, AMutatedOffsetGivesGarbageInAPoisonRun) {
  ChainPlan plan;
  plan.secondOffset -= 64; // overlaps the first buffer, which is still read
  ChainRun plain(plan, 1, 0), poisoned(plan, 1, PLIM_RUN_POISON);
  PLIM_OK_OR_FAIL(poisoned.run());
  EXPECT_FALSE(std::abs(poisoned.y - poisoned.expected()) < 1);
  plim_usage u = poisoned.running.usage();
  EXPECT_EQ(u.reserved[PLIM_RAM], u.planned[PLIM_RAM]);
}

TEST(MemoryContract, ARecordedPeakThatTheRuntimeDoesNotReserveIsRefused) {
  TableBuilder b;
  ChainPlan().build(b);
  for (int change : {-4096, 4096, 1}) {
    Table table = b.finish();
    table.record<plim_t_program>(PLIM_SEC_PROGRAMS, 0).reserved_peak[PLIM_RAM] += static_cast<uint64_t>(change);
    table.rehash();
    EXPECT_EQ(plim_table_check(table.get(), table.size()), PLIM_ERR_TABLE);
    EXPECT_EQ(plim_last_error()->have - plim_last_error()->need, change) << lastError();
  }
  Table table = b.finish();
  table.record<plim_t_program>(PLIM_SEC_PROGRAMS, 0).live_peak[PLIM_RAM] -= 1;
  table.rehash();
  EXPECT_EQ(plim_table_check(table.get(), table.size()), PLIM_ERR_TABLE);
  EXPECT_STREQ(plim_last_error()->message, "its live peak is not that of its marks");
}

TEST(MemoryContract, ARedZoneRunNamesTheStepThatWritesOutsideItsAccesses) {
  ChainPlan plan;
  plan.scaleKernel = "test.overrun";
  ChainRun plain(plan), guarded(plan, 1, PLIM_RUN_RED_ZONES);
  EXPECT_EQ(plain.run(), PLIM_OK);
  EXPECT_EQ(guarded.run(), PLIM_ERR_RED_ZONE);
  EXPECT_EQ(plim_last_error()->step, 1u) << lastError();
  ChainRun sound(ChainPlan(), 4, PLIM_RUN_RED_ZONES | PLIM_RUN_POISON);
  PLIM_OK_OR_FAIL(sound.run());
}

TEST(MemoryContract, AWriteBeyondTheArenaShowsInTheTouchedBytes) {
  TableBuilder b;
  uint32_t arena = b.arena(PLIM_TRANSIENT, 64), vector = b.shape({16});
  b.beginVariant("only");
  b.beginProgram("forward");
  uint32_t x = b.ioView(b.input("x", vector)), y = b.ioView(b.output("y", vector));
  Live a = b.born(arena, 0, 64);
  b.launch("test.overrun", {b.read(x, vector), b.write(a, vector)}, {1.0});
  b.launch("test.scale", {b.read(a, vector), b.write(y, vector)}, {1.0});
  b.dies(a);
  b.endProgram();
  Model model(b);
  Running r(model.model);
  PLIM_OK_OR_FAIL(r.status);
  float data[16] = {}, out[16];
  plim_bind_input(r.session, PLIM_NONE, "x", data, sizeof data, nullptr, 0);
  plim_bind_output(r.session, PLIM_NONE, "y", out, sizeof out);
  plim_run_options options = {};
  options.flags = PLIM_RUN_POISON;
  PLIM_OK_OR_FAIL(r.run(&options));
  uint64_t planned, measured;
  PLIM_OK_OR_FAIL(plim_arena_touched(r.session, r.context, PLIM_NONE, 0, &planned, &measured));
  EXPECT_EQ(planned, 64u);
  EXPECT_EQ(measured, 65u);
}

TEST(MemoryContract, TheCallersMemoryServesAsWellAsTheRuntimesOwn) {
  TableBuilder b;
  ChainPlan().build(b);
  Model model(b);
  plim_scope scope;
  plim_sizes sizes;
  PLIM_OK_OR_FAIL(plim_find(&model.model, nullptr, nullptr, &scope));
  PLIM_OK_OR_FAIL(plim_query_sizes(&model.model, scope, &sizes));
  EXPECT_EQ(sizes.weights + sizes.context + sizes.session,
            model.table.record<plim_t_program>(PLIM_SEC_PROGRAMS, 0).reserved_peak[PLIM_RAM]);
  std::vector<plim_place> places;
  for (uint64_t bytes : {sizes.weights, sizes.context, sizes.session})
    places.push_back({aligned_alloc(PLIM_PAGE, bytes), bytes});
  plim_weights *weights;
  plim_context *context;
  plim_session *session;
  plim_context_options options = {};
  options.threads = 3;
  options.place = places[1];
  options.place.bytes -= 1;
  PLIM_OK_OR_FAIL(plim_weights_create(&model.model, scope, nullptr, &places[0], &weights));
  EXPECT_EQ(plim_context_create(weights, scope, &options, &context), PLIM_ERR_MEMORY);
  EXPECT_EQ(plim_last_error()->need, static_cast<int64_t>(sizes.context));
  options.place.bytes += 1;
  PLIM_OK_OR_FAIL(plim_context_create(weights, scope, &options, &context));
  PLIM_OK_OR_FAIL(plim_session_create(weights, scope, &places[2], &session));
  std::vector<float> x(4096, 1);
  float y;
  plim_bind_input(session, PLIM_NONE, "x", x.data(), 16384, nullptr, 0);
  plim_bind_output(session, PLIM_NONE, "y", &y, 4);
  PLIM_OK_OR_FAIL(plim_run(session, context, PLIM_NONE, nullptr));
  EXPECT_EQ(y, 4 * 4096);
  plim_session_destroy(session);
  plim_context_destroy(context);
  plim_weights_destroy(weights);
  for (plim_place &place : places) {
    memset(place.memory, 1, place.bytes); // the guard pages are gone
    free(place.memory);
  }
}

TEST(MemoryContract, ARegionThatHoldsALargePageStartsAtOne) {
  constexpr uint64_t large = 2 << 20;
  TableBuilder b;
  ChainPlan plan(1 << 20);
  plan.build(b);
  Model model(b);
  Running r(model.model);
  PLIM_OK_OR_FAIL(r.status);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(r.context) % large, 0u);
}

} // namespace
