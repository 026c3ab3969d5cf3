//===- SplitWeights.h - Large weights as several constants ---------------------------------------===//
//
// A weight is dropped and read again as a whole, so that no plan takes less memory than its largest one. Cut into
// pieces that are constants of their own, it is read, awaited, kept and checked piece by piece.
//
//===------------------------------------------------------------------------------------------------===//
#ifndef PLIM_COMPILER_TRANSFORMS_GRAPH_SPLIT_SPLITWEIGHTS_H
#define PLIM_COMPILER_TRANSFORMS_GRAPH_SPLIT_SPLITWEIGHTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace plim::graph {

/// What cutting the weights of more than so many bytes would come to.
struct WeightCuts {
  int64_t pieces = 0;      // constants instead of the weights that are cut; 0 where none is
  int64_t largestRead = 0; // bytes of weights that an op reads at once, at most
};

/// Counts what splitWeights does, changes nothing.
WeightCuts countWeightCuts(mlir::ModuleOp module, int64_t bytes);

/// Cuts each weight of more than `bytes` of which products and gathers read pieces (see --graph-split-weights) in all
/// functions and in @setup; returns the number of pieces.
int64_t splitWeights(mlir::ModuleOp module, int64_t bytes);

} // namespace plim::graph

#endif
