//===- PlanRun.h - Runs a step table on the runtime and measures it --------------------------===//
#ifndef PLIM_TEST_COMPILER_CONTRACT_PLANRUN_H
#define PLIM_TEST_COMPILER_CONTRACT_PLANRUN_H

#include "plim/plim.h"
#include "test/compiler/Contract/Unplanned.h"

namespace plim::test {

struct RunOptions {
  std::string weights, spillFolder; // path of the weight file, "" where there is none; folder
  uint32_t threads = 1;
  plim_io_way way = PLIM_IO_ANY;
  std::vector<uint32_t> runs = {PLIM_RUN_POISON, PLIM_RUN_POISON}; // flags of each
};

struct RunReport {
  std::string error;          // "" where all went well
  std::vector<Bytes> outputs; // of each run
  plim_usage usage = {};
  uint64_t allocations = 0; // while the session lived
};

/// Runs the first program of the table in one session, with the kernels of MixKernels.h and the library's.
RunReport runPlan(const plim_table *table, const Bytes &inputs, const RunOptions &options);

/// Writes the weight file of the module's constants as contentsOf has them, and its hashes in the module: before that
/// is encoded. "" or what went wrong.
std::string writeConstants(plan::ModuleOp module, const std::string &path);

} // namespace plim::test

#endif // PLIM_TEST_COMPILER_CONTRACT_PLANRUN_H
