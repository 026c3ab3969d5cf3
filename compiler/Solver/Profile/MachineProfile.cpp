//===- MachineProfile.cpp - How fast the machine is that a plan is for -------------------------===//
#include "compiler/Solver/Profile/MachineProfile.h"
#include <algorithm>
#include <cmath>

namespace plim::solver {

const std::vector<std::string> &kernelFamilies() {
  static const std::vector<std::string> families = [] {
    std::vector<std::string> names = {
#define PLIM_KERNEL(family, variant) #family,
#include "kernels/registry.def"
#undef PLIM_KERNEL
    };
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }();
  return families;
}

plim_machine machineFor(const MachineProfile &profile, std::string_view kernel) {
  auto family = profile.familyFlopsPerSecond.find(kernel.substr(0, kernel.find('.')));
  const double flops = family == profile.familyFlopsPerSecond.end() ? profile.flopsPerSecond : family->second;
  return {flops / 1e9, profile.memoryBytesPerSecond / 1e9, profile.launchNs};
}

std::vector<Link> linksOf(const MachineProfile &profile) {
  auto link = [](Tier from, Tier to, double bytesPerSecond, double latencyNs) {
    return Link{from, to, std::max<int64_t>(1, std::llround(bytesPerSecond)), std::llround(latencyNs)};
  };
  // A copy reads and writes each byte.
  return {link(Tier::Ram, Tier::Ssd, profile.diskWriteBytesPerSecond, profile.diskWriteLatencyNs),
          link(Tier::Ssd, Tier::Ram, profile.diskReadBytesPerSecond, profile.diskReadLatencyNs),
          link(Tier::Ram, Tier::Ram, profile.memoryBytesPerSecond / 2, 0)};
}

} // namespace plim::solver
