//===- PiecesOfWeights.h - Modules whose large weights are read in pieces -------------------===//
#ifndef PLIM_COMPILER_PIPELINES_PIECESOFWEIGHTS_H
#define PLIM_COMPILER_PIPELINES_PIECESOFWEIGHTS_H

#include "dialects/Plan/PlanDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace plim {

/// Weights in pieces, where constants may be streamed.
struct PiecesOfWeights {
  int64_t bytes = 0;      // of the largest piece; 0 where no large weight can be cut
  int64_t leastBytes = 0; // no plan in pieces takes less
  int64_t leastWhole = 0; // no plan of whole weights takes less
};

/// The one size that is worth planning: fine, but of no more constants than a planner has time for. It depends on the
/// module alone, which is after all graph passes, not on a budget.
PiecesOfWeights piecesOfWeights(mlir::ModuleOp module);

/// A copy of the module whose weights of more than `bytes` are in pieces (--graph-split-weights).
mlir::OwningOpRef<mlir::ModuleOp> withWeightsInPieces(mlir::ModuleOp module, int64_t bytes);

/// Whether a placed plan of this predicted time may gain from weights in pieces, of which some stay in memory where
/// whole ones would not: it reads constants from their file, and takes longer than its steps do.
bool waitsForWeights(plan::ModuleOp placed, int64_t predictedNs);

} // namespace plim

#endif
