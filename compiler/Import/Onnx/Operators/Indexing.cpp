// Operators that read or write by index tensors.
#include "compiler/Import/Onnx/NodeImporter.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

LogicalResult gather(NodeImporter &n) {
  const auto axis = n.axisOf(n.integer("axis", 0), n.type(0).getRank());
  return axis ? n.finish(n.make<graph::GatherOp>(n[0], n[1], *axis)) : failure();
}

LogicalResult gatherElements(NodeImporter &n) {
  const auto axis = n.axisOf(n.integer("axis", 0), n.type(0).getRank());
  return axis ? n.finish(n.make<graph::GatherElementsOp>(n[0], n[1], *axis)) : failure();
}

LogicalResult gatherNd(NodeImporter &n) {
  return n.finish(n.make<graph::GatherNdOp>(n[0], n[1], n.integer("batch_dims", 0)));
}

std::optional<graph::ScatterReduction> reductionOf(NodeImporter &n) {
  const StringRef name = n.string("reduction", "none");
  const auto reduction = graph::symbolizeScatterReduction(name);
  if (!reduction)
    (void)n.error("attribute 'reduction' must be none, add, mul, max or min, have '" + name + "'");
  return reduction;
}

LogicalResult scatterElements(NodeImporter &n) {
  const auto axis = n.axisOf(n.integer("axis", 0), n.type(0).getRank());
  const auto reduction = reductionOf(n);
  if (!axis || !reduction)
    return failure();
  return n.finish(n.make<graph::ScatterElementsOp>(n[0], n[1], n[2], *axis, *reduction));
}

LogicalResult scatterNd(NodeImporter &n) {
  const auto reduction = reductionOf(n);
  return reduction ? n.finish(n.make<graph::ScatterNdOp>(n[0], n[1], n[2], *reduction)) : failure();
}

LogicalResult oneHot(NodeImporter &n) {
  const auto depth = n.needReals(1, "depth");
  if (!depth)
    return failure();
  if (depth->size() != 1 || depth->front() < 1 || depth->front() > double(INT32_MAX))
    return n.error("input 1 'depth' must be one number of at least 1");
  const auto axis = n.axisOf(n.integer("axis", -1), n.type(0).getRank() + 1);
  if (!axis)
    return failure();
  // Indices of other types are taken as integers.
  const Type index = n.type(0).getElementType();
  Value indices = index.isSignlessInteger(32) || index.isSignlessInteger(64) ? n[0] : n.cast(n[0], n.b.getI64Type());
  return n.finish(n.make<graph::OneHotOp>(indices, n[2], uint64_t(depth->front()), uint64_t(*axis)));
}

/// Elements on one side of diagonal `k`, 0 elsewhere.
LogicalResult trilu(NodeImporter &n) {
  const bool upper = n.integer("upper", 1) != 0;
  int64_t k = 0;
  if (n[1]) {
    const auto given = n.needInt(1, "k");
    if (!given)
      return failure();
    k = *given;
  }
  const auto type = n.type(0);
  const int64_t rank = type.getRank();
  if (rank < 2 || type.isDynamicDim(rank - 1) || type.isDynamicDim(rank - 2))
    return n.error("need at least 2 dimensions and static last ones, have " + graph::toString(graph::dimsOf(type)));
  const int64_t rows = type.getDimSize(rank - 2), columns = type.getDimSize(rank - 1);
  k = std::clamp(k, -rows - 1, columns + 1);
  // Element (row, column) is kept where column - row >= k (upper) or <= k (lower).
  Value row = n.indexGrid(rows, 1, k), column = n.indexGrid(columns, 0, 0);
  Value kept = upper ? n.make<graph::GreaterEqualOp>(column, row) : n.make<graph::LessEqualOp>(column, row);
  return n.finish(n.make<graph::SelectOp>(kept, n[0], n.scalar(0.0, type.getElementType())));
}

constexpr OperatorRow rows[] = {
    {"Gather", 2, 2, gather},
    {"GatherElements", 2, 2, gatherElements, 11},
    {"GatherND", 2, 2, gatherNd, 11},
    {"OneHot", 3, 3, oneHot, 9, noVersion, "", "the depth must be known at compile time"},
    {"Scatter", 3, 3, scatterElements, 9, 11},
    {"ScatterElements", 3, 3, scatterElements, 11},
    {"ScatterND", 3, 3, scatterNd, 11},
    {"Trilu", 1, 2, trilu, 14, noVersion, "", "the last two dimensions and k must be known at compile time"},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::indexingOperators() { return rows; }
