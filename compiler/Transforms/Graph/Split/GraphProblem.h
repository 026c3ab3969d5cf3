//===- GraphProblem.h - What splitting needs to know of a function -------------------------------===//
#ifndef PLIM_COMPILER_TRANSFORMS_GRAPH_SPLIT_GRAPHPROBLEM_H
#define PLIM_COMPILER_TRANSFORMS_GRAPH_SPLIT_GRAPHPROBLEM_H

#include "compiler/Solver/Split/Split.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace plim::graph {

/// What a user fixes about the choice of kernels (GraphToPlan.h, KernelChoice), and whether inputs may be overwritten.
struct SplitKernels {
  bool exactNumerics = false;
  std::string attention = "auto";
  bool reuseInputs = false;
};

/// A split problem and what its numbers mean in the function. An op of several results is a step for each, none of
/// which can be cut.
struct GraphProblem {
  solver::SplitProblem problem;
  llvm::SmallVector<mlir::Value> values;      // by value
  llvm::SmallVector<mlir::Operation *> steps; // by step
  /// By step: the classes of the kernel that runs it whole, "" for generated ones, and of its fine kernel.
  llvm::SmallVector<std::string> numerics, fineNumerics;
};

/// Fails, without a diagnostic but with a reason, for functions of open dimensions, states or control flow.
mlir::FailureOr<GraphProblem> extractSplitProblem(mlir::func::FuncOp function, const SplitKernels &kernels,
                                                  std::string &why);

/// Rewrites the function to run by the plan; on failure, whose reason is emitted as an error, it is no longer of use.
/// The pieces carry the class of their kernels (kNumericsAttr), so that they have the bits of the whole.
llvm::LogicalResult applySplit(mlir::func::FuncOp function, const GraphProblem &graph, const solver::SplitPlan &plan);

} // namespace plim::graph

#endif
