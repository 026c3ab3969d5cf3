//===- SimplifyNorms.cpp - layer_norm as exporters write it out ----------------------------------------------===//

#include "compiler/Transforms/Graph/Matchers.h"
#include "compiler/Transforms/Graph/Simplify.h"

using namespace mlir;

namespace plim::graph {
namespace {

/// A mean that keeps its dimensions, over the dimensions from some axis on.
ReduceOp trailingMean(Value value) {
  auto mean = value.getDefiningOp<ReduceOp>();
  if (!mean || mean.getKind() != ReduceKind::Mean || !mean.getKeepDims() || mean.getAxes().empty())
    return {};
  int64_t rank = rankOf(mean.getInput());
  if (mean.getAxes().back() != rank - 1 || mean.getAxes().front() != rank - static_cast<int64_t>(mean.getAxes().size()))
    return {};
  return mean;
}

/// The operand and epsilon of sqrt(mean(c * c) + epsilon), over the axes of `mean`.
bool isDeviation(Value value, Value centered, ReduceOp mean, double &epsilon) {
  auto sqrt = value.getDefiningOp<SqrtOp>();
  auto sum = sqrt ? sqrt.getInput().getDefiningOp<AddOp>() : AddOp();
  if (!sum)
    return false;
  auto parts = commute(sum, [](Value v) { return splatOf(v).has_value(); });
  ReduceOp variance = parts ? trailingMean(parts->second) : ReduceOp();
  if (!variance || variance.getAxes() != mean.getAxes())
    return false;
  auto square = variance.getInput().getDefiningOp<MulOp>();
  if (!square || square.getLhs() != centered || square.getRhs() != centered)
    return false;
  epsilon = *splatOf(parts->first);
  return epsilon >= 0;
}

/// (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon)
struct FindLayerNorm : OpRewritePattern<DivOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(DivOp op, PatternRewriter &rewriter) const override {
    auto centered = op.getLhs().getDefiningOp<SubOp>();
    ReduceOp mean = centered ? trailingMean(centered.getRhs()) : ReduceOp();
    double epsilon;
    if (!mean || mean.getInput() != centered.getLhs() || !isDeviation(op.getRhs(), centered.getResult(), mean, epsilon))
      return failure();
    rewriter.replaceOpWithNewOp<LayerNormOp>(op, op.getType(), centered.getLhs(), Value(), Value(),
                                             rewriter.getI64IntegerAttr(mean.getAxes().front()),
                                             rewriter.getF64FloatAttr(epsilon));
    return success();
  }
};

/// layer_norm(x) * scale and + bias, where those broadcast to the normalised dimensions.
template <typename OpTy, bool isScale> struct NormParameter : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    auto parts = commute(op, [](Value v) { return static_cast<bool>(singleUse<LayerNormOp>(v)); });
    if (!parts)
      return failure();
    auto norm = parts->first.template getDefiningOp<LayerNormOp>();
    Value parameter = parts->second;
    Dims dims = dimsOf(op.getType());
    bool free = isScale ? !norm.getScale() && !norm.getBias() : !norm.getBias();
    if (!free || norm.getType() != op.getType() || !isSetupValue(parameter) ||
        !broadcastsTo(dimsOf(parameter.getType()), ArrayRef(dims).drop_front(norm.getAxis())))
      return failure();
    rewriter.replaceOpWithNewOp<LayerNormOp>(op, op.getType(), norm.getInput(), isScale ? parameter : norm.getScale(),
                                             isScale ? norm.getBias() : parameter, norm.getAxisAttr(),
                                             norm.getEpsilonAttr());
    return success();
  }
};

} // namespace

void populateNormPatterns(RewritePatternSet &patterns) {
  patterns.add<FindLayerNorm, NormParameter<MulOp, true>, NormParameter<AddOp, false>>(patterns.getContext());
}

} // namespace plim::graph
