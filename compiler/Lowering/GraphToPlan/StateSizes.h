//===- StateSizes.h - States that grow: their sizes, and the values that lie in them ---------===//
//
// A variable with an open dimension (graph.variable ... grows "P") is laid out at the bound of that dimension, with the
// strides of the bound. How much of it is in use is a symbol, whose value the session holds from run to run. Where its
// next value is a concatenation of itself and what is new,
//
//   %past = graph.read @past          [1, 3, P, 64]
//   %all = graph.concat %past, %new   [1, 3, P + S, 64]
//   graph.assign @past, %all
//
// %past and %all are both the variable's own bytes, seen with the strides of the bound: a run writes %new at P and
// moves nothing else.
//
//===---------------------------------------------------------------------------------------===//
#ifndef PLIM_COMPILER_LOWERING_GRAPHTOPLAN_STATESIZES_H
#define PLIM_COMPILER_LOWERING_GRAPHTOPLAN_STATESIZES_H

#include "compiler/Lowering/Candidates/Candidates.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace plim::lowering {

/// The variable of a graph.read or graph.assign.
graph::VariableOp variableOf(mlir::Operation *op);

/// The states of a function that grow.
struct StateSizes {
  /// What the size of states of one symbol is when a run has ended.
  struct Next {
    unsigned symbol = 0;
    mlir::AffineExpr size;
  };
  std::vector<Next> next;
  /// By the values that lie in them: reads, and next values that are appended in place.
  llvm::DenseMap<mlir::Value, graph::VariableOp> heldIn;
  /// Concatenations of a state and what is new, of which only the new part is written.
  llvm::DenseSet<mlir::Operation *> appends;
  /// By assigned value.
  llvm::DenseMap<mlir::Value, graph::AssignOp> growing;
  /// Largest values of expressions that a run checks.
  llvm::DenseMap<mlir::AffineExpr, int64_t> limits;
};

/// Ops that do not follow the strides of a state that grows get a copy of it to read. Before sizes are analysed.
void copyForStrides(mlir::func::FuncOp function);

/// Strides of a state in elements.
Sizes stridesOfState(graph::VariableOp variable);
/// The dimensions of a state at its bound.
llvm::SmallVector<int64_t> largestDims(graph::VariableOp variable);

} // namespace plim::lowering

#endif
