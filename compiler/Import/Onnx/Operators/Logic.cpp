// Comparison, logic, choice and conversion.
#include "compiler/Import/Onnx/NodeImporter.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

template <typename Op> LogicalResult unary(NodeImporter &n) { return n.finish(n.make<Op>(n[0])); }

template <typename Op> LogicalResult binary(NodeImporter &n) { return n.finish(n.make<Op>(n[0], n[1])); }

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

/// A branch is taken at compile time: that of the other condition is never looked at.
LogicalResult branch(NodeImporter &n) {
  const wire::Graph *taken[] = {n.graph("else_branch"), n.graph("then_branch")};
  if (!taken[0] || !taken[1])
    return n.error("attributes 'then_branch' and 'else_branch' must be graphs");
  const auto condition = NodeImporter::constantInts(n[0]);
  if (!condition || condition->size() != 1)
    return n.error("the condition must be known at compile time");
  return n.inlineGraph(*taken[condition->front() != 0]);
}

constexpr OperatorRow rows[] = {
    {"And", 2, 2, binary<graph::AndOp>},
    {"Cast", 1, 1, cast, 7, noVersion, "", "no strings, no floats or integers below 8 bits"},
    {"CastLike", 2, 2, castLike, 15},
    {"Equal", 2, 2, binary<graph::EqualOp>},
    {"Greater", 2, 2, binary<graph::GreaterOp>},
    {"GreaterOrEqual", 2, 2, binary<graph::GreaterEqualOp>, 12},
    {"If", 1, 1, branch, 7, noVersion, "", "the condition must be known at compile time"},
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
