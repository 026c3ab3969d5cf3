//===- Measure.h - Measurements of the machine for a profile ------------------------------------===//
#ifndef PLIM_TOOLS_PLIMMEM_MEASURE_H
#define PLIM_TOOLS_PLIMMEM_MEASURE_H

#include <cstdint>
#include <map>
#include <string>

namespace plim::mem {

// How long is measured. Quick figures are rougher; they are for tests and for a first look.
struct Effort {
  double kernelMs = 150;                    // of CPU time, each launch
  int64_t memoryBytes = int64_t(256) << 20; // read and written; should be beyond all caches
  int64_t diskBytes = int64_t(512) << 20;   // of the file that is written and read
  int latencyRequests = 200;
  static Effort quick() { return {5, int64_t(16) << 20, int64_t(16) << 20, 20}; }
};

// CPU time of this thread.
double cpuNs();
double wallNs();

// By family of kernels: the peak, in FLOP/s of one core, with which the cost functions of its kernels come to the
// measured times (the geometric mean over some launches that fit the caches). Empty where the CPU has no fast kernels.
std::map<std::string, double> measureKernels(const Effort &effort);

// Bytes read and written a second by one core, beyond the caches: a copy, both directions counted.
double measureMemory(const Effort &effort);

struct DiskSpeed {
  double readBytesPerSecond = 0, writeBytesPerSecond = 0;
  double readLatencyNs = 0, writeLatencyNs = 0; // median of one request of 4 KiB with nothing else in flight
  bool direct = true;  // false: the file system refuses direct I/O, so the page cache takes part
  std::string error{}; // what the system refused, or ""
};
// With a file without a name in `folder`, gone when this returns. Requests of 1 MiB, `depth` in flight.
DiskSpeed measureDisk(const std::string &folder, const Effort &effort, int depth = 8);

} // namespace plim::mem

#endif // PLIM_TOOLS_PLIMMEM_MEASURE_H
