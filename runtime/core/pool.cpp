#include "runtime/core/pool.h"

#include "runtime/core/error.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace plim::rt {
namespace {

// A worker spins this often between jobs before it sleeps: about the time of a small step.
constexpr uint32_t kSpins = 4000;
constexpr uint32_t kPiecesPerThread = 8;
constexpr uint32_t kMostPieces = 0x8000;

void futex(std::atomic<uint32_t> &word, int operation, uint32_t value) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), operation, value, nullptr, nullptr, 0);
}

uint32_t boundary(uint32_t tasks, uint32_t pieces, uint32_t piece) {
  return static_cast<uint32_t>(static_cast<uint64_t>(tasks) * piece / pieces);
}

} // namespace

bool Pool::claim(uint32_t worker) {
  uint64_t s = state.load(std::memory_order_acquire);
  for (;;) {
    uint32_t pieces = s >> 16 & 0xffff, next = s & 0xffff;
    if (next >= pieces)
      return false;
    if (!state.compare_exchange_weak(s, s + 1, std::memory_order_acq_rel, std::memory_order_acquire))
      continue;
    function(data, worker, boundary(tasks, pieces, next), boundary(tasks, pieces, next + 1));
    done.fetch_add(1, std::memory_order_release);
    return true;
  }
}

void Pool::work(uint32_t worker) {
  uint32_t spins = 0;
  while (!stopping.load(std::memory_order_acquire)) {
    uint32_t seen = wake.load(std::memory_order_acquire);
    if (claim(worker)) {
      spins = 0;
      continue;
    }
    if (spins++ < kSpins) {
      __builtin_ia32_pause();
      continue;
    }
    sleepers.fetch_add(1);
    if (wake.load() == seen && !stopping.load())
      futex(wake, FUTEX_WAIT_PRIVATE, seen);
    sleepers.fetch_sub(1);
    spins = 0;
  }
}

void *Pool::threadMain(void *argument) {
  auto *worker = static_cast<Worker *>(argument);
  worker->pool->work(worker->id);
  return nullptr;
}

plim_status Pool::start(Worker *records, uint32_t threads, char *stacks, uint64_t stackBytes) {
  workers = records;
  int error = 0;
  for (count = 1; count < threads; ++count) {
    Worker &w = workers[count];
    w = {this, count, {}};
    error = w.thread.start(stacks + (count - 1) * stackBytes, stackBytes, threadMain, &w);
    if (error)
      break;
  }
  if (!error)
    return PLIM_OK;
  uint32_t started = count;
  stop();
  return Failure(PLIM_ERR_MEMORY)
      .at("worker %u", started)
      .code(error)
      .need(threads)
      .have(started)
      .say("the system refused a thread with a stack of %lu bytes", stackBytes);
}

void Pool::stop() {
  stopping.store(1);
  wake.fetch_add(1);
  futex(wake, FUTEX_WAKE_PRIVATE, INT_MAX);
  for (uint32_t i = 1; i < count; ++i)
    workers[i].thread.join();
  count = 1;
}

void Pool::run(Function f, void *argument, uint32_t n, bool parallel) {
  if (count == 1 || n <= 1 || !parallel) {
    if (n)
      f(argument, 0, 0, n);
    return;
  }
  uint32_t pieces = count * kPiecesPerThread;
  pieces = pieces < n ? pieces : n;
  pieces = pieces < kMostPieces ? pieces : kMostPieces;
  function = f;
  data = argument;
  tasks = n;
  done.store(0, std::memory_order_relaxed);
  uint64_t generation = (state.load(std::memory_order_relaxed) >> 32) + 1;
  state.store(generation << 32 | static_cast<uint64_t>(pieces) << 16, std::memory_order_seq_cst);
  wake.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst))
    futex(wake, FUTEX_WAKE_PRIVATE, INT_MAX);
  while (claim(0))
    ;
  // The rest runs on other workers; after a while give the CPU to them.
  for (uint32_t spins = 0; done.load(std::memory_order_acquire) < pieces; ++spins) {
    if (spins < kSpins)
      __builtin_ia32_pause();
    else
      sched_yield();
  }
}

} // namespace plim::rt
