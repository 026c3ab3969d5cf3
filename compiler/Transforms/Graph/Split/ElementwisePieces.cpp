//===- ElementwisePieces.cpp - Elementwise ops and fused regions in pieces -------------------------===//
#include "compiler/Transforms/Graph/Split/Pieces.h"
#include "mlir/IR/IRMapping.h"
#include <numeric>

using namespace mlir;

namespace plim::graph {
namespace {

template <typename OpTy> struct RowModel : PiecesOpInterface::ExternalModel<RowModel<OpTy>, OpTy> {
  void getSplitWays(Operation *op, StringRef, SmallVectorImpl<solver::SplitWay> &ways) const {
    for (auto [axis, size] : llvm::enumerate(staticDims(op->getResult(0))))
      if (size > 1)
        ways.push_back(rowsOf(op, int64_t(axis)));
  }
  Value buildPiece(Operation *op, OpBuilder &b, const Piece &, ValueRange operands) const {
    return cloneOn(b, op, operands);
  }
};

struct BroadcastModel : PiecesOpInterface::ExternalModel<BroadcastModel, BroadcastOp> {
  void getSplitWays(Operation *op, StringRef, SmallVectorImpl<solver::SplitWay> &ways) const {
    for (auto [axis, size] : llvm::enumerate(staticDims(op->getResult(0))))
      if (size > 1)
        ways.push_back(rowsOf(op, int64_t(axis)));
  }
  Value buildPiece(Operation *op, OpBuilder &b, const Piece &piece, ValueRange operands) const {
    SmallVector<int64_t> shape(staticDims(op->getResult(0)));
    shape[size_t(piece.way.axis)] = piece.rows.rows();
    return BroadcastOp::create(b, op->getLoc(), operands[0], shape);
  }
};

/// How the values inside a fused region are cut where its result is cut along an axis.
class RegionCut {
public:
  RegionCut(FusedOp fused, int64_t axis) : body(fused.getBody().front()) {
    if (fused->getNumResults() != 1 || !assign(fused.getYield().getOperand(0), {axis, 1}))
      return;
    for (Operation &op : llvm::reverse(body.without_terminator()))
      if (!cutOp(&op))
        return;
    way.axis = int(axis);
    for (BlockArgument argument : body.getArguments()) {
      auto at = cuts.find(argument);
      bool isCut = at != cuts.end() && at->second.axis >= 0;
      way.operands.push_back(isCut ? solver::SplitOperand{int(at->second.axis), 1, 0, 0, at->second.divisor}
                                   : solver::SplitOperand());
    }
    isSound = true;
  }

  bool sound() const { return isSound; }
  const solver::SplitWay &wayOf() const { return way; }

  /// Clones the op of the region, on operands that `map` has, for rows of the region's result.
  Value build(OpBuilder &b, Operation *op, solver::RowRange rows, const IRMapping &map) const {
    SmallVector<Value> operands;
    for (Value v : op->getOperands())
      operands.push_back(map.lookup(v));
    auto inner = ways.find(op);
    if (inner == ways.end())
      return cloneOn(b, op, operands);
    auto scaled = [&](const Cut &cut) {
      return solver::RowRange{rows.begin / cut.divisor, (rows.end + cut.divisor - 1) / cut.divisor};
    };
    SmallVector<solver::RowRange> reads;
    for (Value v : op->getOperands()) {
      const Cut &cut = cuts.find(v)->second;
      reads.push_back(cut.axis < 0 ? solver::RowRange() : scaled(cut));
    }
    Piece piece{inner->second, scaled(cuts.find(op->getResult(0))->second), reads};
    return cast<PiecesOpInterface>(op).buildPiece(b, piece, operands);
  }

private:
  /// Rows [i / divisor, j / divisor) of the value are those of rows [i, j) of the result; axis -1: all of it.
  struct Cut {
    int64_t axis, divisor;
    bool operator==(const Cut &) const = default;
  };
  Block &body;
  DenseMap<Value, Cut> cuts;
  DenseMap<Operation *, solver::SplitWay> ways;
  solver::SplitWay way;
  bool isSound = false;

