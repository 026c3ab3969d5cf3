//===- ElementwiseFold.cpp - Folders and canonical forms of elementwise ops --------------------------------===//

#include "dialects/Graph/Folding.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace plim::graph;

namespace {

/// Integer functions wrap; the generic lambdas below must not overflow a signed integer.
struct Add {
  int64_t operator()(int64_t a, int64_t b) const { return static_cast<int64_t>(uint64_t(a) + uint64_t(b)); }
  double operator()(double a, double b) const { return a + b; }
};
struct Sub {
  int64_t operator()(int64_t a, int64_t b) const { return static_cast<int64_t>(uint64_t(a) - uint64_t(b)); }
  double operator()(double a, double b) const { return a - b; }
};
struct Mul {
  int64_t operator()(int64_t a, int64_t b) const { return static_cast<int64_t>(uint64_t(a) * uint64_t(b)); }
  double operator()(double a, double b) const { return a * b; }
};

/// An identity element on one side leaves the other operand, if that has the result's type.
template <typename OpTy>
Value withoutIdentity(OpTy op, ArrayRef<Attribute> operands, double identity, bool commutative) {
  if (isSplat(operands[1], identity) && op.getLhs().getType() == op.getType())
    return op.getLhs();
  if (commutative && isSplat(operands[0], identity) && op.getRhs().getType() == op.getType())
    return op.getRhs();
  return {};
}

bool isFloatTensor(Value value) { return isa<FloatType>(elementTypeOf(value)); }

/// Whether a constant divisor has an element that a folder must not divide by.
bool hasBadDivisor(Attribute divisor) {
  std::optional<Elements> elements = Elements::read(divisor);
  return !elements || llvm::any_of(elements->ints, [](int64_t d) { return d == 0 || d == -1; });
}

} // namespace

// For floats as well: x + 0 differs from x only in the sign of a zero.
OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (Value kept = withoutIdentity(*this, adaptor.getOperands(), 0, true))
    return kept;
  return foldBinary(adaptor.getOperands(), getType(), Add());
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (Value kept = withoutIdentity(*this, adaptor.getOperands(), 0, false))
    return kept;
  return foldBinary(adaptor.getOperands(), getType(), Sub());
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (Value kept = withoutIdentity(*this, adaptor.getOperands(), 1, true))
    return kept;
  return foldBinary(adaptor.getOperands(), getType(), Mul());
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (Value kept = withoutIdentity(*this, adaptor.getOperands(), 1, false))
    return kept;
  if (hasBadDivisor(adaptor.getRhs()) || elementTypeOf(getRhs()).isUnsignedInteger(64))
    return {};
  return foldBinary(adaptor.getOperands(), getType(), [](auto a, auto b) { return a / b; });
}

OpFoldResult ModOp::fold(FoldAdaptor adaptor) {
  if (isFloatTensor(getLhs()) || hasBadDivisor(adaptor.getRhs()) || elementTypeOf(getRhs()).isUnsignedInteger(64))
    return {};
  bool fmod = getFmod();
  return foldBinary(adaptor.getOperands(), getType(), [fmod](auto a, auto b) -> int64_t {
    int64_t x = static_cast<int64_t>(a), y = static_cast<int64_t>(b), rest = x % y;
    return !fmod && rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
  });
}

OpFoldResult PowOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getRhs(), 1) && getLhs().getType() == getType())
    return getLhs();
  return {};
}

OpFoldResult MinOp::fold(FoldAdaptor adaptor) {
  return foldBinary(adaptor.getOperands(), getType(),
                    [](auto a, auto b) { return b < a || std::isnan(double(b)) ? b : a; });
}

OpFoldResult MaxOp::fold(FoldAdaptor adaptor) {
  return foldBinary(adaptor.getOperands(), getType(),
                    [](auto a, auto b) { return a < b || std::isnan(double(b)) ? b : a; });
}

OpFoldResult NegOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getInput().getDefiningOp<NegOp>())
    return inner.getInput();
  Attribute operands[] = {adaptor.getInput(), adaptor.getInput()};
  return foldBinary(operands, getType(), [](auto a, auto) -> decltype(a) {
    if constexpr (std::is_same_v<decltype(a), double>)
      return -a;
    else
      return Sub()(int64_t(0), a);
  });
}

