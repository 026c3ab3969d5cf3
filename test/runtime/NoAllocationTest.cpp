// Between the return of plim_session_create and plim_session_destroy nothing is allocated or mapped. The program's own
// malloc family and memory calls are interposed; the C library's calls inside itself are seen where they go through
// them.
#include "test/runtime/SsdPlan.h"

#include <atomic>
#include <cstdarg>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

std::atomic<bool> watching{false};
std::atomic<uint64_t> calls{0};

void note() {
  if (watching.load())
    calls.fetch_add(1);
}

template <class Fn> Fn *next(const char *name) { return reinterpret_cast<Fn *>(dlsym(RTLD_NEXT, name)); }

} // namespace

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t n) {
  note();
  return __libc_malloc(n);
}
void *calloc(size_t n, size_t each) {
  note();
  return __libc_calloc(n, each);
}
void *realloc(void *p, size_t n) {
  note();
  return __libc_realloc(p, n);
}
void *aligned_alloc(size_t alignment, size_t n) {
  note();
  return __libc_memalign(alignment, n);
}
int posix_memalign(void **out, size_t alignment, size_t n) {
  note();
  *out = __libc_memalign(alignment, n);
  return *out ? 0 : 12;
}
void *mmap(void *address, size_t n, int protection, int flags, int fd, off_t offset) {
  note();
  return next<decltype(mmap)>("mmap")(address, n, protection, flags, fd, offset);
}
void *mremap(void *old, size_t oldSize, size_t newSize, int flags, ...) {
  note();
  return next<void *(void *, size_t, size_t, int)>("mremap")(old, oldSize, newSize, flags);
}
int brk(void *end) {
  note();
  return next<decltype(brk)>("brk")(end);
}
void *sbrk(intptr_t by) {
  if (by)
    note();
  return next<decltype(sbrk)>("sbrk")(by);
}
}

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
  calls = 0;
  watching = true;
  free(malloc(100));
  void *p = mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  watching = false;
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
  long mappedBefore = 0, mappedAfter = 0;
  uint64_t failures = 0;
  PLIM_OK_OR_FAIL(plim_session_create(weights, scope, nullptr, &session));
  mappedBefore = field("VmSize:");
  calls = 0;
  watching = true;
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
  const char *path = "/tmp/plim-no-allocation-state";
  failures += plim_state_save(session, path) != PLIM_OK;
  failures += plim_state_load(session, path) != PLIM_OK;
  unlink(path);
  watching = false;
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
    calls = 0;
    watching = true;
    for (uint32_t flags : {0u, uint32_t(PLIM_RUN_POISON), uint32_t(PLIM_RUN_RED_ZONES)})
      for (int i = 0; i < 3; ++i)
        failures += r.run(flags, &trace) != PLIM_OK;
    watching = false;
    EXPECT_EQ(calls, 0u);
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
