//===- ScalarBody.cpp - Builders of scalar bodies --------------------------------------------------------===//

#include "dialects/Graph/ScalarBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;

namespace plim::graph::scalar {

static bool isFloat(Value x) { return isa<FloatType>(getElementTypeOrSelf(x.getType())); }

static Type withElement(Type like, Type element) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? Type(VectorType::get(vector.getShape(), element, vector.getScalableDims())) : element;
}

template <typename FloatOp, typename IntOp> static Value binary(OpBuilder &b, Location loc, Value x, Value y) {
  if (isFloat(x))
    return FloatOp::create(b, loc, x, y);
  return IntOp::create(b, loc, x, y);
}

Value constant(OpBuilder &b, Location loc, Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr;
  if (auto f = dyn_cast<FloatType>(element))
    attr = b.getFloatAttr(f, value);
  else
    attr = b.getIntegerAttr(element, static_cast<int64_t>(value));
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, ArrayRef<Attribute>(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

Value add(OpBuilder &b, Location loc, Value x, Value y) { return binary<arith::AddFOp, arith::AddIOp>(b, loc, x, y); }
Value add(OpBuilder &b, Location loc, Value x, double y) { return add(b, loc, x, constant(b, loc, x.getType(), y)); }
Value sub(OpBuilder &b, Location loc, Value x, Value y) { return binary<arith::SubFOp, arith::SubIOp>(b, loc, x, y); }
Value mul(OpBuilder &b, Location loc, Value x, Value y) { return binary<arith::MulFOp, arith::MulIOp>(b, loc, x, y); }
Value mul(OpBuilder &b, Location loc, Value x, double y) { return mul(b, loc, x, constant(b, loc, x.getType(), y)); }
Sign signOf(Value tensor) {
  return getElementTypeOrSelf(tensor.getType()).isUnsignedInteger() ? Sign::Unsigned : Sign::Signed;
}

static Value select(OpBuilder &b, Location loc, Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, loc, condition, x, y);
}

/// Quotient and rest of integers. The processor traps on a divisor of 0 and on the least integer by -1: such lanes
/// divide by 1 instead.
static std::pair<Value, Value> divideIntegers(OpBuilder &b, Location loc, Value x, Value y, Sign sign) {
  Value zero = constant(b, loc, x.getType(), 0), one = constant(b, loc, x.getType(), 1);
  Value byZero = compare(b, loc, Order::Equal, y, zero);
  if (sign == Sign::Unsigned) {
    Value divisor = select(b, loc, byZero, one, y);
    Value quotient = arith::DivUIOp::create(b, loc, x, divisor);
    return {select(b, loc, byZero, zero, quotient), arith::RemUIOp::create(b, loc, x, divisor)};
  }
  Value byMinusOne = compare(b, loc, Order::Equal, y, constant(b, loc, x.getType(), -1));
  Value divisor = select(b, loc, arith::OrIOp::create(b, loc, byZero, byMinusOne), one, y);
  Value quotient = arith::DivSIOp::create(b, loc, x, divisor);
  quotient = select(b, loc, byMinusOne, arith::SubIOp::create(b, loc, zero, x), quotient);
  return {select(b, loc, byZero, zero, quotient), arith::RemSIOp::create(b, loc, x, divisor)};
}

Value div(OpBuilder &b, Location loc, Value x, Value y, Sign sign) {
  if (isFloat(x))
    return arith::DivFOp::create(b, loc, x, y);
  return divideIntegers(b, loc, x, y, sign).first;
}

Value mod(OpBuilder &b, Location loc, Value x, Value y, bool fmod, Sign sign) {
  Value rest = isFloat(x) ? Value(arith::RemFOp::create(b, loc, x, y)) : divideIntegers(b, loc, x, y, sign).second;
  if (fmod || sign == Sign::Unsigned)
    return rest;
  // The rest has the sign of x; where that is not the sign of y, one more y.
  Value zero = constant(b, loc, x.getType(), 0);
  Value nonZero = compare(b, loc, Order::NotEqual, rest, zero);
  Value differs =
      arith::XOrIOp::create(b, loc, compare(b, loc, Order::Less, rest, zero), compare(b, loc, Order::Less, y, zero));
  Value wrong = arith::AndIOp::create(b, loc, nonZero, differs);
  return arith::SelectOp::create(b, loc, wrong, add(b, loc, rest, y), rest);
}

Value pow(OpBuilder &b, Location loc, Value x, Value y) { return binary<math::PowFOp, math::IPowIOp>(b, loc, x, y); }

Value min(OpBuilder &b, Location loc, Value x, Value y, Sign sign) {
  if (sign == Sign::Unsigned)
    return arith::MinUIOp::create(b, loc, x, y);
  return binary<arith::MinimumFOp, arith::MinSIOp>(b, loc, x, y);
}
Value max(OpBuilder &b, Location loc, Value x, Value y, Sign sign) {
  if (sign == Sign::Unsigned)
    return arith::MaxUIOp::create(b, loc, x, y);
  return binary<arith::MaximumFOp, arith::MaxSIOp>(b, loc, x, y);
}
Value min(OpBuilder &b, Location loc, Value x, double y, Sign sign) {
  Value bound = constant(b, loc, x.getType(), y);
  return select(b, loc, compare(b, loc, Order::Less, bound, x, sign), bound, x);
}
Value max(OpBuilder &b, Location loc, Value x, double y, Sign sign) {
  Value bound = constant(b, loc, x.getType(), y);
  return select(b, loc, compare(b, loc, Order::Less, x, bound, sign), bound, x);
}

Value neg(OpBuilder &b, Location loc, Value x) {
  if (isFloat(x))
    return arith::NegFOp::create(b, loc, x);
  return sub(b, loc, constant(b, loc, x.getType(), 0), x);
}

Value abs(OpBuilder &b, Location loc, Value x, Sign sign) {
  if (sign == Sign::Unsigned)
    return x;
  if (isFloat(x))
    return math::AbsFOp::create(b, loc, x);
  return math::AbsIOp::create(b, loc, x);
}

Value sign(OpBuilder &b, Location loc, Value x, Sign sign) {
  Value zero = constant(b, loc, x.getType(), 0);
  if (sign == Sign::Unsigned)
    return select(b, loc, compare(b, loc, Order::Equal, x, zero), zero, constant(b, loc, x.getType(), 1));
  Value positive = select(b, loc, compare(b, loc, Order::Less, zero, x), constant(b, loc, x.getType(), 1), x);
  // Zeros and NaN remain as they are.
  return select(b, loc, compare(b, loc, Order::Less, x, zero), constant(b, loc, x.getType(), -1), positive);
}

Value sigmoid(OpBuilder &b, Location loc, Value x) {
  Value e = math::ExpOp::create(b, loc, neg(b, loc, x));
  return div(b, loc, constant(b, loc, x.getType(), 1), add(b, loc, e, 1));
}

Value leakyRelu(OpBuilder &b, Location loc, Value x, double alpha) {
  return prelu(b, loc, x, constant(b, loc, x.getType(), alpha));
}

Value prelu(OpBuilder &b, Location loc, Value x, Value slope) {
  Value zero = constant(b, loc, x.getType(), 0);
  return select(b, loc, compare(b, loc, Order::Less, x, zero), mul(b, loc, x, slope), x);
}

Value elu(OpBuilder &b, Location loc, Value x, double alpha, double gamma) {
  Value zero = constant(b, loc, x.getType(), 0);
  Value below = mul(b, loc, math::ExpM1Op::create(b, loc, x), alpha);
  Value y = select(b, loc, compare(b, loc, Order::Less, x, zero), below, x);
  return gamma == 1 ? y : mul(b, loc, y, gamma);
}

Value hardSigmoid(OpBuilder &b, Location loc, Value x, double alpha, double beta) {
  return min(b, loc, max(b, loc, add(b, loc, mul(b, loc, x, alpha), beta), 0.0), 1.0);
}

Value gelu(OpBuilder &b, Location loc, Value x, bool approximate) {
  Value inner;
  if (approximate) {
    // x + 0.044715 x^3 = x (1 + 0.044715 x^2)
    Value square = mul(b, loc, x, x);
    Value poly = mul(b, loc, x, add(b, loc, mul(b, loc, square, 0.044715), 1));
    inner = math::TanhOp::create(b, loc, mul(b, loc, poly, std::sqrt(2 / M_PI)));
  } else {
    inner = math::ErfOp::create(b, loc, mul(b, loc, x, M_SQRT1_2));
  }
  return mul(b, loc, mul(b, loc, x, 0.5), add(b, loc, inner, 1));
}

Value softplus(OpBuilder &b, Location loc, Value x) {
  // max(x, 0) + log(1 + exp(-|x|)): no overflow.
  Value e = math::ExpOp::create(b, loc, neg(b, loc, abs(b, loc, x)));
  return add(b, loc, max(b, loc, x, 0.0), math::LogOp::create(b, loc, add(b, loc, e, 1)));
}

Value compare(OpBuilder &b, Location loc, Order order, Value x, Value y, Sign sign) {
  if (isFloat(x)) {
    using P = arith::CmpFPredicate;
    static constexpr P kPredicates[] = {P::OEQ, P::UNE, P::OLT, P::OLE, P::UNO};
    return arith::CmpFOp::create(b, loc, kPredicates[static_cast<int>(order)], x, y);
  }
  using P = arith::CmpIPredicate;
  static constexpr P kSigned[] = {P::eq, P::ne, P::slt, P::sle, P::ne},
                     kUnsigned[] = {P::eq, P::ne, P::ult, P::ule, P::ne};
  const P *predicates = sign == Sign::Unsigned ? kUnsigned : kSigned;
  return arith::CmpIOp::create(b, loc, predicates[static_cast<int>(order)], x, y);
}

Value isInf(OpBuilder &b, Location loc, Value x, bool negative, bool positive) {
  double infinity = std::numeric_limits<double>::infinity();
  auto equals = [&](double value) { return compare(b, loc, Order::Equal, x, constant(b, loc, x.getType(), value)); };
  if (negative && positive)
    return arith::OrIOp::create(b, loc, equals(infinity), equals(-infinity));
  if (negative || positive)
    return equals(positive ? infinity : -infinity);
  return constant(b, loc, withElement(x.getType(), b.getI1Type()), 0);
}

Value invert(OpBuilder &b, Location loc, Value x) {
  return arith::XOrIOp::create(b, loc, x, constant(b, loc, x.getType(), -1));
}

template <typename Shift> static Value shift(OpBuilder &b, Location loc, Value x, Value y) {
  // arith gives poison for a shift by the width or more: clamp, then drop what such a shift drops.
  Value width = constant(b, loc, x.getType(), getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth());
  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, y, width);
  Value zero = constant(b, loc, x.getType(), 0);
  Value shifted = Shift::create(b, loc, x, select(b, loc, inside, y, zero));
  return select(b, loc, inside, shifted, zero);
}
Value shiftLeft(OpBuilder &b, Location loc, Value x, Value y) { return shift<arith::ShLIOp>(b, loc, x, y); }
Value shiftRight(OpBuilder &b, Location loc, Value x, Value y) { return shift<arith::ShRUIOp>(b, loc, x, y); }

