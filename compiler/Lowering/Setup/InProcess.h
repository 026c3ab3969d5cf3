//===- InProcess.h - Runs a plan inside the compiler -----------------------------------------===//
//
// @setup is an ordinary plan program, walked by the runtime with library kernels; there is no second evaluator.
//
//===------------------------------------------------------------------------------------------===//
#ifndef PLIM_COMPILER_LOWERING_SETUP_INPROCESS_H
#define PLIM_COMPILER_LOWERING_SETUP_INPROCESS_H

#include "plim/plim.h"
#include <string>
#include <vector>

namespace plim::lowering {

/// Caller's memory for one input or output of the program.
struct Binding {
  std::string name;
  void *data = nullptr;
  uint64_t bytes = 0;
};

struct InProcessOptions {
  uint32_t threads = 1;
  const char *weightsPath = nullptr; // needed where the table has constants
  uint32_t flags = 0;                // PLIM_RUN_*
};

/// Runs the only program of a table, whose kernels are all in the library. Returns "" or what went wrong.
std::string runInProcess(const plim_table *table, const std::vector<Binding> &inputs,
                         const std::vector<Binding> &outputs, const InProcessOptions &options,
                         plim_usage *usage = nullptr);

} // namespace plim::lowering

#endif
