//===- Permute.cpp - Moving transposes through ops --------------------------------------------------------===//

#include "compiler/Transforms/Graph/Permute.h"
#include "compiler/Transforms/Graph/Matchers.h"

using namespace mlir;

namespace plim::graph {
namespace {

/// A value with leading dimensions of size 1 up to a rank.
Value atRank(OpBuilder &b, Location loc, Value value, int64_t rank) {
  ArrayRef<int64_t> shape = shapeOf(value);
  if (static_cast<int64_t>(shape.size()) == rank)
    return value;
  SmallVector<int64_t> padded(rank - shape.size(), 1);
  padded.append(shape.begin(), shape.end());
  return ReshapeOp::create(b, loc, value, padded);
}

/// Elements of a value at its largest.
int64_t elementCount(Value value) { return elementsOf(dimsOf(value.getType())).hi; }

bool isTransparent(Operation *op) {
  auto layout = dyn_cast<LayoutOpInterface>(op);
  if (!layout || op->getNumResults() != 1 || layout.getLayoutBehaviour() != LayoutBehaviour::Transparent)
    return false;
  // A dynamic operand cannot be given more dimensions.
  int64_t rank = rankOf(op->getResult(0));
  return llvm::all_of(op->getOperands(), [&](Value v) { return hasStaticShape(v) || rankOf(v) == rank; });
}

/// Whether an operand has one element a channel for ops that take such parameters whatever the layout.
bool isPermuted(Operation *op, unsigned operand) { return !isa<BatchNormOp>(op) || operand == 0; }

/// The op on operands permuted by `permutation`; its result is the old one permuted. Null where no such op exists.
Operation *cloneUnder(OpBuilder &b, Operation *op, ArrayRef<int64_t> permutation) {
  int64_t rank = permutation.size();
  Operation *clone = op->clone();
  if (failed(cast<LayoutOpInterface>(clone).permuteAttributes(permutation))) {
    clone->destroy();
    return nullptr;
  }
  for (OpOperand &operand : clone->getOpOperands()) {
    // A single element repeats along every dimension.
    bool repeats = isa<ScalarBodyOpInterface>(op) && elementCount(operand.get()) == 1;
    if (!isPermuted(op, operand.getOperandNumber()) || (repeats && rank > 1 && rankOf(operand.get()) <= 1))
      continue;
    Value full = atRank(b, op->getLoc(), operand.get(), rank);
    operand.set(b.createOrFold<TransposeOp>(op->getLoc(), full, permutation));
  }
  Dims dims;
  Dims old = dimsOf(op->getResult(0).getType());
  for (int64_t axis : permutation)
    dims.push_back(old[axis]);
  clone->getResult(0).setType(tensorOf(dims, elementTypeOf(op->getResult(0))));
  b.insert(clone);
  return clone;
}

/// op(transpose(x), ...) = transpose(op'(x, ...))
struct SinkTranspose : OpInterfaceRewritePattern<LayoutOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(LayoutOpInterface op, PatternRewriter &rewriter) const override {
    if (!isTransparent(op))
      return failure();
    ArrayRef<int64_t> permutation;
    int64_t rank = rankOf(op->getResult(0));
    int64_t elements = elementCount(op->getResult(0));
    SmallVector<Value> others;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isPermuted(op, operand.getOperandNumber()))
        continue;
      auto transpose = operand.get().getDefiningOp<TransposeOp>();
      // What broadcasts to the result is no reason to move it: two such operands would take turns.
      bool counts = transpose && rankOf(operand.get()) == rank && !isSetupValue(operand.get()) &&
                    elementCount(operand.get()) > elements / 8;
      if (counts && permutation.empty())
        permutation = transpose.getPermutation();
      if (!counts || transpose.getPermutation() != permutation)
        others.push_back(operand.get());
    }
    if (permutation.empty())
      return failure();
    for (Value other : others) {
      bool isSmall = elementCount(other) <= elements / 8;
      if (!isSmall && !isSetupValue(other))
        return failure();
    }
    SmallVector<int64_t> back = inverseOf(permutation), forth(permutation);
    Operation *moved = cloneUnder(rewriter, op, back);
    if (!moved)
      return failure();
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op->getResult(0).getType(), moved->getResult(0), forth);
    return success();
  }
};

/// A reduction without kept dimensions of a transpose: if the remaining dimensions keep their order, of what it
/// transposes.
struct ReduceTranspose : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getInput().getDefiningOp<TransposeOp>();
    if (!transpose || op.getKeepDims())
      return failure();
    SmallVector<int64_t> axes;
    int64_t last = -1;
    for (auto [i, axis] : llvm::enumerate(transpose.getPermutation())) {
      if (llvm::is_contained(op.getAxes(), static_cast<int64_t>(i))) {
        axes.push_back(axis);
        continue;
      }
      if (axis < last)
        return failure();
      last = axis;
    }
    llvm::sort(axes);
    rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getType(), op.getKind(), transpose.getInput(), axes, false);
    return success();
  }
};

/// transpose(op(transpose'(x), ...)) = op'(x, ...) where transpose' is the inverse for most of the large operands.
struct RaiseTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    Operation *inner = op.getInput().getDefiningOp();
    if (!inner || !op.getInput().hasOneUse() || !isTransparent(inner))
      return failure();
    int64_t rank = rankOf(op.getResult());
    int64_t elements = elementCount(inner->getResult(0));
    SmallVector<int64_t> inverse = inverseOf(op.getPermutation());
    unsigned cancelled = 0, added = 0;
    for (OpOperand &operand : inner->getOpOperands()) {
      Value value = operand.get();
      bool isSmall = elementCount(value) <= elements / 8;
      if (!isPermuted(inner, operand.getOperandNumber()) || isSmall || isSetupValue(value))
        continue;
      auto transpose = value.getDefiningOp<TransposeOp>();
      bool cancels = transpose && rankOf(value) == rank && transpose.getPermutation() == ArrayRef(inverse);
      ++(cancels ? cancelled : added);
    }
    // The transpose itself goes away as well.
    if (cancelled == 0 || added > cancelled)
      return failure();
    rewriter.setInsertionPoint(inner);
    Operation *moved = cloneUnder(rewriter, inner, op.getPermutation());
    if (!moved)
      return failure();
    rewriter.replaceOp(op, moved->getResults());
    return success();
  }
};

} // namespace

void populateSinkTransposes(RewritePatternSet &patterns) {
  patterns.add<SinkTranspose, ReduceTranspose>(patterns.getContext());
}

void populateRaiseTransposes(RewritePatternSet &patterns) { patterns.add<RaiseTranspose>(patterns.getContext()); }

} // namespace plim::graph
