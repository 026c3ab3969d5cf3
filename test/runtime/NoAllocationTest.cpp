// Between the return of plim_session_create and plim_session_destroy nothing is allocated or mapped.
#include "test/runtime/AllocationWatch.h"
#include "test/runtime/SsdPlan.h"

#include <sys/mman.h>

using namespace plim::test;

namespace {

long field(const char *name) {
  FILE *f = fopen("/proc/self/status", "r");
  char line[256];
  long value = -1;
  while (fgets(line, sizeof line, f))
    if (!strncmp(line, name, strlen(name)))
      value = strtol(line + strlen(name), nullptr, 10);
  fclose(f);
  return value;
}

TEST(NoAllocation, TheInterposedCallsAreSeen) {
  AllocationWatch watch;
  void *volatile small = malloc(100);
  void *p = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const uint64_t calls = watch.end();
  free(small);
  munmap(p, 4096);
  EXPECT_GE(calls, 2u);
}

TEST(NoAllocation, NothingIsAllocatedOrMappedWhileASessionLives) {
  TableBuilder b;
  ChainPlan plan(65536);
  plan.arenaBytes = 2 * plan.bytes() + plan.workspace();
  plan.build(b);
  Model model(b);
  plim_scope scope;
  plim_weights *weights;
  plim_context *context;
  plim_session *session;
  PLIM_OK_OR_FAIL(plim_find(&model.model, nullptr, nullptr, &scope));
  PLIM_OK_OR_FAIL(plim_weights_create(&model.model, scope, nullptr, nullptr, &weights));
  plim_context_options options = {};
  options.threads = 4;
  PLIM_OK_OR_FAIL(plim_context_create(weights, scope, &options, &context));
  std::vector<float> x(65536, 1);
  std::vector<plim_trace_event> ring(64);
  plim_trace trace = {ring.data(), ring.size(), 0};
  float y = 0;
  const std::string path = "/tmp/plim-no-allocation-state-" + std::to_string(getpid());
  long mappedBefore = 0, mappedAfter = 0;
  uint64_t failures = 0;
  PLIM_OK_OR_FAIL(plim_session_create(weights, scope, nullptr, &session));
  mappedBefore = field("VmSize:");
  AllocationWatch watch;
  // No assertion here: GoogleTest allocates.
  failures += plim_run(session, context, PLIM_NONE, nullptr) != PLIM_ERR_ARG; // not bound
  failures += plim_bind_input(session, PLIM_NONE, "x", x.data(), x.size() * 4, nullptr, 0) != PLIM_OK;
  failures += plim_bind_output(session, PLIM_NONE, "y", &y, 4) != PLIM_OK;
  for (uint32_t flags : {0u, uint32_t(PLIM_RUN_POISON), uint32_t(PLIM_RUN_RED_ZONES)}) {
    plim_run_options run = {};
    run.flags = flags;
    run.trace = &trace;
    for (int i = 0; i < 20; ++i)
      failures += plim_run(session, context, PLIM_NONE, &run) != PLIM_OK;
  }
  plim_usage usage;
  failures += plim_usage_of(session, context, PLIM_NONE, &usage) != PLIM_OK;
  failures += plim_state_save(session, path.c_str()) != PLIM_OK;
  failures += plim_state_load(session, path.c_str()) != PLIM_OK;
  unlink(path.c_str());
  const uint64_t calls = watch.end();
  mappedAfter = field("VmSize:");
  plim_session_destroy(session);
  plim_context_destroy(context);
  plim_weights_destroy(weights);
  EXPECT_EQ(calls, 0u);
  EXPECT_EQ(failures, 0u);
  EXPECT_EQ(y, 4 * 65536);
  EXPECT_EQ(mappedAfter, mappedBefore);
}

TEST(NoAllocation, TransfersAllocateAndMapNothing) {
  for (uint32_t way : {uint32_t(PLIM_IO_ANY), uint32_t(PLIM_IO_URING), uint32_t(PLIM_IO_THREADS)}) {
    SsdPlan plan;
    plan.n = 300000;
    plim_context_options o = {};
    o.io_way = way;
    SsdRun r(plan, o, 2);
    PLIM_OK_OR_FAIL(r.running->status);
    std::vector<plim_trace_event> ring(64);
    plim_trace trace = {ring.data(), ring.size(), 0};
    uint64_t failures = 0;
    long mappedBefore = field("VmSize:");
    AllocationWatch watch;
    for (uint32_t flags : {0u, uint32_t(PLIM_RUN_POISON), uint32_t(PLIM_RUN_RED_ZONES)})
      for (int i = 0; i < 3; ++i)
        failures += r.run(flags, &trace) != PLIM_OK;
    EXPECT_EQ(watch.end(), 0u);
    EXPECT_TRUE(r.right());
    EXPECT_EQ(field("VmSize:"), mappedBefore);
    EXPECT_EQ(failures, 0u);
  }
}

TEST(NoAllocation, MemoryIsResidentFromTheStart) {
  TableBuilder b;
  ChainPlan plan(4 << 20);
  plan.build(b);
  Model model(b);
  std::vector<float> x(4 << 20, 1);
  float y;
  long before = field("VmRSS:");
  Running r(model.model, 1);
  PLIM_OK_OR_FAIL(r.status);
  long created = field("VmRSS:");
  plim_bind_input(r.session, PLIM_NONE, "x", x.data(), x.size() * 4, nullptr, 0);
  plim_bind_output(r.session, PLIM_NONE, "y", &y, 4);
  PLIM_OK_OR_FAIL(r.run());
  long ran = field("VmRSS:");
  long planned = static_cast<long>(r.usage().planned[PLIM_RAM] / 1024);
  // Per-thread counters of the kernel lag by up to 64 pages each.
  EXPECT_NEAR(created - before, planned, 512);
  EXPECT_NEAR(ran, created, 512);
}

} // namespace
