//===- SimplifyActivations.cpp - Activations as exporters write them out ------------------------------------===//

#include "compiler/Transforms/Graph/Matchers.h"
#include "compiler/Transforms/Graph/Simplify.h"
#include <cmath>

using namespace mlir;

namespace plim::graph {
namespace {

/// An op and a constant, in either order: the op's other operand, if the constant is near `number`.
template <typename OpTy> Value withConstant(Value value, double number) {
  auto op = value.getDefiningOp<OpTy>();
  if (!op)
    return {};
  auto parts = commute(op, [&](Value v) { return isSplatNear(v, number); });
  return parts && parts->second.getType() == value.getType() ? parts->second : Value();
}

/// x / number or x * (1 / number)
Value dividedBy(Value value, double number) {
  if (Value x = withConstant<MulOp>(value, 1 / number))
    return x;
  auto div = value.getDefiningOp<DivOp>();
  if (!div || !isSplatNear(div.getRhs(), number) || div.getLhs().getType() != value.getType())
    return {};
  return div.getLhs();
}

/// clip(x + 3, 0, 6)
Value shiftedClip(Value value) {
  auto clip = value.getDefiningOp<ClipOp>();
  if (!clip || clip.getMin() != 0.0 || clip.getMax() != 6.0)
    return {};
  return withConstant<AddOp>(clip.getInput(), 3);
}

/// max(x, low) and min(x, high) with constants become clip; a clip of a clip is one clip.
template <typename OpTy, bool isMax> struct MinMaxToClip : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    auto parts = commute(op, [](Value v) { return splatOf(v).has_value(); });
    if (!parts || parts->second.getType() != op.getType())
      return failure();
    double number = *splatOf(parts->first);
    // Bounds of a clip are doubles, which have gaps between larger integers.
    if (isa<IntegerType>(elementTypeOf(op.getResult())) && std::fabs(number) > 0x1p53)
      return failure();
    FloatAttr bound = rewriter.getF64FloatAttr(number);
    rewriter.replaceOpWithNewOp<ClipOp>(op, op.getType(), parts->second, isMax ? bound : FloatAttr(),
                                        isMax ? FloatAttr() : bound);
    return success();
  }
};

struct JoinClips : OpRewritePattern<ClipOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ClipOp op, PatternRewriter &rewriter) const override {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    double low = op.getMin().value_or(-kInfinity), high = op.getMax().value_or(kInfinity);
    if (auto inner = singleUse<ClipOp>(op.getInput())) {
      double innerLow = inner.getMin().value_or(-kInfinity), innerHigh = inner.getMax().value_or(kInfinity);
      double newLow = std::min(std::max(innerLow, low), high), newHigh = std::min(std::max(innerHigh, low), high);
      auto bound = [&](double value) { return std::isinf(value) ? FloatAttr() : rewriter.getF64FloatAttr(value); };
      rewriter.replaceOpWithNewOp<ClipOp>(op, op.getType(), inner.getInput(), bound(newLow), bound(newHigh));
      return success();
    }
    if (low != 0 || high != kInfinity)
      return failure();
    rewriter.replaceOpWithNewOp<ReluOp>(op, op.getType(), op.getInput());
    return success();
  }
};

/// clip(relu(x), 0, h) = clip(x, 0, h)
struct ClipOfRelu : OpRewritePattern<ClipOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ClipOp op, PatternRewriter &rewriter) const override {
    auto relu = singleUse<ReluOp>(op.getInput());
    if (!relu || !op.getMax() || *op.getMax() < 0 || op.getMin().value_or(0) > 0)
      return failure();
    rewriter.replaceOpWithNewOp<ClipOp>(op, op.getType(), relu.getInput(), rewriter.getF64FloatAttr(0),
                                        op.getMaxAttr());
    return success();
  }
};

/// clip(x + 3, 0, 6) / 6 = hard_sigmoid(x, 1/6, 1/2), and x * clip(x + 3, 0, 6) / 6 = hard_swish(x).
template <typename OpTy> struct FindHardSwish : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    Value numerator = dividedBy(op.getResult(), 6);
    if (!numerator || !isa<FloatType>(elementTypeOf(numerator)))
      return failure();
    if (Value x = shiftedClip(numerator)) {
      rewriter.replaceOpWithNewOp<HardSigmoidOp>(op, op.getType(), x, rewriter.getF64FloatAttr(1.0 / 6),
                                                 rewriter.getF64FloatAttr(0.5));
      return success();
    }
    auto product = singleUse<MulOp>(numerator);
    if (!product)
      return failure();
    auto parts = commute(product, [](Value v) { return static_cast<bool>(shiftedClip(v)); });
    if (!parts || shiftedClip(parts->first) != parts->second)
      return failure();
    rewriter.replaceOpWithNewOp<HardSwishOp>(op, op.getType(), parts->second);
    return success();
  }
};

/// x * hard_sigmoid(x) = hard_swish(x), x * sigmoid(x) = silu(x)
struct FindSwish : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    for (auto [gate, x] : {std::pair<Value, Value>(op.getLhs(), op.getRhs()), {op.getRhs(), op.getLhs()}}) {
      if (auto hard = singleUse<HardSigmoidOp>(gate); hard && hard.getInput() == x) {
        rewriter.replaceOpWithNewOp<HardSwishOp>(op, op.getType(), x, hard.getAlphaAttr(), hard.getBetaAttr());
        return success();
      }
      if (auto sigmoid = singleUse<SigmoidOp>(gate); sigmoid && sigmoid.getInput() == x) {
        rewriter.replaceOpWithNewOp<SiluOp>(op, op.getType(), x);
        return success();
      }
    }
    return failure();
  }
};

/// The factors of a product of products that have no other use.
void collectFactors(Value value, SmallVectorImpl<Value> &factors, bool isRoot) {
  auto product = isRoot ? value.getDefiningOp<MulOp>() : singleUse<MulOp>(value);
  if (!product || factors.size() > 4) {
    factors.push_back(value);
    return;
  }
  collectFactors(product.getLhs(), factors, false);
  collectFactors(product.getRhs(), factors, false);
}

/// 0.5 * x * (1 + erf(x / sqrt 2)), the factors in any order.
struct FindGelu : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    SmallVector<Value> factors;
    collectFactors(op.getResult(), factors, true);
    if (factors.size() != 3)
      return failure();
    auto half = llvm::find_if(factors, [](Value v) { return isSplatNear(v, 0.5); });
    if (half == factors.end())
      return failure();
    factors.erase(half);
    for (unsigned i : {0u, 1u}) {
      Value x = factors[1 - i], erfValue = withConstant<AddOp>(factors[i], 1);
      auto erf = erfValue ? erfValue.getDefiningOp<ErfOp>() : ErfOp();
      if (!erf || x.getType() != op.getType() || dividedBy(erf.getInput(), M_SQRT2) != x)
        continue;
      rewriter.replaceOpWithNewOp<GeluOp>(op, op.getType(), x);
      return success();
    }
    return failure();
  }
};

} // namespace

void populateActivationPatterns(RewritePatternSet &patterns) {
  patterns.add<MinMaxToClip<MaxOp, true>, MinMaxToClip<MinOp, false>, JoinClips, ClipOfRelu, FindHardSwish<MulOp>,
               FindHardSwish<DivOp>, FindSwish, FindGelu>(patterns.getContext());
}

} // namespace plim::graph
