// Arithmetic: element by element, with numpy broadcasting.
#include "compiler/Import/Onnx/Operators/Elementwise.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

template <typename Op> Value foldLeft(NodeImporter &n) {
  Value result = n[0];
  for (unsigned i = 1; i < n.numInputs(); ++i)
    result = n.make<Op>(result, n[i]);
  return result;
}

template <typename Op> LogicalResult variadic(NodeImporter &n) { return n.finish(foldLeft<Op>(n)); }

LogicalResult mean(NodeImporter &n) {
  Value sum = foldLeft<graph::AddOp>(n);
  if (n.numInputs() == 1 || n.hasFailed())
    return n.finish(sum);
  return n.finish(n.make<graph::MulOp>(sum, n.scalar(1.0 / n.numInputs(), n.type(0).getElementType())));
}

LogicalResult mod(NodeImporter &n) {
  const bool fmod = n.integer("fmod", 0) != 0;
  if (!fmod && isa<FloatType>(n.type(0).getElementType()))
    return n.error("attribute 'fmod' must be 1 for floats");
  return n.finish(n.make<graph::ModOp>(n[0], n[1], fmod));
}

/// The result has the type of the base, whatever that of the exponent.
LogicalResult pow(NodeImporter &n) {
  const Type base = n.type(0).getElementType(), exponent = n.type(1).getElementType();
  const Type computed = isa<FloatType>(base) || !isa<FloatType>(exponent) ? base : exponent;
  Value result = n.make<graph::PowOp>(n.cast(n[0], computed), n.cast(n[1], computed));
  return n.hasFailed() ? failure() : n.finish(n.cast(result, base));
}

/// Floats only in graph; on integers rounding changes nothing.
template <typename Op> LogicalResult rounding(NodeImporter &n) {
  return n.finish(isa<FloatType>(n.type(0).getElementType()) ? n.make<Op>(n[0]) : n[0]);
}

LogicalResult bitShift(NodeImporter &n) {
  const StringRef direction = n.string("direction", "");
  if (direction == "LEFT")
    return binary<graph::ShiftLeftOp>(n);
  if (direction == "RIGHT")
    return binary<graph::ShiftRightOp>(n);
  return n.error("attribute 'direction' must be LEFT or RIGHT, have '" + direction + "'");
}

constexpr OperatorRow rows[] = {
    {"Abs", 1, 1, unary<graph::AbsOp>},
    {"Acos", 1, 1, unary<graph::AcosOp>},
    {"Acosh", 1, 1, unary<graph::AcoshOp>, 9},
    {"Add", 2, 2, binary<graph::AddOp>},
    {"Asin", 1, 1, unary<graph::AsinOp>},
    {"Asinh", 1, 1, unary<graph::AsinhOp>, 9},
    {"Atan", 1, 1, unary<graph::AtanOp>},
    {"Atanh", 1, 1, unary<graph::AtanhOp>, 9},
    {"BitShift", 2, 2, bitShift, 11},
    {"BitwiseAnd", 2, 2, binary<graph::BitAndOp>, 18},
    {"BitwiseNot", 1, 1, unary<graph::BitNotOp>, 18},
    {"BitwiseOr", 2, 2, binary<graph::BitOrOp>, 18},
    {"BitwiseXor", 2, 2, binary<graph::BitXorOp>, 18},
    {"Ceil", 1, 1, rounding<graph::CeilOp>},
    {"Cos", 1, 1, unary<graph::CosOp>},
    {"Cosh", 1, 1, unary<graph::CoshOp>, 9},
    {"Div", 2, 2, binary<graph::DivOp>},
    {"Erf", 1, 1, unary<graph::ErfOp>, 9},
    {"Exp", 1, 1, unary<graph::ExpOp>},
    {"Floor", 1, 1, rounding<graph::FloorOp>},
    {"Log", 1, 1, unary<graph::LogOp>},
    {"Max", 1, anyNumber, variadic<graph::MaxOp>},
    {"Mean", 1, anyNumber, mean},
    {"Min", 1, anyNumber, variadic<graph::MinOp>},
    {"Mod", 2, 2, mod, 10},
    {"Mul", 2, 2, binary<graph::MulOp>},
    {"Neg", 1, 1, unary<graph::NegOp>},
    {"Pow", 2, 2, pow},
    {"Reciprocal", 1, 1, unary<graph::ReciprocalOp>},
    {"Round", 1, 1, rounding<graph::RoundOp>, 11},
    {"Sign", 1, 1, unary<graph::SignOp>, 9},
    {"Sin", 1, 1, unary<graph::SinOp>},
    {"Sinh", 1, 1, unary<graph::SinhOp>, 9},
    {"Sqrt", 1, 1, unary<graph::SqrtOp>},
    {"Sub", 2, 2, binary<graph::SubOp>},
    {"Sum", 1, anyNumber, variadic<graph::AddOp>},
    {"Tan", 1, 1, unary<graph::TanOp>},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::arithmeticOperators() { return rows; }
