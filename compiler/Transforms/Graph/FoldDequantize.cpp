//===- FoldDequantize.cpp - --graph-fold-dequantize ------------------------------------------------------------===//

#include "compiler/Transforms/Graph/DequantizedWeight.h"
#include "compiler/Transforms/Graph/Matchers.h"
#include "compiler/Transforms/Graph/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace plim::graph {
#define GEN_PASS_DEF_GRAPHFOLDDEQUANTIZE
#include "compiler/Transforms/Graph/Passes.h.inc"

namespace {

//===----------------------------------------------------------------------===//
// Rows that are picked
//===----------------------------------------------------------------------===//

/// The op that computes a widened weight last, if it works on each element by itself.
Operation *lastStep(Value value) {
  Operation *op = value.getDefiningOp();
  return op && isa<CastOp, SubOp, MulOp>(op) && DequantizedWeight::of(value) ? op : nullptr;
}

/// A copy of `op` on operands that `pick` made of its own, or nothing where one of them has no pick.
Value pickedBefore(PatternRewriter &rewriter, Operation *op, Type type, function_ref<Value(Value)> pick) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    Value picked = pick(operand);
    if (!picked)
      return {};
    operands.push_back(picked);
  }
  OperationState state(op->getLoc(), op->getName(), operands, {type}, op->getAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  return rewriter.create(state)->getResult(0);
}

/// gather(dequantise(table)) is dequantise(gather(table)): the table stays as it is stored.
struct GatherBeforeDequantize : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    Operation *step = lastStep(op.getInput());
    if (!step || op.getAxis() != 0)
      return failure();
    ArrayRef<int64_t> table = shapeOf(op.getInput());
    Value result = pickedBefore(rewriter, step, op.getType(), [&](Value operand) -> Value {
      ArrayRef<int64_t> shape = shapeOf(operand);
      if (shape.size() < table.size())
        return operand;
      if (shape[0] == 1 && table[0] != 1)
        return rewriter.createOrFold<ReshapeOp>(op.getLoc(), operand, shape.drop_front());
      return rewriter.createOrFold<GatherOp>(op.getLoc(), operand, op.getIndices(), int64_t(0));
    });
    if (!result)
      return failure();
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// The same for slices.
struct SliceBeforeDequantize : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    Operation *step = lastStep(op.getInput());
    if (!step || !hasStaticShape(op.getResult()))
      return failure();
    ArrayRef<int64_t> whole = shapeOf(op.getInput()), part = shapeOf(op.getResult());
    SmallVector<int64_t> steps(op.getFullSteps());
    Value result = pickedBefore(rewriter, step, op.getType(), [&](Value operand) -> Value {
      ArrayRef<int64_t> shape = shapeOf(operand);
      size_t missing = whole.size() - shape.size();
      SmallVector<int64_t> starts, sizes, own;
      for (auto [d, size] : llvm::enumerate(shape)) {
        bool repeats = size == 1 && whole[d + missing] != 1;
        starts.push_back(repeats ? 0 : op.getStarts()[d + missing]);
        sizes.push_back(repeats ? 1 : part[d + missing]);
        own.push_back(repeats ? 1 : steps[d + missing]);
      }
      return rewriter.createOrFold<SliceOp>(op.getLoc(), operand, starts, sizes, own);
    });
    if (!result)
      return failure();
    rewriter.replaceOp(op, result);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Whether a bias is one number a column.
bool isOfColumns(Value bias, int64_t n) {
  return hasStaticShape(bias) && rankOf(bias) > 0 && shapeOf(bias).back() == n &&
         ShapedType::getNumElements(shapeOf(bias)) == n;
}

struct QuantizedProduct : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    int64_t rank = rankOf(op.getLhs());
    if (!elementTypeOf(op.getLhs()).isF32() || rank < 2 || layoutOf(op.getRhs().getType()) || rankOf(op.getRhs()) != 2)
      return failure();
    std::optional<DequantizedWeight> weight = DequantizedWeight::of(op.getRhs());
    if (!weight)
      return failure();
    std::optional<QuantizedMatrix> matrix = QuantizedMatrix::of(*weight, op.getTransposeRhs());
    if (!matrix)
      return failure();
    // Another bias is added behind the product.
    bool addsLater = op.getBias() && !isOfColumns(op.getBias(), matrix->n);
    if (addsLater && (op.getResidual() || op.getActivation() != Activation::None))
      return failure();
    Location loc = op.getLoc();
    QuantizedMatrix::Operands operands = matrix->build(rewriter, loc);
    Value bias;
    if (op.getBias() && !addsLater)
      bias = rewriter.createOrFold<ReshapeOp>(loc, op.getBias(), ArrayRef<int64_t>{matrix->n});
    Value lhs = op.getLhs();
    if (op.getTransposeLhs()) {
      auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, rank));
      std::swap(permutation[rank - 1], permutation[rank - 2]);
      lhs = rewriter.createOrFold<TransposeOp>(loc, lhs, permutation);
    }
    if (operands.rows)
      lhs = MulOp::create(rewriter, loc, lhs, operands.rows);
    Value product =
        QuantizedMatmulOp::create(rewriter, loc, op.getType(), lhs, operands.stored, operands.scale, operands.zero,
                                  bias, op.getResidual(), op.getActivation(), op.getAlpha(), op.getBeta());
    if (addsLater)
      product = AddOp::create(rewriter, loc, op.getType(), product, op.getBias());
    rewriter.replaceOp(op, product);
    return success();
  }
};

struct FoldDequantize : impl::GraphFoldDequantizeBase<FoldDequantize> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<GatherBeforeDequantize, SliceBeforeDequantize, QuantizedProduct>(context);
    populateIntegerProductPatterns(set);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    if (failed(applyPatternsGreedily(getOperation(), patterns)))
      getOperation()->emitWarning("graph-fold-dequantize stopped before its rewrites came to an end");
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace plim::graph
