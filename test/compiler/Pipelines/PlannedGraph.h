//===- PlannedGraph.h - From a graph to a step table to the bytes of its outputs -------------===//
#ifndef PLIM_TEST_COMPILER_PIPELINES_PLANNEDGRAPH_H
#define PLIM_TEST_COMPILER_PIPELINES_PLANNEDGRAPH_H

#include "compiler/Lowering/GraphToPlan/GraphToPlan.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"
#include "compiler/Lowering/PlanTable/PlanTable.h"
#include "plim/plim.h"
#include "test/compiler/Pipelines/RandomGraph.h"
#include <map>

namespace plim::test {

/// A context with all dialects and the library's kernels as candidates.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// A program in stage virtual and its problem.
class VirtualPlan {
public:
  /// Parameters and constants of the graph are inputs of the program.
  static mlir::FailureOr<VirtualPlan> lower(const RandomGraph &graph, int64_t workers,
                                            const lowering::KernelChoice &choice);

  plan::PlanProblem &problem() { return *extracted; }
  const std::vector<lowering::ConstantSource> &constants() const { return lowered.constants; }

  /// Gives the program the solution's offsets and encodes it.
  mlir::FailureOr<plan::EncodedTable> place(const solver::Solution &solution);
  plan::ModuleOp module() { return *lowered.module; }

private:
  lowering::GraphToPlanResult lowered;
  std::optional<plan::PlanProblem> extracted;
};

/// The given order, every buffer and workspace at bytes of its own with a gap to the next; of each step the last kernel
/// that nothing bars.
solver::Solution everyBufferApart(const solver::Problem &problem);

/// The caller's memory by name of input or output.
using Bytes = std::map<std::string, std::vector<char>>;

/// Random contents for all inputs: floats in [-1, 1), indices within their limits.
Bytes randomInputs(const RandomGraph &graph, const VirtualPlan &plan, unsigned seed);

struct RunOutcome {
  std::string error; // "" where all went well
  Bytes outputs;     // of the last run
  plim_usage usage = {};
};

/// Runs a program `runs` times in one context; outputs must be equal each time.
RunOutcome runTable(const plim_table *table, const Bytes &inputs, uint32_t threads, uint32_t flags, int runs);

} // namespace plim::test

#endif
