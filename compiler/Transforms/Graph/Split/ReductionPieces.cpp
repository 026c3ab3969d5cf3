//===- ReductionPieces.cpp - Products, attention, norms and reductions in pieces ---------------------===//
#include "compiler/Transforms/Graph/Split/Pieces.h"
#include "dialects/Graph/PartialOps.h"

using namespace mlir;

namespace plim::graph {
namespace {

/// Rows and batches of the left side; the right side is whole but where it has batches too.
template <typename OpTy> struct ProductModel : PiecesOpInterface::ExternalModel<ProductModel<OpTy>, OpTy> {
  void getSplitWays(Operation *op, StringRef, SmallVectorImpl<solver::SplitWay> &ways) const {
    auto product = cast<OpTy>(op);
    int64_t rank = rankOf(product.getResult());
    if (rank < 2 || rankOf(product.getLhs()) < 2 || rankOf(product.getRhs()) < 2)
      return;
    if constexpr (std::is_same_v<OpTy, MatmulOp>)
      if (product.getTransposeLhs())
        return;
    for (int64_t axis = 0; axis < rank - 1; ++axis) {
      if (staticDims(product.getResult())[size_t(axis)] <= 1)
        continue;
      solver::SplitWay way = rowsOf(op, axis);
      // Where sizes are equal by chance, rows of the right side and of its scales are no rows of the result.
      if (axis == rank - 2)
        way.operands[1] = {};
      if constexpr (std::is_same_v<OpTy, QuantizedMatmulOp>)
        for (auto [i, operand] : llvm::enumerate(op->getOperands()))
          if (i > 0 && operand != product.getResidual())
            way.operands[i] = {};
      if (way.operands[0].axis >= 0)
        ways.push_back(way);
    }
  }
  Value buildPiece(Operation *op, OpBuilder &b, const Piece &, ValueRange operands) const {
    return cloneOn(b, op, operands);
  }
};

/// Batches, heads and query rows.
struct AttentionModel : PiecesOpInterface::ExternalModel<AttentionModel, AttentionOp> {
  void getSplitWays(Operation *op, StringRef, SmallVectorImpl<solver::SplitWay> &ways) const {
    auto attention = cast<AttentionOp>(op);
    ArrayRef<int64_t> q = staticDims(attention.getQuery()), k = staticDims(attention.getKey());
    for (int64_t axis = 0; axis < 3; ++axis) {
      if (q[size_t(axis)] <= 1 || (axis == 1 && q[1] != k[1]) || (axis == 2 && attention.getCausal()))
        continue;
      solver::SplitWay way = rowsOf(op, axis);
      if (axis == 2)
        way.operands[1] = way.operands[2] = {};
      ways.push_back(way);
    }
  }
  Value buildPiece(Operation *op, OpBuilder &b, const Piece &, ValueRange operands) const {
    return cloneOn(b, op, operands);
  }
};

/// Along axes over which nothing is summed.
template <typename OpTy> struct NormModel : PiecesOpInterface::ExternalModel<NormModel<OpTy>, OpTy> {
  void getSplitWays(Operation *op, StringRef, SmallVectorImpl<solver::SplitWay> &ways) const {
    int64_t first = int64_t(cast<OpTy>(op).getAxis());
    for (int64_t axis = 0; axis < rankOf(op->getResult(0)); ++axis) {
      bool summed = std::is_same_v<OpTy, SoftmaxOp> ? axis == first : axis >= first;
      if (summed || staticDims(op->getResult(0))[size_t(axis)] <= 1)
        continue;
      solver::SplitWay way;
      way.axis = int(axis);
      way.operands.assign(op->getNumOperands(), {});
      way.operands[0] = {int(axis)};
      ways.push_back(way);
    }
  }
  Value buildPiece(Operation *op, OpBuilder &b, const Piece &, ValueRange operands) const {
    return cloneOn(b, op, operands);
  }
};

struct ReduceModel : PiecesOpInterface::ExternalModel<ReduceModel, ReduceOp> {
  void getSplitWays(Operation *op, StringRef kernel, SmallVectorImpl<solver::SplitWay> &ways) const {
    auto reduce = cast<ReduceOp>(op);
    int64_t result = 0;
    for (int64_t axis = 0; axis < rankOf(reduce.getInput()); ++axis) {
      if (!llvm::is_contained(reduce.getAxes(), axis))
        ways.push_back({int(result), 1, false, {{int(axis)}}});
      else if (!reduce.getKeepDims())
        continue;
      ++result;
    }
    if (kernel == "reduce.nhwc_spatial_mean")
      ways.push_back({0, 1, true, {{1}}});
  }

  /// `operands` of a carried sum: the rows, and the sums so far but for the first piece.
  Value buildPiece(Operation *op, OpBuilder &b, const Piece &piece, ValueRange operands) const {
    if (!piece.way.carried)
      return cloneOn(b, op, operands);
    auto reduce = cast<ReduceOp>(op);
    return PartialMeanOp::create(b, op->getLoc(), operands[0], operands.size() > 1 ? operands[1] : Value(),
                                 piece.rows.begin, staticDims(reduce.getInput())[1], reduce.getKeepDims());
  }
};

} // namespace

void registerReductionPieces(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, GraphDialect *) {
    MatmulOp::attachInterface<ProductModel<MatmulOp>>(*context);
    QuantizedMatmulOp::attachInterface<ProductModel<QuantizedMatmulOp>>(*context);
    IntegerMatmulOp::attachInterface<ProductModel<IntegerMatmulOp>>(*context);
    AttentionOp::attachInterface<AttentionModel>(*context);
    SoftmaxOp::attachInterface<NormModel<SoftmaxOp>>(*context);
    LayerNormOp::attachInterface<NormModel<LayerNormOp>>(*context);
    RmsNormOp::attachInterface<NormModel<RmsNormOp>>(*context);
    ReduceOp::attachInterface<ReduceModel>(*context);
  });
}

} // namespace plim::graph
