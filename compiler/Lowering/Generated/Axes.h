//===- Axes.h - Which dimensions of tensors are one loop --------*- C++ -*-===//
//
// Elementwise ops, broadcasts, reductions and transposes tie dimensions of their operands and results together: tied
// dimensions are one axis of the iteration space. A dimension of size 1 has no axis.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/Block.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace plim::gen {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// A failure, with the message where there is somebody to tell.
mlir::LogicalResult refuse(EmitError emitError, const llvm::Twine &message);

class Axes {
public:
  /// Covers the operations of `body`, and the arguments that they or `results` use; refuses operations that are no
  /// loops over shared axes.
  mlir::LogicalResult build(mlir::Block &body, mlir::ValueRange results, EmitError emitError);

  /// Of each dimension of `v`: its axis, or -1.
  llvm::SmallVector<int> of(mlir::Value v) const;
  int64_t size(int axis) const { return axes[axis].size; }
  bool isReduced(int axis) const { return axes[axis].reduced; }
  /// All axes, outermost first: parallel ones, then those reduced, then parallel ones that are inside of the reduced
  /// ones in memory. Follows the first of `results`, else the first value, that has all axes.
  mlir::FailureOr<llvm::SmallVector<int>> order(mlir::ValueRange results, EmitError emitError) const;

private:
  struct Axis {
    int parent;
    int64_t size;
    bool reduced = false;
  };
  int fresh(int64_t size);
  int find(int axis) const;
  int tie(int a, int b);
  llvm::SmallVector<int> freshFor(mlir::Value v);
  mlir::LogicalResult visit(mlir::Operation &op, EmitError emitError);

  llvm::SmallVector<Axis> axes;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int>> dims;
  llvm::SmallVector<mlir::Value> values;                // in order of definition
  llvm::SmallVector<llvm::SmallVector<int>> reductions; // the axes that each folds
};

} // namespace plim::gen
