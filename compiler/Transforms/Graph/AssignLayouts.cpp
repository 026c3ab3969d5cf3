//===- AssignLayouts.cpp - --graph-assign-layouts --------------------------------------------------------------===//

#include "compiler/Transforms/Graph/Matchers.h"
#include "compiler/Transforms/Graph/Passes.h"
#include "compiler/Transforms/Graph/Permute.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace plim::graph {
#define GEN_PASS_DEF_GRAPHASSIGNLAYOUTS
#include "compiler/Transforms/Graph/Passes.h.inc"

namespace {

/// [0, 2, ..., rank - 1, 1]
SmallVector<int64_t> toNhwc(int64_t rank) {
  SmallVector<int64_t> permutation{0};
  for (int64_t i = 2; i < rank; ++i)
    permutation.push_back(i);
  permutation.push_back(1);
  return permutation;
}

Value transposed(PatternRewriter &rewriter, Location loc, Value value, ArrayRef<int64_t> permutation) {
  return rewriter.createOrFold<TransposeOp>(loc, value, permutation);
}

Value packed(PatternRewriter &rewriter, Location loc, Value matrix) {
  return PackOp::create(rewriter, loc, matrix, StorageLayout::Panel32);
}

/// Replaces an op by its nhwc form: `change` gets a copy whose input and residual are in nhwc and adapts the rest.
template <typename OpTy, typename F> void rewriteToNhwc(PatternRewriter &rewriter, OpTy op, F change) {
  SmallVector<int64_t> forth = toNhwc(rankOf(op.getInput()));
  auto copy = cast<OpTy>(rewriter.clone(*op));
  rewriter.setInsertionPoint(copy);
  copy.getInputMutable().assign(transposed(rewriter, op.getLoc(), op.getInput(), forth));
  copy.setLayout(ImageLayout::NHWC);
  change(copy);
  Dims dims, old = dimsOf(op.getType());
  for (int64_t axis : forth)
    dims.push_back(old[axis]);
  copy.getResult().setType(tensorOf(dims, elementTypeOf(op.getResult())));
  rewriter.setInsertionPointAfter(copy);
  rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), copy.getResult(), inverseOf(forth));
}

bool isConvertible(Operation *op, Value filter) {
  return hasStaticShape(filter) && elementTypeOf(filter).isF32() && isSetupValue(filter);
}

/// [O, I, kernel...] as [kernel... * I, O] in panels; depthwise [C, 1, kernel...] as [kernel..., C].
template <typename OpTy> Value filterOf(PatternRewriter &rewriter, OpTy op) {
  Location loc = op.getLoc();
  Value filter = op.getFilter();
  SmallVector<int64_t> shape(shapeOf(filter));
  int64_t rank = shape.size();
  if (op.getGroups() > 1 && shape[0] == op.getGroups() && shape[1] == 1) {
    shape.erase(shape.begin() + 1);
    SmallVector<int64_t> channelsLast = llvm::to_vector(llvm::seq<int64_t>(1, rank - 1));
    channelsLast.push_back(0);
    return transposed(rewriter, loc, ReshapeOp::create(rewriter, loc, filter, shape), channelsLast);
  }
  SmallVector<int64_t> outputsLast = llvm::to_vector(llvm::seq<int64_t>(2, rank));
  outputsLast.append({1, 0});
  Value matrix =
      ReshapeOp::create(rewriter, loc, transposed(rewriter, loc, filter, outputsLast), ArrayRef<int64_t>{-1, shape[0]});
  return op.getGroups() == 1 ? packed(rewriter, loc, matrix) : matrix;
}

struct ConvToNhwc : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    if (op.getLayout() != ImageLayout::NCHW || !isConvertible(op, op.getFilter()))
      return failure();
    Window window = op.getWindow();
    rewriteToNhwc(rewriter, op, [&](ConvOp copy) {
      copy.setKernel(window.kernel);
      copy.getFilterMutable().assign(filterOf(rewriter, op));
      if (op.getResidual())
        copy.getResidualMutable().assign(
            transposed(rewriter, op.getLoc(), op.getResidual(), toNhwc(rankOf(op.getInput()))));
    });
    return success();
  }
};

struct IntegerConvToNhwc : OpRewritePattern<IntegerConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(IntegerConvOp op, PatternRewriter &rewriter) const override {
    if (op.getLayout() != ImageLayout::NCHW || !isSetupValue(op.getFilter()))
      return failure();
    Window window = op.getWindow();
    rewriteToNhwc(rewriter, op, [&](IntegerConvOp copy) {
      copy.setKernel(window.kernel);
      copy.getFilterMutable().assign(filterOf(rewriter, op));
    });
    return success();
  }
};

struct ConvTransposeToNhwc : OpRewritePattern<ConvTransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvTransposeOp op, PatternRewriter &rewriter) const override {
    if (op.getLayout() != ImageLayout::NCHW || op.getGroups() != 1 || !isConvertible(op, op.getFilter()))
      return failure();
    Window window = op.getWindow();
    rewriteToNhwc(rewriter, op, [&](ConvTransposeOp copy) {
      copy.setKernel(window.kernel);
      // [C, O, kernel...] as [C, kernel... * O]
      Value columns = transposed(rewriter, op.getLoc(), op.getFilter(), toNhwc(rankOf(op.getFilter())));
      Value matrix =
          ReshapeOp::create(rewriter, op.getLoc(), columns, ArrayRef<int64_t>{shapeOf(op.getFilter())[0], -1});
      copy.getFilterMutable().assign(packed(rewriter, op.getLoc(), matrix));
      if (op.getResidual())
        copy.getResidualMutable().assign(
            transposed(rewriter, op.getLoc(), op.getResidual(), toNhwc(rankOf(op.getInput()))));
    });
    return success();
  }
};