OpFoldResult SqrtOp::fold(FoldAdaptor adaptor) {
  Attribute operands[] = {adaptor.getInput(), adaptor.getInput()};
  return foldBinary(operands, getType(), [](auto a, auto) { return std::sqrt(double(a)); });
}

OpFoldResult ClipOp::fold(FoldAdaptor adaptor) {
  if (!getMin() && !getMax())
    return getInput();
  Attribute operands[] = {adaptor.getInput(), adaptor.getInput()};
  std::optional<double> low = getMin(), high = getMax();
  return foldBinary(operands, getType(), [&](auto a, auto) {
    double x = static_cast<double>(a);
    if (low && x < *low)
      x = *low;
    return high && *high < x ? *high : x;
  });
}

OpFoldResult PreluOp::fold(FoldAdaptor adaptor) {
  return foldBinary(adaptor.getOperands(), getType(), [](auto a, auto b) { return a < 0 ? Mul()(a, b) : a; });
}

OpFoldResult EqualOp::fold(FoldAdaptor adaptor) {
  return foldBinary(adaptor.getOperands(), getType(), [](auto a, auto b) { return a == b; });
}
OpFoldResult NotEqualOp::fold(FoldAdaptor adaptor) {
  return foldBinary(adaptor.getOperands(), getType(), [](auto a, auto b) { return a != b; });
}
OpFoldResult LessOp::fold(FoldAdaptor adaptor) {
  return foldBinary(adaptor.getOperands(), getType(), [](auto a, auto b) { return a < b; });
}
OpFoldResult LessEqualOp::fold(FoldAdaptor adaptor) {
  return foldBinary(adaptor.getOperands(), getType(), [](auto a, auto b) { return a <= b; });
}
OpFoldResult GreaterOp::fold(FoldAdaptor adaptor) {
  return foldBinary(adaptor.getOperands(), getType(), [](auto a, auto b) { return a > b; });
}
OpFoldResult GreaterEqualOp::fold(FoldAdaptor adaptor) {
  return foldBinary(adaptor.getOperands(), getType(), [](auto a, auto b) { return a >= b; });
}

template <typename F> static Attribute foldBits(ArrayRef<Attribute> operands, Type type, F f) {
  return foldBinary(operands, type, [f](auto a, auto b) {
    return static_cast<int64_t>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
  });
}
OpFoldResult AndOp::fold(FoldAdaptor adaptor) {
  return foldBits(adaptor.getOperands(), getType(), [](uint64_t a, uint64_t b) { return a & b; });
}
OpFoldResult OrOp::fold(FoldAdaptor adaptor) {
  return foldBits(adaptor.getOperands(), getType(), [](uint64_t a, uint64_t b) { return a | b; });
}
OpFoldResult XorOp::fold(FoldAdaptor adaptor) {
  return foldBits(adaptor.getOperands(), getType(), [](uint64_t a, uint64_t b) { return a ^ b; });
}
OpFoldResult BitAndOp::fold(FoldAdaptor adaptor) {
  return foldBits(adaptor.getOperands(), getType(), [](uint64_t a, uint64_t b) { return a & b; });
}
OpFoldResult BitOrOp::fold(FoldAdaptor adaptor) {
  return foldBits(adaptor.getOperands(), getType(), [](uint64_t a, uint64_t b) { return a | b; });
}
OpFoldResult BitXorOp::fold(FoldAdaptor adaptor) {
  return foldBits(adaptor.getOperands(), getType(), [](uint64_t a, uint64_t b) { return a ^ b; });
}
OpFoldResult ShiftLeftOp::fold(FoldAdaptor adaptor) {
  return foldBits(adaptor.getOperands(), getType(), [](uint64_t a, uint64_t b) { return b < 64 ? a << b : 0; });
}
OpFoldResult ShiftRightOp::fold(FoldAdaptor adaptor) {
  unsigned bits = elementTypeOf(getType()).getIntOrFloatBitWidth();
  uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  return foldBits(adaptor.getOperands(), getType(),
                  [mask](uint64_t a, uint64_t b) { return b < 64 ? (a & mask) >> b : 0; });
}

