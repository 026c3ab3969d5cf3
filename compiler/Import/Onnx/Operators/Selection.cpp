// Operators whose results have as many elements as the data says.
#include "compiler/Import/Onnx/NodeImporter.h"
#include <limits>

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

/// Coordinates [count, rank] of the elements that are not 0.
Value nonzeroOf(NodeImporter &n, Value input) {
  Value truth = n.cast(input, n.b.getI1Type());
  if (n.hasFailed())
    return {};
  const auto axes = llvm::to_vector(llvm::seq<int64_t>(0, graph::rankOf(input)));
  Value ones = n.cast(truth, n.b.getI64Type());
  return n.make<graph::NonzeroOp>(truth, n.make<graph::ReduceOp>(graph::ReduceKind::Sum, ones, axes, false));
}

LogicalResult nonZero(NodeImporter &n) {
  Value input = n.type(0).getRank() == 0 ? n.reshape(n[0], {1}) : n[0];
  Value found = nonzeroOf(n, input);
  return n.finish(n.transpose(found, {1, 0}));
}

/// The axis that the node chooses along, or -1 where it has none: then `input` becomes flat. Nothing after an error.
std::optional<int64_t> axisOrFlatten(NodeImporter &n, Value &input) {
  if (n.has("axis"))
    return n.axisOf(n.integer("axis", 0), NodeImporter::typeOf(input).getRank());
  input = n.reshape(input, {-1});
  return -1;
}

/// The input's slices along an axis, or all its elements without one, where the condition holds.
LogicalResult compress(NodeImporter &n) {
  Value input = n[0];
  const auto axis = axisOrFlatten(n, input);
  if (!axis)
    return failure();
  if (n.type(1).getRank() != 1 || !n.type(1).getElementType().isInteger(1))
    return n.error("input 1 'condition' must be a list of truth values");
  Value found = nonzeroOf(n, n[1]);
  return n.finish(n.make<graph::GatherOp>(input, n.reshape(found, {-1}), std::max<int64_t>(*axis, 0)));
}

LogicalResult unique(NodeImporter &n) {
  const bool sorted = n.integer("sorted", 1) != 0;
  Value input = n[0];
  const auto axis = axisOrFlatten(n, input);
  if (!axis)
    return failure();
  Value keys = n.type(0).getElementType().isInteger(1) ? n.cast(n[0], n.b.getIntegerType(8, false)) : n[0];
  const SmallVector<Value> parts = n.makeMany<graph::UniqueOp>(4, keys, *axis, sorted);
  Value count = n.reshape(parts[3], {1});
  Value first = n.firstOf(parts[0], 0, count), counts = n.firstOf(parts[2], 0, count);
  Value values = n.make<graph::GatherOp>(input, first, std::max<int64_t>(*axis, 0));
  return n.finish({values, first, parts[1], counts});
}

LogicalResult nonMaxSuppression(NodeImporter &n) {
  const bool center = n.integer("center_point_box", 0) != 0;
  const Type f32 = n.b.getF32Type();
  if (n.type(0).getRank() != 3 || n.type(1).getRank() != 3)
    return n.error("need boxes [batches, n, 4] and scores [batches, classes, n]");
  auto scalar = [&](unsigned i, double otherwise) { return n[i] ? n.reshape(n[i], {}) : n.scalar(otherwise, f32); };
  Value most = n[2] ? n.reshape(n[2], {}) : n.scalar(0);
  Value overlap = scalar(3, 0), least = scalar(4, -std::numeric_limits<double>::infinity());
  if (n.hasFailed())
    return failure();
  graph::Dim wanted = NodeImporter::rangeOf(most), boxes = graph::dimsOf(n.type(0))[1];
  int64_t limit = std::max<int64_t>(std::min(wanted.hi, boxes.hi), 0);
  const SmallVector<Value> parts =
      n.makeMany<graph::NonMaxSuppressionOp>(2, n[0], n[1], most, overlap, least, limit, center);
  return n.finish(n.firstOf(parts[0], 0, n.reshape(parts[1], {1})));
}

constexpr OperatorRow rows[] = {
    {"Compress", 2, 2, compress, 9},
    {"NonMaxSuppression", 2, 5, nonMaxSuppression, 10},
    {"NonZero", 1, 1, nonZero, 9},
    {"Unique", 1, 1, unique, 11, noVersion, "", "no strings"},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::selectionOperators() { return rows; }
