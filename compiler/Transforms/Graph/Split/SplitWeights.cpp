//===- SplitWeights.cpp - --graph-split-weights ---------------------------------------------------===//
//
// A product whose weight is cut along its columns is one product for each piece, whose results a concat joins: lowering
// writes them in place. A gather from a table that is cut along its rows goes on from piece to piece. Sums of a product
// are those of the whole: no element of the result depends on another column, and pieces end at panels.
//
//===------------------------------------------------------------------------------------------------===//
#include "compiler/Transforms/Graph/Split/SplitWeights.h"
#include "compiler/Transforms/Graph/Passes.h"
#include "compiler/Transforms/Graph/Split/Pieces.h"
#include "compiler/Transforms/Graph/Split/WeightPieces.h"
#include "dialects/Graph/PartialOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace plim::graph {
#define GEN_PASS_DEF_GRAPHSPLITWEIGHTS
#include "compiler/Transforms/Graph/Passes.h.inc"

namespace {

using solver::RowRange;

/// Columns of a panel, where kernels begin anew.
constexpr int64_t kPanel = 32;

/// The dimension of the weight along which its reader can be cut, or nothing.
std::optional<int64_t> cutOf(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto gather = dyn_cast<GatherOp>(op))
    return use.getOperandNumber() == 0 && int64_t(gather.getAxis()) == 0 ? std::optional<int64_t>(0) : std::nullopt;
  if (!isa<MatmulOp, QuantizedMatmulOp, IntegerMatmulOp>(op) || use.getOperandNumber() != 1 || rankOf(use.get()) != 2)
    return std::nullopt;
  auto product = dyn_cast<MatmulOp>(op);
  return product && product.getTransposeRhs() ? 0 : 1;
}

/// A weight of all functions but @setup.
struct Weight {
  Value value;                 // one of its parameters
  std::optional<int64_t> axis; // along which all readers can be cut
  SmallVector<OpOperand *> uses;
};

/// By name, in the order in which they are read; those that cannot be cut have no axis.
llvm::MapVector<StringRef, Weight> weightsOf(ModuleOp module) {
  llvm::MapVector<StringRef, Weight> weights;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.getName() == "setup")
      continue;
    function.walk([&](ParameterOp op) {
      auto [at, isNew] = weights.insert({op.getName(), Weight{op.getResult(), std::nullopt, {}}});
      for (OpOperand &use : op->getUses())
        at->second.uses.push_back(&use);
    });
  }
  for (auto &[name, weight] : weights) {
    if (weight.uses.empty() || !cast<RankedTensorType>(weight.value.getType()).hasStaticShape())
      continue;
    weight.axis = cutOf(*weight.uses.front());
    for (OpOperand *use : weight.uses)
      if (cutOf(*use) != weight.axis)
        weight.axis = std::nullopt;
  }
  return weights;
}

/// Equal pieces of at most so many bytes, but for the last, or one panel each; none where the weight is no larger.
SmallVector<RowRange> piecesOf(const Weight &weight, int64_t bytes) {
  std::optional<int64_t> all = bytesOf(weight.value.getType());
  if (!weight.axis || !all || *all <= bytes)
    return {};
  const int64_t size = staticDims(weight.value)[size_t(*weight.axis)];
  const int64_t row = std::max<int64_t>(*all / size, 1), most = std::max(bytes / row / kPanel * kPanel, kPanel);
  if (size <= most)
    return {};
  const int64_t count = llvm::divideCeil(size, most), each = llvm::alignTo(llvm::divideCeil(size, count), kPanel);
  SmallVector<RowRange> pieces;
  for (int64_t begin = 0; begin < size; begin += each)
    pieces.push_back({begin, std::min(begin + each, size)});
  return pieces;
}

class Cutter {
public:
  explicit Cutter(ModuleOp module) : module(module), weights(module) {}

