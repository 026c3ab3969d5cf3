//===- Unplanned.h - Runs a virtual plan without planning it ---------------------------------===//
//
// Walks the steps of a program in stage virtual, one after the other, every buffer in memory of its own. Shares nothing
// with the planner, the step table and the runtime but the kernels.
//
//   Unplanned run(module, inputs, classes);
//   Bytes first = run.run(), second = run.run();            // states last from run to run
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_TEST_COMPILER_CONTRACT_UNPLANNED_H
#define PLIM_TEST_COMPILER_CONTRACT_UNPLANNED_H

#include "dialects/Plan/PlanDialect.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <vector>

namespace plim::test {

/// The caller's memory by name of input or output.
using Bytes = std::map<std::string, std::vector<char>>;

/// Contents of a constant: its own by name.
std::vector<char> contentsOf(llvm::StringRef constant, int64_t bytes);

/// Numerics classes by source of the launch; of others the first candidate runs.
using NumericsClasses = std::map<std::string, std::string>;

class Unplanned {
public:
  Unplanned(plan::ModuleOp module, Bytes inputs, NumericsClasses classes);
  /// Outputs of the next run.
  Bytes run();

private:
  struct Memory {
    char *data = nullptr;
    int64_t bytes = 0;
  };

  void allocate(mlir::Value buffer);
  void walk(mlir::Block &block);
  void launch(plan::LaunchOp op);
  Memory memoryOf(mlir::Value buffer) const { return memory.at(buffer); }

  plan::ModuleOp module;
  plan::ProgramOp program;
  Bytes inputs, outputs;
  NumericsClasses classes;
  std::map<std::string, std::vector<char>> residents;
  std::vector<std::vector<char>> allocated;
  llvm::DenseMap<mlir::Value, Memory> memory;
  llvm::DenseMap<mlir::Value, int64_t> scalars;
};

} // namespace plim::test

#endif // PLIM_TEST_COMPILER_CONTRACT_UNPLANNED_H
