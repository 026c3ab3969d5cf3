//===- DataMovementFold.cpp - Folders and canonical forms of data movement ops ------------------------------===//

#include "dialects/Graph/Folding.h"
#include "dialects/Graph/PartialOps.h"
#include "mlir/IR/PatternMatch.h"

#include <cmath>

using namespace mlir;
using namespace plim::graph;

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

static bool isIdentity(ArrayRef<int64_t> permutation) {
  return llvm::all_of(llvm::enumerate(permutation), [](auto it) { return it.value() == int64_t(it.index()); });
}

/// Whether a transpose leaves the order of elements alone: dimensions of size 1 may move freely.
static bool keepsOrder(ArrayRef<int64_t> permutation, ArrayRef<int64_t> shape) {
  int64_t last = -1;
  for (int64_t axis : permutation) {
    if (shape[axis] == 1)
      continue;
    if (axis < last)
      return false;
    last = axis;
  }
  return true;
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (isIdentity(getPermutation()) && getInput().getType() == getType())
    return getInput();
  if (auto inner = getInput().getDefiningOp<TransposeOp>()) {
    // The inverse of the inner transpose.
    SmallVector<int64_t> joint;
    for (int64_t axis : getPermutation())
      joint.push_back(inner.getPermutation()[axis]);
    if (isIdentity(joint) && inner.getInput().getType() == getType())
      return inner.getInput();
  }
  return foldMoved(*this, adaptor.getOperands());
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType() && llvm::count_if(getType().getShape(), ShapedType::isDynamic) <= 1)
    return getInput();
  if (auto inner = getInput().getDefiningOp<ReshapeOp>())
    if (inner.getInput().getType() == getType() && getType().hasStaticShape())
      return inner.getInput();
  return foldMoved(*this, adaptor.getOperands());
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType() && getType().hasStaticShape())
    return getInput();
  return foldMoved(*this, adaptor.getOperands());
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if ((*this)->hasAttr(kCopyAttr))
    return {};
  SmallVector<int64_t> steps = getFullSteps();
  bool whole = llvm::all_of(getStarts(), [](int64_t s) { return s == 0; }) &&
               llvm::all_of(steps, [](int64_t s) { return s == 1; });
  bool keepsAll = llvm::all_of(llvm::zip(getSizes(), shapeOf(getInput())),
                               [](auto it) { return std::get<0>(it) == -1 || std::get<0>(it) == std::get<1>(it); });
  if (whole && keepsAll && getInput().getType() == getType())
    return getInput();
  // Sizes that are known of a shape that is not.
  if (auto shape = getInput().getDefiningOp<ShapeOfOp>())
    return foldMove(knownSizes(shape), getType(), [&](int64_t i) -> std::pair<unsigned, int64_t> {
      int64_t axis = getStarts()[0] + i * steps[0];
      return {0, shape.getInput().getType().isDynamicDim(axis) ? -1 : axis};
    });
  return foldMoved(*this, adaptor.getOperands());
}

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  if (getInputs().size() == 1 && getInputs().front().getType() == getType())
    return getInputs().front();
  return foldMoved(*this, adaptor.getInputs());
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto none = [](int64_t pad) { return pad == 0; };
  if (llvm::all_of(getLow(), none) && llvm::all_of(getHigh(), none) && getInput().getType() == getType())
    return getInput();
  return {};
}

OpFoldResult FillOp::fold(FoldAdaptor) {
  RankedTensorType type = foldableType(getType());
  if (!type)
    return {};
  Elements elements{type, isa<FloatType>(type.getElementType()), {}, {}};
  const double value = getValue();
  if (elements.isFloat)
    elements.floats.assign(type.getNumElements(), value);
  else if (!(std::fabs(value) < 0x1p63)) // no integer holds it
    return {};
  else
    elements.ints.assign(type.getNumElements(), static_cast<int64_t>(value));
  return elements.write();
}

namespace {

struct JoinTransposes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<TransposeOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> joint;
    for (int64_t axis : op.getPermutation())
      joint.push_back(inner.getPermutation()[axis]);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getInput(), joint);
    return success();
  }
};

/// A transpose that moves dimensions of size 1 only is a view.
struct TransposeToReshape : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().hasStaticShape() || !keepsOrder(op.getPermutation(), shapeOf(op.getInput())))
      return failure();
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput(), op.getType().getShape());
    return success();
  }
};

struct JoinReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<ReshapeOp>();
    if (!inner)
      return failure();
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getInput(), op.getShape());
    return success();
  }
};

/// -1 in a shape is replaced by the size that inference found.
struct ResolveShape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    if (!op.getType().hasStaticShape() || op.getShape() == op.getType().getShape())
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.setShape(op.getType().getShape()); });
    return success();
  }
};

struct JoinSlices : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<SliceOp>();
    if (!inner || !op.getType().hasStaticShape() || inner->hasAttr(kCopyAttr))
      return failure();
    SmallVector<int64_t> starts, steps;
    for (auto [a, b, s, t] : llvm::zip(inner.getStarts(), op.getStarts(), inner.getFullSteps(), op.getFullSteps())) {
      starts.push_back(a + b * s);
      steps.push_back(s * t);
    }
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), inner.getInput(), starts, op.getType().getShape(), steps);
    return success();
  }
};

} // namespace

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<JoinTransposes, TransposeToReshape>(context);
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<JoinReshapes, ResolveShape>(context);
}

void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<JoinSlices>(context);
}
