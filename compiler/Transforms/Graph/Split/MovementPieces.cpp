//===- MovementPieces.cpp - Ops that move elements, in pieces ---------------------------------------===//
#include "compiler/Transforms/Graph/Split/Pieces.h"
#include "dialects/Graph/PartialOps.h"

using namespace mlir;

namespace plim::graph {
namespace {

struct TransposeModel : PiecesOpInterface::ExternalModel<TransposeModel, TransposeOp> {
  void getSplitWays(Operation *op, StringRef, SmallVectorImpl<solver::SplitWay> &ways) const {
    for (auto [axis, from] : llvm::enumerate(cast<TransposeOp>(op).getPermutation()))
      ways.push_back({int(axis), 1, false, {{int(from)}}});
  }
  Value buildPiece(Operation *op, OpBuilder &b, const Piece &, ValueRange operands) const {
    return cloneOn(b, op, operands);
  }
};

/// An axis that has as many elements before it and as many rows in both shapes.
struct ReshapeModel : PiecesOpInterface::ExternalModel<ReshapeModel, ReshapeOp> {
  void getSplitWays(Operation *op, StringRef, SmallVectorImpl<solver::SplitWay> &ways) const {
    ArrayRef<int64_t> to = staticDims(op->getResult(0)), from = staticDims(op->getOperand(0));
    for (int64_t axis = 0, before = 1; axis < int64_t(to.size()); before *= to[size_t(axis++)]) {
      if (to[size_t(axis)] <= 1)
        continue;
      for (int64_t other = 0, passed = 1; other < int64_t(from.size()); passed *= from[size_t(other++)])
        if (passed == before && from[size_t(other)] == to[size_t(axis)]) {
          ways.push_back({int(axis), 1, false, {{int(other)}}});
          break;
        }
    }
  }
  Value buildPiece(Operation *op, OpBuilder &b, const Piece &piece, ValueRange operands) const {
    SmallVector<int64_t> shape(staticDims(op->getResult(0)));
    shape[size_t(piece.way.axis)] = piece.rows.rows();
    return ReshapeOp::create(b, op->getLoc(), operands[0], shape);
  }
};

struct ConcatModel : PiecesOpInterface::ExternalModel<ConcatModel, ConcatOp> {
  void getSplitWays(Operation *op, StringRef, SmallVectorImpl<solver::SplitWay> &ways) const {
    int64_t joined = cast<ConcatOp>(op).getAxis();
    for (int64_t axis = 0; axis < rankOf(op->getResult(0)); ++axis)
      if (axis != joined)
        ways.push_back({int(axis), 1, false, std::vector<solver::SplitOperand>(op->getNumOperands(), {int(axis)})});
  }
  Value buildPiece(Operation *op, OpBuilder &b, const Piece &, ValueRange operands) const {
    return cloneOn(b, op, operands);
  }
};

/// Along axes of which the slice takes all.
struct SliceModel : PiecesOpInterface::ExternalModel<SliceModel, SliceOp> {
  void getSplitWays(Operation *op, StringRef, SmallVectorImpl<solver::SplitWay> &ways) const {
    auto slice = cast<SliceOp>(op);
    for (auto [axis, step] : llvm::enumerate(slice.getFullSteps()))
      if (step == 1 && slice.getStarts()[axis] == 0 &&
          staticDims(slice.getInput())[axis] == staticDims(slice.getResult())[axis])
        ways.push_back({int(axis), 1, false, {{int(axis)}}});
  }
  Value buildPiece(Operation *op, OpBuilder &b, const Piece &piece, ValueRange operands) const {
    auto slice = cast<SliceOp>(op);
    SmallVector<int64_t> sizes(staticDims(slice.getResult()));
    sizes[size_t(piece.way.axis)] = piece.rows.rows();
    return SliceOp::create(b, op->getLoc(), operands[0], slice.getStarts(), sizes, slice.getSteps());
  }
};

/// Along axes that are not padded.
struct PadModel : PiecesOpInterface::ExternalModel<PadModel, PadOp> {
  void getSplitWays(Operation *op, StringRef, SmallVectorImpl<solver::SplitWay> &ways) const {
    auto pad = cast<PadOp>(op);
    for (auto [axis, low] : llvm::enumerate(pad.getLow()))
      if (low == 0 && pad.getHigh()[axis] == 0)
        ways.push_back({int(axis), 1, false, {{int(axis)}}});
  }
  Value buildPiece(Operation *op, OpBuilder &b, const Piece &, ValueRange operands) const {
    return cloneOn(b, op, operands);
  }
};

/// Along the dimensions of the indices.
struct GatherModel : PiecesOpInterface::ExternalModel<GatherModel, GatherOp> {
  void getSplitWays(Operation *op, StringRef, SmallVectorImpl<solver::SplitWay> &ways) const {
    auto gather = cast<GatherOp>(op);
    for (int64_t i = 0; i < rankOf(gather.getIndices()); ++i)
      ways.push_back({int(gather.getAxis() + i), 1, false, {{}, {int(i)}}});
  }
  Value buildPiece(Operation *op, OpBuilder &b, const Piece &, ValueRange operands) const {
    return cloneOn(b, op, operands);
  }
};

/// Likewise, and so the rows so far.
struct PartialGatherModel : PiecesOpInterface::ExternalModel<PartialGatherModel, PartialGatherOp> {
  void getSplitWays(Operation *op, StringRef, SmallVectorImpl<solver::SplitWay> &ways) const {
    auto gather = cast<PartialGatherOp>(op);
    for (int64_t i = 0; i < rankOf(gather.getIndices()); ++i) {
      ways.push_back({int(i), 1, false, {{}, {int(i)}}});
      if (gather.getSoFar())
        ways.back().operands.push_back({int(i)});
    }
  }
  Value buildPiece(Operation *op, OpBuilder &b, const Piece &, ValueRange operands) const {
    return cloneOn(b, op, operands);
  }
};

} // namespace

void registerMovementPieces(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, GraphDialect *) {
    TransposeOp::attachInterface<TransposeModel>(*context);
    ReshapeOp::attachInterface<ReshapeModel>(*context);
    ConcatOp::attachInterface<ConcatModel>(*context);
    SliceOp::attachInterface<SliceModel>(*context);
    PadOp::attachInterface<PadModel>(*context);
    GatherOp::attachInterface<GatherModel>(*context);
    PartialGatherOp::attachInterface<PartialGatherModel>(*context);
  });
}

} // namespace plim::graph
