// A thread whose stack lies in planned memory.
#ifndef PLIM_RUNTIME_CORE_PLANNED_THREAD_H
#define PLIM_RUNTIME_CORE_PLANNED_THREAD_H

#include <pthread.h>
#include <stdint.h>

namespace plim::rt {

class PlannedThread {
public:
  using Body = void *(*)(void *argument);

  /// Runs body on stack[0, bytes), both multiples of PLIM_PAGE. The lowest page is a guard where there are several; the
  /// thread's own block of thread-local storage is at the top. All signals are blocked: they belong to the program's
  /// own threads. 0, or an errno; then nothing is left.
  int start(char *stack, uint64_t bytes, Body body, void *argument);
  /// Waits for its end; the stack is the caller's again.
  void join();

private:
  pthread_t handle;
  char *stack;
  bool guarded;
};

} // namespace plim::rt

#endif
