// Comparison, logic, choice and conversion.
#include "compiler/Import/Onnx/Operators/Elementwise.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

LogicalResult isInf(NodeImporter &n) {
  return n.finish(
      n.make<graph::IsInfOp>(n[0], n.integer("detect_negative", 1) != 0, n.integer("detect_positive", 1) != 0));
}

LogicalResult where(NodeImporter &n) { return n.finish(n.make<graph::SelectOp>(n[0], n[1], n[2])); }

LogicalResult cast(NodeImporter &n) {
  n.ignore({"saturate", "round_mode"}); // of 8-bit floats only
  if (!n.has("to"))
    return n.error("attribute 'to' is missing");
  const Type element = n.elementType(n.integer("to", 0));
  return element ? n.finish(n.cast(n[0], element)) : failure();
}

LogicalResult castLike(NodeImporter &n) {
  n.ignore({"saturate", "round_mode"});
  return n.finish(n.cast(n[0], n.type(1).getElementType()));
}

constexpr OperatorRow rows[] = {
    {"And", 2, 2, binary<graph::AndOp>},
    {"Cast", 1, 1, cast, 7, noVersion, "", "no strings, no floats or integers below 8 bits"},
    {"CastLike", 2, 2, castLike, 15},
    {"Equal", 2, 2, binary<graph::EqualOp>},
    {"Greater", 2, 2, binary<graph::GreaterOp>},
    {"GreaterOrEqual", 2, 2, binary<graph::GreaterEqualOp>, 12},
    {"IsInf", 1, 1, isInf, 10},
    {"IsNaN", 1, 1, unary<graph::IsNanOp>, 9},
    {"Less", 2, 2, binary<graph::LessOp>},
    {"LessOrEqual", 2, 2, binary<graph::LessEqualOp>, 12},
    {"Not", 1, 1, unary<graph::NotOp>},
    {"Or", 2, 2, binary<graph::OrOp>},
    {"Where", 3, 3, where, 9},
    {"Xor", 2, 2, binary<graph::XorOp>},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::logicOperators() { return rows; }