Value cast(OpBuilder &b, Location loc, Value x, Type from, Type to) {
  Type signless = isa<FloatType>(to) ? to : Type(b.getIntegerType(to.getIntOrFloatBitWidth()));
  Type target = withElement(x.getType(), signless);
  if (from == to)
    return x;
  if (to.isInteger(1))
    return compare(b, loc, Order::NotEqual, x, constant(b, loc, x.getType(), 0));
  bool fromUnsigned = from.isUnsignedInteger() || from.isInteger(1);
  unsigned fromBits = from.getIntOrFloatBitWidth(), toBits = to.getIntOrFloatBitWidth();
  if (isa<FloatType>(from) && isa<FloatType>(to)) {
    if (fromBits < toBits)
      return arith::ExtFOp::create(b, loc, target, x);
    if (fromBits > toBits)
      return arith::TruncFOp::create(b, loc, target, x);
    // f16 <-> bf16: through f32.
    Value wide = arith::ExtFOp::create(b, loc, withElement(x.getType(), b.getF32Type()), x);
    return arith::TruncFOp::create(b, loc, target, wide);
  }
  if (isa<FloatType>(from)) {
    if (to.isUnsignedInteger())
      return arith::FPToUIOp::create(b, loc, target, x);
    return arith::FPToSIOp::create(b, loc, target, x);
  }
  if (isa<FloatType>(to)) {
    if (fromUnsigned)
      return arith::UIToFPOp::create(b, loc, target, x);
    return arith::SIToFPOp::create(b, loc, target, x);
  }
  if (fromBits == toBits)
    return x;
  if (fromBits > toBits)
    return arith::TruncIOp::create(b, loc, target, x);
  if (fromUnsigned)
    return arith::ExtUIOp::create(b, loc, target, x);
  return arith::ExtSIOp::create(b, loc, target, x);
}

} // namespace plim::graph::scalar
