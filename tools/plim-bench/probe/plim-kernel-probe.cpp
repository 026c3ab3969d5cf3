//===- plim-kernel-probe.cpp - plim-kernel-probe [ceilings|choices] ----------------------------===//
#include "tools/plim-bench/probe/Probe.h"

#include "plim/plim.h"

#include <nlohmann/json.hpp>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <cstdio>

namespace plim::probe {

double cpuMilliseconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) * 1e3 + double(t.tv_nsec) * 1e-6;
}

HugeFloats::HugeFloats(size_t count) {
  constexpr size_t page = size_t(2) << 20;
  const size_t bytes = (count * sizeof(float) + page) / page * page;
  data = static_cast<float *>(aligned_alloc(page, bytes));
  if (!data) {
    fprintf(stderr, "plim-kernel-probe: need %zu bytes, the system gives none\n", bytes);
    exit(4);
  }
  madvise(data, bytes, MADV_HUGEPAGE);
  for (size_t i = 0; i < bytes / sizeof(float); ++i)
    data[i] = float(i * 2654435761u >> 7 & 1023) / 1024.0f - 0.5f;
}

HugeFloats::~HugeFloats() { free(data); }

} // namespace plim::probe

int main(int argc, char **argv) {
  using namespace plim::probe;
  const bool ceilings = argc == 2 && strcmp(argv[1], "ceilings") == 0;
  const bool choices = argc == 2 && strcmp(argv[1], "choices") == 0;
  if (!ceilings && !choices) {
    fprintf(stderr, "plim-kernel-probe: need one of ceilings, choices\n");
    return 1;
  }
  const plim_isa isa = plim_cpu_isa();
  if (isa == PLIM_ISA_BASE) {
    fprintf(stderr, "plim-kernel-probe: need a CPU of x86-64-v3, have less\n");
    return 4;
  }
  nlohmann::ordered_json out = {{"isa", isa == PLIM_ISA_V4 ? "v4" : "v3"}};
  if (ceilings) {
    const Ceilings c = measureCeilings(isa);
    out["gflops"] = c.gflops;
    out["read_gb"] = c.readGigabytes;
  }
  if (choices)
    for (const Choice &choice : measureChoices(isa)) {
      nlohmann::ordered_json one = {{"launch", choice.launch}, {"regret", choice.regret()}};
      for (const Choice::Candidate &c : choice.candidates)
        one["candidates"].push_back({{"kernel", c.kernel}, {"predicted_ms", c.predictedMs}, {"ms", c.measuredMs}});
      out["choices"].push_back(one);
    }
  printf("%s\n", out.dump().c_str());
  return 0;
}
