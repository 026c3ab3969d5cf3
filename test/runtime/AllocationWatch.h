// Counts what the process allocates or maps. The program's own malloc family and memory calls are interposed by linking
// this; the C library's calls inside itself are seen where they go through them. A sanitizer has its own allocator:
// with one nothing is counted.
#ifndef PLIM_TEST_RUNTIME_ALLOCATION_WATCH_H
#define PLIM_TEST_RUNTIME_ALLOCATION_WATCH_H

#include <cstdint>

namespace plim::test {

/// Counts the calls of all threads from its start to its end. One at a time.
class AllocationWatch {
public:
  AllocationWatch();
  ~AllocationWatch() { end(); }
  AllocationWatch(const AllocationWatch &) = delete;
  /// Stops; calls so far.
  uint64_t end();
};

} // namespace plim::test

#endif
