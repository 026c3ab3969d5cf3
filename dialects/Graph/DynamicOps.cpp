//===- DynamicOps.cpp - Ops whose sizes are values of the run: shapes and canonical forms ------------------===//

#include "dialects/Graph/GraphDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace plim::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/DynamicOps.cpp.inc"

bool plim::graph::isSizeOperand(OpOperand &operand) {
  unsigned number = operand.getOperandNumber();
  Operation *op = operand.getOwner();
  if (isa<DynamicReshapeOp, DynamicBroadcastOp, NonzeroOp>(op))
    return number == 1;
  if (isa<DynamicSliceOp>(op))
    return number == 1 || number == 2;
  if (isa<DynamicRangeOp>(op))
    return number == 2;
  return isa<DynamicFillOp>(op);
}

/// The entries of a constant of sizes; none if it is no constant.
static std::optional<SmallVector<int64_t>> entriesOf(Value sizes) {
  DenseIntElementsAttr elements;
  if (!matchPattern(sizes, m_Constant(&elements)))
    return std::nullopt;
  return SmallVector<int64_t>(elements.getValues<int64_t>());
}

/// The dimensions that sizes, one a dimension, give: numbers where they are constants.
static FailureOr<Dims> dimsFrom(std::optional<Location> loc, StringRef op, Value sizes) {
  Dims own = dimsOf(sizes.getType());
  if (own.size() != 1 || !own[0].isStatic())
    return shapeError(loc, op, "needs sizes of shape [rank], has " + Twine(toString(own)));
  std::optional<SmallVector<int64_t>> entries = entriesOf(sizes);
  if (!entries)
    return Dims(own[0].lo);
  for (int64_t size : *entries)
    if (size < 0)
      return shapeError(loc, op, "needs sizes of at least 0, has " + Twine(size));
  return Dims(entries->begin(), entries->end());
}

/// Checks that a value has one element.
static LogicalResult checkScalar(std::optional<Location> loc, StringRef op, StringRef what, Value value) {
  Dims dims = dimsOf(value.getType());
  if (elementsOf(dims) == Dim(1))
    return success();
  return shapeError(loc, op, "needs a scalar " + what + ", has one of shape " + Twine(toString(dims)));
}

LogicalResult DynamicReshapeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  FailureOr<Dims> dims = dimsFrom(loc, "graph.dynamic_reshape", adaptor.getShape());
  if (failed(dims))
    return failure();
  Dims from = dimsOf(adaptor.getInput().getType());
  if (!canBeEqual(elementsOf(*dims), elementsOf(from)))
    return shapeError(loc, "graph.dynamic_reshape",
                      "needs as many elements as its operand " + Twine(toString(from)) + ", has " + toString(*dims));
  types.push_back(tensorOf(*dims, elementTypeOf(adaptor.getInput())));
  return success();
}

SmallVector<plim::graph::Alias> DynamicReshapeOp::getAliases() { return {{0, 0, AliasKind::View}}; }

LogicalResult DynamicBroadcastOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                   SmallVectorImpl<Type> &types) {
  FailureOr<Dims> dims = dimsFrom(loc, "graph.dynamic_broadcast", adaptor.getShape());
  if (failed(dims))
    return failure();
  Dims from = dimsOf(adaptor.getInput().getType());
  // An open dimension may be 1 in a run.
  bool fits = from.size() <= dims->size();
  if (fits)
    for (auto [a, b] : llvm::zip(from, ArrayRef<Dim>(*dims).take_back(from.size())))
      fits &= (a.lo <= 1 && a.hi >= 1) || canBeEqual(a, b);
  if (!fits)
    return shapeError(loc, "graph.dynamic_broadcast",
                      "needs a shape that its operand " + Twine(toString(from)) + " broadcasts to, has " +
                          toString(*dims));
  types.push_back(tensorOf(*dims, elementTypeOf(adaptor.getInput())));
  return success();
}

LogicalResult DynamicSliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  StringRef name = "graph.dynamic_slice";
  FailureOr<Dims> dims = dimsFrom(loc, name, adaptor.getSizes());
  if (failed(dims))
    return failure();
  Dims from = dimsOf(adaptor.getInput().getType());
  if (dims->size() != from.size() || dimsOf(adaptor.getStarts().getType()) != Dims{Dim(from.size())} ||
      adaptor.getSteps().size() != from.size() ||
      llvm::any_of(adaptor.getSteps(), [](int64_t step) { return step < 1; }))
    return shapeError(loc, name,
                      "needs starts, sizes and steps of at least 1, one of each for a dimension of " +
                          Twine(toString(from)));
  for (auto [dim, whole] : llvm::zip(*dims, from)) {
    if (dim.lo > whole.hi)
      return shapeError(
          loc, name, "needs sizes within those of its operand " + Twine(toString(from)) + ", has " + toString(*dims));
    dim.hi = std::min(dim.hi, whole.hi);
  }
  types.push_back(tensorOf(*dims, elementTypeOf(adaptor.getInput())));
  return success();
}

LogicalResult DynamicFillOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  FailureOr<Dims> dims = dimsFrom(loc, "graph.dynamic_fill", adaptor.getShape());
  if (failed(dims))
    return failure();
  types.push_back(tensorOf(*dims, adaptor.getElement()));
  return success();
}

