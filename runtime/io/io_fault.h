// Faults for tests: one function sees every call that transfers make to the system, and those that load and save whole
// files, and may change its result, so that a test can let the n-th of them fail in any way, on every backend.
#ifndef PLIM_RUNTIME_IO_IO_FAULT_H
#define PLIM_RUNTIME_IO_IO_FAULT_H

#include <stdint.h>

namespace plim::rt {

enum class IoCall : uint32_t {
  unnamedFile,
  directFile,
  allocate,
  ring,
  registerBuffers,
  read,
  write,
  loadFile,
  saveFile
};

struct IoEvent {
  IoCall call;
  int fd;
  char *memory; // what was moved, or null
  uint64_t offset, bytes;
};

/// `result` is what the system said: bytes moved or 0, -errno for a failure. Returns what the runtime is to see. It may
/// also change the memory or the file behind the runtime's back. Called by any thread of the runtime, several at once.
using IoFault = int64_t (*)(void *data, const IoEvent &event, int64_t result);

/// For the whole process, while no context lives; null ends it.
void setIoFault(IoFault fault, void *data);

/// The result as the fault function leaves it.
int64_t afterFault(const IoEvent &event, int64_t result);

} // namespace plim::rt

#endif
