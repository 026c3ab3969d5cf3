//===- Options.h - The command line of plim-run ---------------------------------------------===//
#ifndef PLIM_TOOLS_PLIM_RUN_OPTIONS_H
#define PLIM_TOOLS_PLIM_RUN_OPTIONS_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace plim {

/// One run of a session.
struct RunStep {
  std::string program;                         // empty: that of the step before, or the only one
  std::map<std::string, std::string> inputs;   // name -> .npy file
  std::map<std::string, std::string> outputs;  // name -> .npy file to write
  std::map<std::string, std::string> expected; // name -> .npy file
};

struct RunOptions {
  std::string artifact;             // the folder that plimc wrote, or a model.so in one
  std::string variant;              // empty: the first one; "auto"
  std::vector<RunStep> steps{1};    // --then starts the next one
  std::string loadState, saveState; // files
  bool inputRandom = false, poison = true, redZones = false, jsonStats = false, help = false;
  uint64_t seed = 1;
  double rtol = 1e-3, atol = 1e-4;
  uint32_t reps = 1, warmup = 0, threads = 0;
  std::string trace;
  std::string spillDir; // empty: the runtime's choice
};

/// Reads the arguments; every problem found goes into `problems`.
RunOptions parseRunOptions(int argc, char **argv, std::vector<std::string> &problems);

extern const char runUsage[];

} // namespace plim

#endif
