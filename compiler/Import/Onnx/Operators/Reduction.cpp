// Reductions, and what else runs along an axis: arg-reductions, scans, selections.
#include "compiler/Import/Onnx/NodeImporter.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

/// Axes become an input in operator set `inputSince`.
LogicalResult reduce(NodeImporter &n, graph::ReduceKind kind, int64_t inputSince) {
  const int64_t rank = n.type(0).getRank();
  const bool keep = n.integer("keepdims", 1) != 0;
  const bool noop = n.integer("noop_with_empty_axes", 0) != 0;
  std::optional<Ints> axes;
  if (failed(n.optionalInts("axes", inputSince, axes)))
    return failure();
  if (!axes || axes->empty()) {
    if (noop)
      return n.finish(n[0]);
    axes.emplace();
    for (int64_t i = 0; i < rank; ++i)
      axes->push_back(i);
  }
  const auto list = n.axesOf(*axes, rank);
  if (!list)
    return failure();
  // Least and greatest of truth values are those of 0 and 1.
  const Type element = n.type(0).getElementType();
  Value input = n[0];
  if (element.isInteger(1))
    input = n.cast(input, n.b.getI32Type());
  Value result = n.make<graph::ReduceOp>(kind, input, *list, keep);
  return n.hasFailed() ? failure() : n.finish(n.cast(result, element));
}

template <graph::ReduceKind kind, int64_t inputSince = 18> LogicalResult reduction(NodeImporter &n) {
  return reduce(n, kind, inputSince);
}

template <graph::ArgReduceKind kind> LogicalResult argReduction(NodeImporter &n) {
  const auto axis = n.axisOf(n.integer("axis", 0), n.type(0).getRank());
  const bool keep = n.integer("keepdims", 1) != 0, last = n.integer("select_last_index", 0) != 0;
  return axis ? n.finish(n.make<graph::ArgReduceOp>(kind, n[0], uint64_t(*axis), keep, last)) : failure();
}

/// The number of elements is an attribute before operator set 10, an input from then on.
LogicalResult topK(NodeImporter &n) {
  const auto axis = n.axisOf(n.integer("axis", -1), n.type(0).getRank());
  if (!axis)
    return failure();
  int64_t k = n.integer("k", -1);
  const int64_t size = n.type(0).getDimSize(*axis);
  // A K of the run: all are sorted, and the first of them taken.
  Value count;
  if (n.version >= 10) {
    if (!n.input(1))
      return n.error("input 1 'K' is missing: need it from operator set 10 on");
    if (const auto given = NodeImporter::constantInts(n[1]); given && given->size() == 1)
      k = given->front();
    else if (n.type(1).hasStaticShape() && n.type(1).getNumElements() == 1 && !ShapedType::isDynamic(size))
      count = n.entry(n[1], 0);
    else
      return n.error("input 1 'K' must be one integer, known at compile time where the axis is open");
    k = count ? size : k;
  }
  if (k < 0 || (!ShapedType::isDynamic(size) && k > size))
    return n.error("K is " + Twine(k) + ": need 0 to " + Twine(size));
  const bool largest = n.integer("largest", 1) != 0, sorted = n.integer("sorted", 1) != 0;
  SmallVector<Value> found = n.makeMany<graph::TopKOp>(2, n[0], uint64_t(k), uint64_t(*axis), largest, sorted);
  if (count)
    for (Value &part : found)
      part = n.firstOf(part, *axis, count);
  return n.finish(found);
}

LogicalResult cumSum(NodeImporter &n) {
  const auto given = n.needInt(1, "axis");
  if (!given)
    return failure();
  const auto axis = n.axisOf(*given, n.type(0).getRank());
  const bool exclusive = n.integer("exclusive", 0) != 0, reverse = n.integer("reverse", 0) != 0;
  return axis ? n.finish(n.make<graph::CumsumOp>(n[0], uint64_t(*axis), exclusive, reverse)) : failure();
}

constexpr OperatorRow rows[] = {
    {"ArgMax", 1, 1, argReduction<graph::ArgReduceKind::Max>},
    {"ArgMin", 1, 1, argReduction<graph::ArgReduceKind::Min>},
    {"CumSum", 2, 2, cumSum, 11, noVersion, "", "the axis must be known at compile time"},
    {"ReduceL1", 1, 2, reduction<graph::ReduceKind::L1>},
    {"ReduceL2", 1, 2, reduction<graph::ReduceKind::L2>},
    {"ReduceLogSum", 1, 2, reduction<graph::ReduceKind::LogSum>},
    {"ReduceLogSumExp", 1, 2, reduction<graph::ReduceKind::LogSumExp>},
    {"ReduceMax", 1, 2, reduction<graph::ReduceKind::Max>},
    {"ReduceMean", 1, 2, reduction<graph::ReduceKind::Mean>},
    {"ReduceMin", 1, 2, reduction<graph::ReduceKind::Min>},
    {"ReduceProd", 1, 2, reduction<graph::ReduceKind::Prod>},
    {"ReduceSum", 1, 2, reduction<graph::ReduceKind::Sum, 13>},
    {"ReduceSumSquare", 1, 2, reduction<graph::ReduceKind::SumSquare>},
    {"TopK", 1, 2, topK, 7, noVersion, "", "K must be known at compile time where the axis is open"},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::reductionOperators() { return rows; }
