//===- MachineProfile.h - How fast the machine is that a plan is for --------------------------===//
//
// Costs of kernels (kernels/cost.h) and of transfers come from a profile. The one that is built in is the same
// everywhere; `plim-mem profile` measures another and writes it as a file (docs/reference/profile.md). A plan never
// depends on the build host by itself, and names its profile.
//
//   std::vector<std::string> errors;
//   std::optional<MachineProfile> profile = parseProfile(text, errors);
//   plim_cost cost = entry->cost(shapes, count, attrs, &machine);   // machine = machineFor(*profile,
//   "conv.nhwc_direct") problem.links = linksOf(*profile);
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_SOLVER_PROFILE_MACHINEPROFILE_H
#define PLIM_SOLVER_PROFILE_MACHINEPROFILE_H

#include "compiler/Solver/Problem.h"
#include "kernels/cost.h"
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plim::solver {

struct MachineProfile {
  std::string name = "default"; // as plans give it: letters, digits and ._- , 1 to 64 of them
  // Of one core, f32, a multiply-add counts 2: what the cost function of a kernel takes as the machine's peak. Measured
  // so that the cost function comes to the measured time, so it may differ from family to family.
  double flopsPerSecond = 200e9;
  std::map<std::string, double, std::less<>> familyFlopsPerSecond{}; // "conv", "matmul"; others have the above
  double memoryBytesPerSecond = 30e9;                                // of one core
  double launchNs = 2000; // to start a launch on all workers and wait for them
  double diskReadBytesPerSecond = 1.2e9, diskWriteBytesPerSecond = 0.9e9; // direct, several requests in flight
  double diskReadLatencyNs = 80'000, diskWriteLatencyNs = 40'000;         // of one request of a block
  bool operator==(const MachineProfile &) const = default;
};

// The families of library kernels, sorted: the part of a kernel's name before the dot.
const std::vector<std::string> &kernelFamilies();

// What the cost function of a kernel takes. `kernel`: its name, or its family.
plim_machine machineFor(const MachineProfile &profile, std::string_view kernel);

// Ram to ssd and back, and inside the ram.
std::vector<Link> linksOf(const MachineProfile &profile);

// A profile from the text of its file, or all that is wrong with it ("profile.json: memory.bytes_per_second: need a
// number in [1000000, 1e+15], have -3"). `where` names the file in messages. All keys but families are needed; unknown
// and double ones are errors.
std::optional<MachineProfile> parseProfile(std::string_view text, const std::string &where,
                                           std::vector<std::string> &errors);

// Parses to an equal profile where all figures are whole numbers.
std::string printProfile(const MachineProfile &profile);

} // namespace plim::solver

#endif // PLIM_SOLVER_PROFILE_MACHINEPROFILE_H