  void cut(const Weight &weight, ArrayRef<RowRange> pieces) {
    for (OpOperand *use : weight.uses) {
      Operation *op = use->getOwner();
      OpBuilder b(op);
      auto parameter = use->get().getDefiningOp<ParameterOp>();
      op->getResult(0).replaceAllUsesWith(isa<GatherOp>(op) ? gatherPieces(b, cast<GatherOp>(op), parameter, pieces)
                                                            : joinedPieces(b, op, parameter, *weight.axis, pieces));
      op->erase();
    }
  }
  void finish() {
    module.walk([](ParameterOp op) {
      if (op->use_empty())
        op->erase();
    });
    weights.finish();
  }

private:
  Value gatherPieces(OpBuilder &b, GatherOp op, ParameterOp table, ArrayRef<RowRange> pieces) {
    Value soFar;
    for (RowRange rows : pieces)
      soFar = PartialGatherOp::create(b, op.getLoc(), op.getType(), weights.piece(b, table, 0, rows), op.getIndices(),
                                      soFar, rows.begin, pieces.back().end);
    return soFar;
  }

  Value joinedPieces(OpBuilder &b, Operation *op, ParameterOp weight, int64_t axis, ArrayRef<RowRange> pieces) {
    Value result = op->getResult(0);
    SmallVector<Value> parts;
    for (RowRange columns : pieces) {
      Operation *part = op->clone();
      for (auto [i, operand] : llvm::enumerate(op->getOperands()))
        if (i > 0)
          part->setOperand(unsigned(i), i == 1 ? weights.piece(b, weight, axis, columns)
                                               : columnsOf(b, operand, columns, pieces.back().end));
      Dims dims = dimsOf(result.getType());
      dims.back() = Dim(columns.rows());
      part->getResult(0).setType(tensorOf(dims, elementTypeOf(result)));
      parts.push_back(b.insert(part)->getResult(0));
    }
    return ConcatOp::create(b, op->getLoc(), result.getType(), parts, rankOf(result) - 1);
  }

  /// The columns of a bias, residual, scale or zero; all of it where it has one for all columns.
  Value columnsOf(OpBuilder &b, Value value, RowRange columns, int64_t all) {
    const Dims dims = dimsOf(value.getType());
    if (dims.empty() || dims.back() != Dim(all))
      return value;
    const int64_t last = int64_t(dims.size()) - 1;
    // What depends on weights alone is no work of a run but for views.
    const bool isView = llvm::all_of(ArrayRef(dims).drop_back(), [](Dim dim) { return dim == Dim(1); });
    if (auto weight = value.getDefiningOp<ParameterOp>(); weight && !isView && weight.getType().hasStaticShape())
      return weights.piece(b, weight, last, columns);
    SmallVector<int64_t> starts(dims.size(), 0), sizes;
    for (Dim dim : dims)
      sizes.push_back(dim.isStatic() ? dim.lo : -1);
    starts.back() = columns.begin, sizes.back() = columns.rows();
    return b.createOrFold<SliceOp>(value.getLoc(), value, starts, sizes);
  }

  ModuleOp module;
  WeightPieces weights;
};

struct SplitWeights : impl::GraphSplitWeightsBase<SplitWeights> {
  using GraphSplitWeightsBase::GraphSplitWeightsBase;
  void runOnOperation() override {
    if (bytes <= 0) {
      getOperation().emitError("graph-split-weights needs bytes above 0, has ") << int64_t(bytes);
      return signalPassFailure();
    }
    splitWeights(getOperation(), bytes);
  }
};

} // namespace

WeightCuts countWeightCuts(ModuleOp module, int64_t bytes) {
  WeightCuts cuts;
  DenseMap<Operation *, int64_t> reads; // of weights, by op
  for (auto &[name, weight] : weightsOf(module)) {
    SmallVector<RowRange> pieces = piecesOf(weight, bytes);
    int64_t most = bytesOf(weight.value.getType()).value_or(0);
    if (!pieces.empty()) {
      const int64_t size = staticDims(weight.value)[size_t(*weight.axis)];
      most = most / size * pieces.front().rows();
      cuts.pieces += int64_t(pieces.size());
    }
    for (OpOperand *use : weight.uses)
      cuts.largestRead = std::max(cuts.largestRead, reads[use->getOwner()] += most);
  }
  return cuts;
}

int64_t splitWeights(ModuleOp module, int64_t bytes) {
  Cutter cutter(module);
  int64_t count = 0;
  for (auto &[name, weight] : weightsOf(module))
    if (SmallVector<RowRange> pieces = piecesOf(weight, bytes); !pieces.empty()) {
      cutter.cut(weight, pieces);
      count += int64_t(pieces.size());
    }
  if (count)
    cutter.finish();
  return count;
}

} // namespace plim::graph