template <typename OpTy> struct WindowToNhwc : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (op.getLayout() != ImageLayout::NCHW)
      return failure();
    rewriteToNhwc(rewriter, op, [](OpTy) {});
    return success();
  }
};

/// Whether an op of the run reads a weight as it is stored: an embedding that is also the last product's matrix.
/// Packed, it would lie in memory twice.
bool isReadAsStored(Value weight) {
  return weight.getDefiningOp<ParameterOp>() && llvm::any_of(weight.getUsers(), [](Operation *user) {
           return !isa<MatmulOp>(user) && !llvm::all_of(user->getOperands(), [](Value v) { return isHoistable(v); });
         });
}

/// A weight on the right of a product is packed.
struct PackRhs : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    Value rhs = op.getRhs();
    if (rankOf(rhs) != 2 || layoutOf(rhs.getType()) || !hasStaticShape(rhs) || !elementTypeOf(rhs).isF32() ||
        !isHoistable(rhs) || isReadAsStored(rhs))
      return failure();
    Value matrix = op.getTransposeRhs() ? transposed(rewriter, op.getLoc(), rhs, {1, 0}) : rhs;
    Value panels = packed(rewriter, op.getLoc(), matrix);
    Value lhs = op.getLhs();
    if (op.getTransposeLhs()) {
      // The kernels of packed weights walk rows of the left side.
      auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, rankOf(lhs)));
      std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - 2]);
      lhs = transposed(rewriter, op.getLoc(), lhs, permutation);
    }
    rewriter.modifyOpInPlace(op, [&] {
      op.getLhsMutable().assign(lhs);
      op.setTransposeLhs(false);
      op.getRhsMutable().assign(panels);
      op.setTransposeRhs(false);
    });
    return success();
  }
};

/// So is one that is stored in few bits, whose element type it keeps.
template <typename OpTy> struct PackQuantizedRhs : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    if (rankOf(op.getRhs()) != 2 || layoutOf(op.getRhs().getType()) || !hasStaticShape(op.getRhs()) ||
        !isHoistable(op.getRhs()))
      return failure();
    Value panels = packed(rewriter, op.getLoc(), op.getRhs());
    rewriter.modifyOpInPlace(op, [&] { op.getRhsMutable().assign(panels); });
    return success();
  }
};

/// The weights of a recurrence are packed as its kernels read them: [H, columns], those of each product and direction
/// filled up to whole panels.
struct PackRecurrent : OpRewritePattern<RecurrenceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RecurrenceOp op, PatternRewriter &rewriter) const override {
    Value weights = op.getRecurrent();
    if (layoutOf(weights.getType()) || !elementTypeOf(op.getProjected()).isF32() || !hasStaticShape(weights) ||
        !isHoistable(weights))
      return failure();
    Location loc = op.getLoc();
    int64_t directions = op.getDirections(), size = op.getHiddenSize(), first = 0;
    SmallVector<Value> products;
    for (int64_t gates : op.getProducts()) {
      int64_t columns = gates * size, filled = llvm::alignTo(columns, 32);
      Value part = weights;
      if (gates != op.getGates())
        part = SliceOp::create(rewriter, loc, part, ArrayRef<int64_t>{0, first, 0},
                               ArrayRef<int64_t>{directions, columns, size});
      if (filled != columns)
        part =
            PadOp::create(rewriter, loc, part, ArrayRef<int64_t>{0, 0, 0}, ArrayRef<int64_t>{0, filled - columns, 0});
      products.push_back(part);
      first += columns;
    }
    Value all = products.size() == 1 ? products.front() : ConcatOp::create(rewriter, loc, products, 1);
    Value matrix = ReshapeOp::create(rewriter, loc, all, ArrayRef<int64_t>{-1, size});
    Value panels = packed(rewriter, loc, transposed(rewriter, loc, matrix, {1, 0}));
    rewriter.modifyOpInPlace(op, [&] { op.getRecurrentMutable().assign(panels); });
    return success();
  }
};

struct AssignLayouts : impl::GraphAssignLayoutsBase<AssignLayouts> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<ConvToNhwc, IntegerConvToNhwc, ConvTransposeToNhwc, WindowToNhwc<PoolOp>, WindowToNhwc<ResizeOp>, PackRhs,
            PackQuantizedRhs<QuantizedMatmulOp>, PackQuantizedRhs<IntegerMatmulOp>>(context);
    set.add<PackRecurrent>(context);
    populateSinkTransposes(set);
    populateRaiseTransposes(set);
    TransposeOp::getCanonicalizationPatterns(set, context);
    ReshapeOp::getCanonicalizationPatterns(set, context);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    if (failed(applyPatternsGreedily(getOperation(), patterns)))
      getOperation()->emitWarning("graph-assign-layouts stopped before its rewrites came to an end");
  }

  FrozenRewritePatternSet patterns;
};

} // namespace
} // namespace plim::graph