LogicalResult DynamicRangeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  StringRef name = "graph.dynamic_range";
  if (failed(checkScalar(loc, name, "start", adaptor.getStart())) ||
      failed(checkScalar(loc, name, "step", adaptor.getStep())) ||
      failed(checkScalar(loc, name, "size", adaptor.getSize())))
    return failure();
  if (elementTypeOf(adaptor.getStart()) != elementTypeOf(adaptor.getStep()))
    return shapeError(loc, name, "needs a start and a step of one element type");
  Dim size;
  if (std::optional<SmallVector<int64_t>> entries = entriesOf(adaptor.getSize()); entries && entries->front() >= 0)
    size = Dim(entries->front());
  types.push_back(tensorOf(size, elementTypeOf(adaptor.getStart())));
  return success();
}

LogicalResult NonzeroOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  if (failed(checkScalar(loc, "graph.nonzero", "count", adaptor.getCount())))
    return failure();
  Dims dims = dimsOf(adaptor.getInput().getType());
  types.push_back(tensorOf({Dim(0, elementsOf(dims).hi), Dim(dims.size())}, IntegerType::get(context, 64)));
  return success();
}

LogicalResult UniqueOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  Dims dims = dimsOf(adaptor.getInput().getType());
  Dim slices = elementsOf(dims);
  if (adaptor.getAxis() != -1) {
    if (failed(checkAxis(loc, "graph.unique", adaptor.getAxis(), dims.size())))
      return failure();
    slices = dims[adaptor.getAxis()];
  }
  Type index = IntegerType::get(context, 64);
  types.append(3, tensorOf(slices, index));
  types.push_back(tensorOf({}, index));
  return success();
}

LogicalResult NonMaxSuppressionOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                                    SmallVectorImpl<Type> &types) {
  StringRef name = "graph.non_max_suppression";
  Dims boxes = dimsOf(adaptor.getBoxes().getType()), scores = dimsOf(adaptor.getScores().getType());
  if (boxes.size() != 3 || scores.size() != 3 || !canBeEqual(boxes[2], 4) || !canBeEqual(boxes[0], scores[0]) ||
      !canBeEqual(boxes[1], scores[2]))
    return shapeError(loc, name,
                      "needs boxes [batches, n, 4] and scores [batches, classes, n], has " + Twine(toString(boxes)) +
                          " and " + toString(scores));
  if (adaptor.getLimit() < 0)
    return shapeError(loc, name, "needs a limit of at least 0, has " + Twine(adaptor.getLimit()));
  for (auto [what, value] : {std::pair(StringRef("number of boxes"), adaptor.getMost()),
                             std::pair(StringRef("iou threshold"), adaptor.getIouThreshold()),
                             std::pair(StringRef("score threshold"), adaptor.getScoreThreshold())})
    if (failed(checkScalar(loc, name, what, value)))
      return failure();
  Type index = IntegerType::get(context, 64);
  types.push_back(tensorOf({scores[0] * scores[1] * Dim(adaptor.getLimit()), Dim(3)}, index));
  types.push_back(tensorOf({}, index));
  return success();
}

//===----------------------------------------------------------------------===//
// Sizes that turned out to be constants
//===----------------------------------------------------------------------===//

namespace {

struct ReshapeToKnownSizes : OpRewritePattern<DynamicReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DynamicReshapeOp op, PatternRewriter &rewriter) const override {
    std::optional<SmallVector<int64_t>> sizes = entriesOf(op.getShape());
    if (!sizes)
      return failure();
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput(), *sizes);
    return success();
  }
};

struct BroadcastToKnownSizes : OpRewritePattern<DynamicBroadcastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DynamicBroadcastOp op, PatternRewriter &rewriter) const override {
    std::optional<SmallVector<int64_t>> sizes = entriesOf(op.getShape());
    if (!sizes || !cast<RankedTensorType>(op.getInput().getType()).hasStaticShape())
      return failure();
    rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), op.getInput(), *sizes);
    return success();
  }
};

struct SliceOfKnownSizes : OpRewritePattern<DynamicSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DynamicSliceOp op, PatternRewriter &rewriter) const override {
    std::optional<SmallVector<int64_t>> starts = entriesOf(op.getStarts()), sizes = entriesOf(op.getSizes());
    if (!starts || !sizes)
      return failure();
    // The static op wants a slice within its operand at any size.
    Dims dims = dimsOf(op.getInput().getType());
    for (auto [dim, start, size, step] : llvm::zip(dims, *starts, *sizes, op.getSteps())) {
      int64_t last = start + (size - 1) * step;
      if (size > 0 && (std::min(start, last) < 0 || std::max(start, last) >= dim.hi))
        return failure();
    }
    rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), op.getInput(), *starts, *sizes,
                                         SmallVector<int64_t>(op.getSteps()));
    return success();
  }
};

struct FillOfKnownSizes : OpRewritePattern<DynamicFillOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DynamicFillOp op, PatternRewriter &rewriter) const override {
    std::optional<SmallVector<int64_t>> sizes = entriesOf(op.getShape());
    if (!sizes)
      return failure();
    rewriter.replaceOpWithNewOp<FillOp>(op, RankedTensorType::get(*sizes, op.getElement()), op.getValue());
    return success();
  }
};

} // namespace

void DynamicReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ReshapeToKnownSizes>(context);
}
void DynamicBroadcastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<BroadcastToKnownSizes>(context);
}
void DynamicSliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SliceOfKnownSizes>(context);
}
void DynamicFillOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FillOfKnownSizes>(context);
}
