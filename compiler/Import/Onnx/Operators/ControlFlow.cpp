// If and Loop: graphs in attributes become regions.
#include "compiler/Import/Onnx/Operators/Loops.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

/// Smallest intervals that hold both.
graph::Dims join(ArrayRef<graph::Dim> a, ArrayRef<graph::Dim> b) {
  graph::Dims dims;
  for (auto [x, y] : llvm::zip_equal(a, b))
    dims.push_back({std::min(x.lo, y.lo), std::max(x.hi, y.hi)});
  return dims;
}

/// The scalar that a condition or a number of trips is; null with an error where it is none.
Value scalarOf(NodeImporter &n, Value value, Type element, StringRef what) {
  if (n.hasFailed())
    return {};
  RankedTensorType type = NodeImporter::typeOf(value);
  if (type.getElementType() != element || graph::elementsOf(graph::dimsOf(type)) != graph::Dim(1)) {
    std::string need;
    llvm::raw_string_ostream(need) << element;
    (void)n.error(what + ": need one element of " + need + ", have " + typeText(value));
    return {};
  }
  return type.getRank() == 0 ? value : n.reshape(value, {});
}

//===----------------------------------------------------------------------===//
// If
//===----------------------------------------------------------------------===//

/// A branch that is known is taken at compile time: the other one is never looked at.
LogicalResult branch(NodeImporter &n) {
  const wire::Graph *graphs[] = {n.graph("then_branch"), n.graph("else_branch")};
  if (!graphs[0] || !graphs[1])
    return n.error("attributes 'then_branch' and 'else_branch' must be graphs");
  const Value condition = scalarOf(n, n[0], n.b.getI1Type(), "the condition");
  if (!condition)
    return failure();
  if (const graph::Dim range = NodeImporter::rangeOf(condition); range.isStatic())
    return n.inlineGraph(*graphs[range.lo == 0]);

  Region regions[2];
  SmallVector<Value> given[2];
  for (unsigned way : {0, 1}) {
    regions[way].emplaceBlock();
    if (failed(n.importRegion(*graphs[way], &regions[way].front(), {}, given[way])))
      return failure();
    yieldAll(n, &regions[way].front(), given[way]);
  }
  if (given[0].size() != given[1].size() || given[0].size() < n.numOutputs())
    return n.error("need " + Twine(n.numOutputs()) + " outputs of both branches, have " + Twine(given[0].size()) +
                   " and " + Twine(given[1].size()));
  SmallVector<Type> types;
  for (auto [i, x, y] : llvm::enumerate(given[0], given[1])) {
    const RankedTensorType a = NodeImporter::typeOf(x), c = NodeImporter::typeOf(y);
    if (a.getElementType() != c.getElementType() || a.getRank() != c.getRank())
      return n.error("output " + Twine(i) + ": need one element type and rank on both ways, have " + typeText(x) +
                     " and " + typeText(y));
    types.push_back(graph::tensorOf(join(graph::dimsOf(a), graph::dimsOf(c)), a.getElementType()));
  }
  auto op = graph::IfOp::create(n.b, n.loc, types, condition);
  op.getThenRegion().takeBody(regions[0]);
  op.getElseRegion().takeBody(regions[1]);
  return n.finish(SmallVector<Value>(op.getResults()));
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

/// The number of trips that a loop may have, from what is known of them or from --bound.
std::optional<int64_t> mostTrips(NodeImporter &n, Value trips) {
  // No run comes to an end of more; exporters write the largest integer for "as long as the condition holds".
  constexpr int64_t endless = int64_t(1) << 40;
  const graph::Dim range = NodeImporter::rangeOf(trips);
  const std::optional<int64_t> given = n.tripBound();
  if (range.hi < endless)
    return std::max<int64_t>(0, given ? std::min(*given, range.hi) : range.hi);
  if (given)
    return given;
  (void)n.error("need a bound of the number of its trips, have none: give it by " + n.tripBoundFlag());
  return std::nullopt;
}

LogicalResult loop(NodeImporter &n) {
  const wire::Graph *body = n.graph("body");
  if (!body)
    return n.error("attribute 'body' must be a graph");
  const unsigned carried = n.numInputs() > 2 ? n.numInputs() - 2 : 0;
  if (body->inputs.size() != carried + 2 || body->outputs.size() < carried + 1)
    return n.error("need a body of " + Twine(carried + 2) + " inputs and at least " + Twine(carried + 1) +
                   " outputs, have " + Twine(body->inputs.size()) + " and " + Twine(body->outputs.size()));
  SmallVector<Value> initial;
  for (unsigned k = 0; k < carried; ++k) {
    if (!n.input(2 + k))
      return n.error("input " + Twine(2 + k) + " is missing");
    initial.push_back(n[2 + k]);
  }
  LoopHeader header{};
  header.trips = n.input(0) ? scalarOf(n, n[0], n.b.getI64Type(), "the number of trips")
                            : n.scalar(std::numeric_limits<int64_t>::max());
  header.condition = n.input(1) ? scalarOf(n, n[1], n.b.getI1Type(), "the condition") : n.scalar(1, n.b.getI1Type());
  if (n.hasFailed())
    return failure();
  const std::optional<int64_t> most = mostTrips(n, header.trips);
  if (!most)
    return failure();
  header.maxTrips = *most;
  return n.finish(makeLoop(n, header, initial, [&](Block *block, SmallVectorImpl<Value> &yields) -> LogicalResult {
    SmallVector<Value> arguments(block->getArguments());
    arguments[1] = n.scalar(1, n.b.getI1Type()); // a trip is due only where it holds
    for (unsigned i : {0, 1})
      if (const auto &shape = body->inputs[i].type.shape; shape && shape->size() == 1)
        arguments[i] = n.reshape(arguments[i], {1});
    if (failed(n.importRegion(*body, block, arguments, yields)))
      return failure();
    OpBuilder::InsertionGuard guard(n.b);
    n.b.setInsertionPointToEnd(block);
    yields[0] = scalarOf(n, yields[0], n.b.getI1Type(), "the body's condition");
    return success(!n.hasFailed());
  }));
}

constexpr OperatorRow rows[] = {
    {"If", 1, 1, branch, 7, noVersion, "", "results of one element type and rank on both ways"},
    {"Loop", 0, anyOptional, loop, 7, noVersion, "", "a bound of its trips, known or given by --bound NODE=0..MOST"},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::controlFlowOperators() { return rows; }
