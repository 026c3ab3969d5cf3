//===- MeasureMemory.cpp - Bytes that one core moves through memory ------------------------------===//
#include "tools/plim-mem/Measure.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <sys/mman.h>

namespace plim::mem {

static double nsOf(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return double(t.tv_sec) * 1e9 + double(t.tv_nsec);
}
double cpuNs() { return nsOf(CLOCK_THREAD_CPUTIME_ID); }
double wallNs() { return nsOf(CLOCK_MONOTONIC); }

double measureMemory(const Effort &effort) {
  constexpr int kRepeats = 5;
  constexpr size_t kPage = size_t(2) << 20;
  const size_t half = (size_t(effort.memoryBytes) / 2 + kPage - 1) / kPage * kPage;
  std::unique_ptr<char, decltype(&std::free)> memory(static_cast<char *>(std::aligned_alloc(kPage, 2 * half)),
                                                     &std::free);
  if (!memory)
    return 0;
  madvise(memory.get(), 2 * half, MADV_HUGEPAGE);
  std::memset(memory.get(), 1, 2 * half);
  double best = 0;
  for (int k = 0; k < kRepeats; ++k) {
    const double begin = cpuNs();
    std::memcpy(memory.get() + half, memory.get(), half);
    // What is copied must be looked at, or the copy may be left out.
    memory.get()[0] = char(memory.get()[half + size_t(k) * 4096] + k);
    best = std::max(best, 2.0 * double(half) / std::max(1.0, cpuNs() - begin) * 1e9);
  }
  return best;
}

} // namespace plim::mem