  bool assign(Value value, Cut cut) {
    auto [at, isNew] = cuts.try_emplace(value, cut);
    return isNew || at->second == cut;
  }

  bool cutOp(Operation *op) {
    auto at = cuts.find(op->getResult(0));
    Cut mine = at == cuts.end() ? Cut{-1, 1} : at->second;
    cuts.try_emplace(op->getResult(0), mine);
    if (mine.axis < 0)
      return llvm::all_of(op->getOperands(), [&](Value v) { return assign(v, {-1, 1}); });
    auto pieces = dyn_cast<PiecesOpInterface>(op);
    if (!pieces)
      return false;
    SmallVector<solver::SplitWay> own;
    pieces.getSplitWays("", own);
    const auto *it = llvm::find_if(own, [&](const solver::SplitWay &w) { return !w.carried && w.axis == mine.axis; });
    if (it == own.end())
      return false;
    for (auto [value, operand] : llvm::zip_equal(op->getOperands(), it->operands)) {
      if (operand.axis >= 0 && (operand.stride != 1 || operand.before != 0 || operand.after != 0))
        return false;
      Cut cut{operand.axis, operand.axis < 0 ? 1 : mine.divisor * operand.divisor};
      if (!assign(value, cut))
        return false;
    }
    way.align = std::lcm(way.align, it->align * mine.divisor);
    ways.try_emplace(op, *it);
    return true;
  }
};

struct FusedModel : PiecesOpInterface::ExternalModel<FusedModel, FusedOp> {
  void getSplitWays(Operation *op, StringRef, SmallVectorImpl<solver::SplitWay> &ways) const {
    for (auto [axis, size] : llvm::enumerate(staticDims(op->getResult(0)))) {
      if (size <= 1)
        continue;
      RegionCut cut(cast<FusedOp>(op), int64_t(axis));
      if (cut.sound())
        ways.push_back(cut.wayOf());
    }
  }

  Value buildPiece(Operation *op, OpBuilder &b, const Piece &piece, ValueRange operands) const {
    auto fused = cast<FusedOp>(op);
    RegionCut cut(fused, piece.way.axis);
    SmallVector<int64_t> shape(staticDims(op->getResult(0)));
    shape[size_t(piece.way.axis)] = piece.rows.rows();
    Type type = RankedTensorType::get(shape, elementTypeOf(op->getResult(0)));
    auto copy = FusedOp::create(b, op->getLoc(), TypeRange{type}, operands);
    Block &body = copy.getBody().emplaceBlock();
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&body);
    IRMapping map;
    for (auto [argument, operand] : llvm::zip_equal(fused.getBody().getArguments(), operands))
      map.map(argument, body.addArgument(operand.getType(), argument.getLoc()));
    for (Operation &inner : fused.getBody().front().without_terminator()) {
      Value value = cut.build(b, &inner, piece.rows, map);
      if (!value) {
        copy.erase();
        return {};
      }
      map.map(inner.getResult(0), value);
    }
    YieldOp::create(b, op->getLoc(), map.lookup(fused.getYield().getOperand(0)));
    return copy->getResult(0);
  }
};

template <typename... OpTypes> void attachRows(MLIRContext &context) {
  (OpTypes::template attachInterface<RowModel<OpTypes>>(context), ...);
}

} // namespace

void registerElementwisePieces(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, GraphDialect *) {
    attachRows<
#define GET_OP_LIST
#include "dialects/Graph/ElementwiseOps.cpp.inc"
        >(*context);
    BroadcastOp::attachInterface<BroadcastModel>(*context);
    FusedOp::attachInterface<FusedModel>(*context);
  });
}

} // namespace plim::graph
