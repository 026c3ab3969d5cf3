//===- Liveness.h - Which ops make launches, and which values need bytes ------------------===//
#ifndef PLIM_COMPILER_LOWERING_GRAPHTOPLAN_LIVENESS_H
#define PLIM_COMPILER_LOWERING_GRAPHTOPLAN_LIVENESS_H

#include "compiler/Lowering/GraphToPlan/SymbolicDims.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace plim::lowering {

/// The launches of a function. Candidates are asked for once; an op whose results nothing needs makes no launch: a
/// transposition that all readers follow by strides, or one whose result its producer writes directly.
class LaunchList {
public:
  /// Whether the op makes steps.
  bool contains(mlir::Operation *op) const { return launches.contains(op); }
  /// All with the operands of the first; none for an op that gets a kernel of its own.
  llvm::ArrayRef<graph::KernelCandidate> candidatesOf(mlir::Operation *op) const { return launches.at(op); }
  /// Values that must have bytes.
  llvm::DenseSet<mlir::Value> needed;

private:
  friend class LaunchCollector;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<graph::KernelCandidate, 1>> launches;
};

/// Fails with all ops that no kernel can run, each named with its type. Ops for which `generates` holds get a kernel of
/// their own, on operands and results as they lie; ops for which `append` gives a kernel write that part of a state
/// only.
mlir::FailureOr<LaunchList>
collectLaunches(mlir::func::FuncOp function, const SymbolicDims &sizes,
                llvm::function_ref<bool(mlir::Operation *)> generates,
                llvm::function_ref<void(mlir::Operation *, llvm::SmallVectorImpl<graph::KernelCandidate> &)> append);

/// The value whose bytes this one names: walks up through reshapes.
mlir::Value storageOf(mlir::Value value);

/// Whether `accepts` holds for all ops that may read the value's bytes: its users, and those of its parts, permutations
/// and other shapes, which kernels read from where the value lies.
bool allReaders(mlir::Value value, llvm::function_ref<bool(mlir::Operation *)> accepts);

} // namespace plim::lowering

#endif