OpFoldResult NotOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getInput().getDefiningOp<NotOp>())
    return inner.getInput();
  Attribute operands[] = {adaptor.getInput(), adaptor.getInput()};
  return foldBinary(operands, getType(), [](auto a, auto) { return a == 0; });
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (isSplat(adaptor.getCondition(), 0) && getOnFalse().getType() == getType())
    return getOnFalse();
  // A splat of i1 true is -1 as a signed integer.
  if (isSplat(adaptor.getCondition(), -1) && getOnTrue().getType() == getType())
    return getOnTrue();
  std::optional<Elements> condition = Elements::read(adaptor.getCondition());
  RankedTensorType type = foldableType(getType());
  if (!condition || !type || !isa_and_nonnull<DenseElementsAttr>(adaptor.getOnTrue()) ||
      !isa_and_nonnull<DenseElementsAttr>(adaptor.getOnFalse()))
    return {};
  auto shapeOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
  auto which = broadcastIndices(shapeOf(getCondition()), type.getShape());
  auto onTrue = broadcastIndices(shapeOf(getOnTrue()), type.getShape());
  auto onFalse = broadcastIndices(shapeOf(getOnFalse()), type.getShape());
  return foldMove({adaptor.getOnTrue(), adaptor.getOnFalse()}, type, [&](int64_t i) -> std::pair<unsigned, int64_t> {
    if (condition->ints[which[i]])
      return {0, onTrue[i]};
    return {1, onFalse[i]};
  });
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  Type from = elementTypeOf(getInput()), to = getTo();
  if (from == to && getInput().getType() == getType())
    return getInput();
  // A value that was widened may be narrowed back.
  bool sameKind = isa<FloatType>(from) == isa<FloatType>(to);
  if (auto inner = getInput().getDefiningOp<CastOp>())
    if (inner.getInput().getType() == getType() && sameKind &&
        from.getIntOrFloatBitWidth() > to.getIntOrFloatBitWidth())
      return inner.getInput();
  std::optional<Elements> elements = Elements::read(adaptor.getInput());
  if (!elements)
    return {};
  // Floats that no integer holds have no value to fold to.
  for (double value : elements->floats)
    if (!isa<FloatType>(to) && !(std::fabs(value) < 0x1p63))
      return {};
  Attribute operands[] = {adaptor.getInput(), adaptor.getInput()};
  return foldBinary(operands, getType(), [&](auto a, auto) { return to.isInteger(1) ? decltype(a)(a != 0) : a; });
}

namespace {

/// pow(x, 2) = x * x, with the same rounding.
struct SquareByMul : OpRewritePattern<PowOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PowOp op, PatternRewriter &rewriter) const override {
    Attribute exponent;
    if (!matchPattern(op.getRhs(), m_Constant(&exponent)) || !isSplat(exponent, 2) ||
        op.getLhs().getType() != op.getType())
      return failure();
    rewriter.replaceOpWithNewOp<MulOp>(op, op.getLhs(), op.getLhs());
    return success();
  }
};

/// cast(cast(x)) = cast(x) where the inner cast loses nothing.
struct JoinCasts : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<CastOp>();
    if (!inner)
      return failure();
    Type from = elementTypeOf(inner.getInput()), middle = inner.getTo();
    bool bothFloats = isa<FloatType>(from) && isa<FloatType>(middle);
    bool bothSigned = from.isSignlessInteger() && !from.isInteger(1) && middle.isSignlessInteger();
    if (!(bothFloats || bothSigned) || from.getIntOrFloatBitWidth() >= middle.getIntOrFloatBitWidth())
      return failure();
    rewriter.replaceOpWithNewOp<CastOp>(op, op.getType(), inner.getInput(), op.getTo());
    return success();
  }
};

} // namespace

void PowOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<SquareByMul>(context);
}

void CastOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<JoinCasts>(context);
}
