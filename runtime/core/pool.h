// Worker threads of a context. A job is cut into pieces that any worker claims; completion counts pieces, not workers,
// so a worker that the system has put aside delays nobody.
#ifndef PLIM_RUNTIME_CORE_POOL_H
#define PLIM_RUNTIME_CORE_POOL_H

#include "runtime/core/planned_thread.h"

#include "plim/status.h"

#include <atomic>

namespace plim::rt {

class Pool {
public:
  /// Runs piece [first, last) of `tasks` on a worker.
  using Function = void (*)(void *data, uint32_t worker, uint32_t first, uint32_t last);

  /// One worker thread; lives in the context's tables.
  struct Worker {
    Pool *pool;
    uint32_t id;
    PlannedThread thread;
  };

  /// Starts threads - 1 workers, worker i on stacks[(i - 1) * stackBytes, + stackBytes). On failure no thread is left.
  plim_status start(Worker *workers, uint32_t threads, char *stacks, uint64_t stackBytes);
  void stop();

  /// Runs tasks [0, tasks) and waits for them. The calling thread is worker 0. Where `parallel` is false, or there is
  /// one thread, it does all of them in one piece.
  void run(Function f, void *data, uint32_t tasks, bool parallel);

  uint32_t threads() const { return count; }

private:
  static void *threadMain(void *worker);
  bool claim(uint32_t worker);
  void work(uint32_t worker);

  // Generation of the job << 32 | pieces << 16 | next piece. All in one word: a late worker cannot claim a piece of a
  // job that it has not seen.
  alignas(64) std::atomic<uint64_t> state{0};
  alignas(64) std::atomic<uint32_t> done{0};
  alignas(64) std::atomic<uint32_t> wake{0};
  std::atomic<uint32_t> sleepers{0};
  std::atomic<uint32_t> stopping{0};
  // Of the current job: written before `state` is published, read after a piece of it is claimed.
  alignas(64) Function function = nullptr;
  void *data = nullptr;
  uint32_t tasks = 0;
  uint32_t count = 1;
  Worker *workers = nullptr;
};

} // namespace plim::rt

#endif
