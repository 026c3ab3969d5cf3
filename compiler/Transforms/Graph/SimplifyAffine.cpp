//===- SimplifyAffine.cpp - Affine maps of channels into the weights of a convolution --------------------------===//
//
// conv(x, w) + b followed by y * s + t, with s and t of one element a channel, is conv(x, w * s) + (b * s + t). The new
// weights are graph ops on the old ones. Likewise conv(x * s + t, w) is conv(x, w * s) plus the sum of w * t, where no
// padding takes the place of t.
//
//===----------------------------------------------------------------------------------------------------===//

#include "compiler/Transforms/Graph/Matchers.h"
#include "compiler/Transforms/Graph/Simplify.h"

using namespace mlir;

namespace plim::graph {
namespace {

/// A weight that has one element a channel of an nchw tensor of this rank, as [channels]; null if it does not.
Value perChannel(PatternRewriter &rewriter, Location loc, Value value, int64_t rank, int64_t channels) {
  if (!isSetupValue(value) || !hasStaticShape(value))
    return {};
  ArrayRef<int64_t> shape = shapeOf(value);
  int64_t elements = ShapedType::getNumElements(shape);
  if (elements == 1) {
    Value flat = ReshapeOp::create(rewriter, loc, value, ArrayRef<int64_t>{1});
    return BroadcastOp::create(rewriter, loc, flat, ArrayRef<int64_t>{channels});
  }
  int64_t axis = 1 - (rank - static_cast<int64_t>(shape.size()));
  if (elements != channels || axis < 0 || shape[axis] != channels)
    return {};
  return ReshapeOp::create(rewriter, loc, value, ArrayRef<int64_t>{channels});
}

bool isPerChannel(Value value, int64_t rank, int64_t channels) {
  if (!isSetupValue(value) || !hasStaticShape(value))
    return false;
  ArrayRef<int64_t> shape = shapeOf(value);
  int64_t elements = ShapedType::getNumElements(shape), size = shape.size(), axis = 1 - (rank - size);
  return size <= rank && (elements == 1 || (elements == channels && axis >= 0 && shape[axis] == channels));
}

/// The axis of output channels in an nchw filter, where they lie in one.
int64_t outputAxis(ConvOp) { return 0; }
int64_t outputAxis(ConvTransposeOp) { return 1; }
bool hasOutputAxis(ConvOp) { return true; }
bool hasOutputAxis(ConvTransposeOp op) { return op.getGroups() == 1; }

/// Whether constants may still be folded into a convolution: nchw, its weights known, nothing applied after its bias.
template <typename ConvTy> bool isFoldable(ConvTy conv) {
  return conv && conv.getLayout() == ImageLayout::NCHW && conv.getActivation() == Activation::None &&
         !conv.getResidual() && hasOutputAxis(conv) && isSetupValue(conv.getFilter()) &&
         (!conv.getBias() || isSetupValue(conv.getBias()));
}

/// The convolution followed by y * scale + shift; either may be null.
template <typename ConvTy>
void foldAffine(PatternRewriter &rewriter, Operation *last, ConvTy conv, Value scale, Value shift) {
  Location loc = last->getLoc();
  Value filter = conv.getFilter(), bias = conv.getBias();
  if (scale) {
    SmallVector<int64_t> shape(rankOf(filter), 1);
    shape[outputAxis(conv)] = shapeOf(scale)[0];
    Value factor = ReshapeOp::create(rewriter, loc, scale, shape);
    filter = MulOp::create(rewriter, loc, filter, factor);
    if (bias)
      bias = MulOp::create(rewriter, loc, bias, scale);
  }
  if (shift)
    bias = bias ? Value(AddOp::create(rewriter, loc, bias, shift)) : shift;
  auto folded = cast<ConvTy>(rewriter.clone(*conv));
  folded->setLoc(loc);
  folded.getFilterMutable().assign(filter);
  if (bias)
    folded.getBiasMutable().assign(bias);
  rewriter.replaceOp(last, folded->getResults());
}

template <typename ConvTy> struct FoldBatchNorm : OpRewritePattern<BatchNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BatchNormOp op, PatternRewriter &rewriter) const override {
    auto conv = singleUse<ConvTy>(op.getInput());
    if (!isFoldable(conv) || op.getLayout() != ImageLayout::NCHW ||
        !llvm::all_of(op->getOperands().drop_front(), isSetupValue))
      return failure();
    Location loc = op.getLoc();
    auto scalarType = RankedTensorType::get({}, elementTypeOf(op.getVariance()));
    auto number = rewriter.getFloatAttr(scalarType.getElementType(), op.getEpsilon());
    Value epsilon = ConstantOp::create(rewriter, loc, DenseElementsAttr::get(scalarType, number));
    Value deviation = SqrtOp::create(rewriter, loc, AddOp::create(rewriter, loc, op.getVariance(), epsilon));
    Value scale = DivOp::create(rewriter, loc, op.getScale(), deviation);
    Value shift = SubOp::create(rewriter, loc, op.getBias(), MulOp::create(rewriter, loc, op.getMean(), scale));
    foldAffine(rewriter, op, conv, scale, shift);
    return success();
  }
};

