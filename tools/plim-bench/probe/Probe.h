//===- Probe.h - Kernels and the machine, measured without a model ----------------------------===//
//
// plim-kernel-probe prints one JSON document: what one core does at most, and for launches that several kernels can run
// what their cost functions predict and what they take. Times are CPU times of one thread.
//
//===----------------------------------------------------------------------------------------------===//
#ifndef PLIM_TOOLS_BENCH_PROBE_PROBE_H
#define PLIM_TOOLS_BENCH_PROBE_PROBE_H

#include "plim/kernel.h"

#include <stddef.h>

#include <string>
#include <vector>

namespace plim::probe {

double cpuMilliseconds();

/// Floats of a seeded pattern in [-0.5, 0.5), on large pages where the system has them.
class HugeFloats {
public:
  explicit HugeFloats(size_t count);
  HugeFloats(HugeFloats &&other) noexcept : data(other.data) { other.data = nullptr; }
  HugeFloats(const HugeFloats &) = delete;
  HugeFloats &operator=(const HugeFloats &) = delete;
  ~HugeFloats();
  float *get() const { return data; }

private:
  float *data;
};

struct Ceilings {
  double gflops = 0, readGigabytes = 0; // a second: f32 multiply-adds count 2; reads of memory beyond the caches
};
Ceilings measureCeilings(plim_isa isa);

/// A launch and its kernels.
struct Choice {
  struct Candidate {
    std::string kernel;
    double predictedMs = 0, measuredMs = 0;
  };
  std::string launch;
  std::vector<Candidate> candidates;

  /// Time of the candidate of least predicted time over that of the fastest: 1 where the choice is right.
  double regret() const;
};
std::vector<Choice> measureChoices(plim_isa isa);

} // namespace plim::probe

#endif
