#include "runtime/core/planned_thread.h"

#include "plim/check.h"

#include <signal.h>
#include <sys/mman.h>

namespace plim::rt {

int PlannedThread::start(char *memory, uint64_t bytes, Body body, void *argument) {
  stack = memory;
  guarded = bytes > PLIM_PAGE && mprotect(stack, PLIM_PAGE, PROT_NONE) == 0;
  uint64_t guard = guarded ? uint64_t(PLIM_PAGE) : 0;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  int error = pthread_attr_setstack(&attributes, stack + guard, bytes - guard);
  if (!error)
    error = pthread_create(&handle, &attributes, body, argument);
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error && guarded)
    mprotect(stack, PLIM_PAGE, PROT_READ | PROT_WRITE);
  return error;
}

void PlannedThread::join() {
  pthread_join(handle, nullptr);
  if (guarded) // the memory may be the caller's
    mprotect(stack, PLIM_PAGE, PROT_READ | PROT_WRITE);
}

} // namespace plim::rt