/// conv * constant and conv / constant.
template <typename ConvTy, typename OpTy> struct FoldFactor : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    auto parts = commute(op, [](Value v) { return isFoldable(singleUse<ConvTy>(v)); });
    if (!parts || parts->first.getType() != op.getType() || op.getType().isDynamicDim(1))
      return failure();
    constexpr bool isDiv = std::is_same_v<OpTy, DivOp>;
    int64_t rank = rankOf(op.getResult()), channels = shapeOf(op.getResult())[1];
    if ((isDiv && parts->first != op.getLhs()) || !isPerChannel(parts->second, rank, channels))
      return failure();
    Value factor = perChannel(rewriter, op.getLoc(), parts->second, rank, channels);
    if (isDiv)
      factor = ReciprocalOp::create(rewriter, op.getLoc(), factor);
    foldAffine(rewriter, op, parts->first.template getDefiningOp<ConvTy>(), factor, Value());
    return success();
  }
};

/// conv + constant and conv - constant.
template <typename ConvTy, typename OpTy> struct FoldSummand : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    auto parts = commute(op, [](Value v) { return isFoldable(singleUse<ConvTy>(v)); });
    if (!parts || parts->first.getType() != op.getType() || op.getType().isDynamicDim(1))
      return failure();
    constexpr bool isSub = std::is_same_v<OpTy, SubOp>;
    int64_t rank = rankOf(op.getResult()), channels = shapeOf(op.getResult())[1];
    if ((isSub && parts->first != op.getLhs()) || !isPerChannel(parts->second, rank, channels))
      return failure();
    Value summand = perChannel(rewriter, op.getLoc(), parts->second, rank, channels);
    if (isSub)
      summand = NegOp::create(rewriter, op.getLoc(), summand);
    foldAffine(rewriter, op, parts->first.template getDefiningOp<ConvTy>(), Value(), summand);
    return success();
  }
};

/// conv(x * scale + shift) with constants of one element a channel, or either of the two.
struct FoldInput : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    bool isPlain = op.getGroups() == 1 || op.isDepthwise();
    if (op.getLayout() != ImageLayout::NCHW || !isPlain || !isSetupValue(op.getFilter()) ||
        (op.getBias() && !isSetupValue(op.getBias())) || op.getInput().getType().isDynamicDim(1))
      return failure();
    Location loc = op.getLoc();
    Value x = op.getInput();
    int64_t rank = rankOf(x), channels = shapeOf(x)[1];
    auto takeOff = [&](auto binary) -> Value {
      auto parts = binary ? commute(binary, [&](Value v) { return isPerChannel(v, rank, channels); }) : std::nullopt;
      if (!parts || parts->second.getType() != x.getType())
        return {};
      x = parts->second;
      return parts->first;
    };
    auto isZero = [](int64_t pad) { return pad == 0; };
    Value shift = llvm::all_of(op.getPads(), isZero) ? takeOff(singleUse<AddOp>(x)) : Value();
    Value scale = takeOff(singleUse<MulOp>(x));
    if (!shift && !scale)
      return failure();

    Value filter = op.getFilter(), bias = op.getBias();
    SmallVector<int64_t> alongInputs(rank, 1);
    alongInputs[op.isDepthwise() ? 0 : 1] = channels;
    auto timesFilter = [&](Value factor) -> Value {
      Value vector = perChannel(rewriter, loc, factor, rank, channels);
      return MulOp::create(rewriter, loc, filter, ReshapeOp::create(rewriter, loc, vector, alongInputs));
    };
    if (shift) {
      SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(1, rank));
      Value sum = ReduceOp::create(rewriter, loc, ReduceKind::Sum, timesFilter(shift), axes, false);
      bias = bias ? Value(AddOp::create(rewriter, loc, bias, sum)) : sum;
    }
    if (scale)
      filter = timesFilter(scale);
    rewriter.modifyOpInPlace(op, [&] {
      op.getInputMutable().assign(x);
      op.getFilterMutable().assign(filter);
      if (bias)
        op.getBiasMutable().assign(bias);
    });
    return success();
  }
};

/// A batch norm that no convolution takes is a factor and a summand, which join other elementwise ops.
struct SplitBatchNorm : OpRewritePattern<BatchNormOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BatchNormOp op, PatternRewriter &rewriter) const override {
    bool goesIntoConv =
        isFoldable(singleUse<ConvOp>(op.getInput())) || isFoldable(singleUse<ConvTransposeOp>(op.getInput()));
    if (goesIntoConv || !llvm::all_of(op->getOperands().drop_front(), isSetupValue))
      return failure();
    FailureOr<SmallVector<Value>> values = op.decompose(rewriter);
    if (failed(values))
      return failure();
    rewriter.replaceOp(op, *values);
    return success();
  }
};

template <typename ConvTy> void addFor(RewritePatternSet &patterns) {
  patterns.add<FoldBatchNorm<ConvTy>, FoldFactor<ConvTy, MulOp>, FoldFactor<ConvTy, DivOp>, FoldSummand<ConvTy, AddOp>,
               FoldSummand<ConvTy, SubOp>>(patterns.getContext());
}

} // namespace

void populateAffinePatterns(RewritePatternSet &patterns) {
  addFor<ConvOp>(patterns);
  addFor<ConvTransposeOp>(patterns);
  patterns.add<FoldInput, SplitBatchNorm>(patterns.getContext());
}

} // namespace plim::graph
