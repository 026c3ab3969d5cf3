//===- PiecesOfWeights.cpp - Modules whose large weights are read in pieces -----------------===//
#include "compiler/Pipelines/PiecesOfWeights.h"
#include "compiler/Transforms/Graph/Split/SplitWeights.h"

using namespace mlir;

namespace plim {

/// Of the finest and the coarsest piece. A smaller one takes longer to ask for than to read.
static constexpr int64_t kFinest = 256 << 10, kCoarsest = 4 << 20;

/// Constants instead of weights; the coarsest pieces may be more.
static constexpr int64_t kMostPieces = 48;

/// Waits below this part of the time are not worth planning again.
static constexpr double kWaits = 0.05;

PiecesOfWeights piecesOfWeights(ModuleOp module) {
  PiecesOfWeights result;
  result.leastWhole = graph::countWeightCuts(module, INT64_MAX).largestRead;
  for (int64_t bytes = kCoarsest; bytes >= kFinest; bytes /= 2) {
    const graph::WeightCuts cuts = graph::countWeightCuts(module, bytes);
    if (cuts.pieces > kMostPieces && bytes < kCoarsest)
      break;
    if (cuts.pieces)
      result.bytes = bytes, result.leastBytes = cuts.largestRead;
  }
  return result;
}

OwningOpRef<ModuleOp> withWeightsInPieces(ModuleOp module, int64_t bytes) {
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
  graph::splitWeights(*copy, bytes);
  return copy;
}

bool waitsForWeights(plan::ModuleOp placed, int64_t predictedNs) {
  bool streams = false;
  double steps = 0;
  placed.walk([&](Operation *op) {
    if (auto launch = dyn_cast<plan::LaunchOp>(op))
      steps += double(launch.getCandidate(0).getNs());
    if (auto copy = dyn_cast<plan::CopyOp>(op)) {
      auto resident = copy.getSrc().getDefiningOp<plan::ResidentOp>();
      streams |= resident && resident.getInFile();
    }
  });
  return streams && double(predictedNs) * (1 - kWaits) > steps;
}

} // namespace plim
