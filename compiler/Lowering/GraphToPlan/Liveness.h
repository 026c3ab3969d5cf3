//===- Liveness.h - Which ops make launches, and which values need bytes ------------------===//
#ifndef PLIM_COMPILER_LOWERING_GRAPHTOPLAN_LIVENESS_H
#define PLIM_COMPILER_LOWERING_GRAPHTOPLAN_LIVENESS_H

#include "dialects/Graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace plim::lowering {

/// The launches of a function. Candidates are asked for once; an op whose results nothing needs makes no launch: a
/// transposition that all readers follow by strides, or one whose result its producer writes directly.
struct LaunchList {
  struct Entry {
    mlir::Operation *op;
    llvm::SmallVector<graph::KernelCandidate, 1> candidates; // all with the operands of the first
  };
  std::vector<Entry> entries; // in the function's order
  /// Values that must have bytes.
  llvm::DenseSet<mlir::Value> needed;
};

/// Fails with all ops that no kernel can run, each named with its type. Ops for which `generates` holds get a kernel of
/// their own, on operands and results as they lie; their entries have no candidates.
mlir::FailureOr<LaunchList> collectLaunches(mlir::func::FuncOp function, const graph::SizeSource &sizes,
                                            llvm::function_ref<bool(mlir::Operation *)> generates);

/// The value whose bytes this one names: walks up through reshapes.
mlir::Value storageOf(mlir::Value value);

} // namespace plim::lowering

#endif
