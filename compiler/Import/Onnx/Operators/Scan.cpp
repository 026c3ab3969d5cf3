// Scan: a loop over slices of its inputs.
#include "compiler/Import/Onnx/Operators/Loops.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

/// Slice `index` of a value along an axis, without that axis.
Value sliceAt(NodeImporter &n, Value value, Value index, int64_t axis) {
  return n.hasFailed() ? Value() : n.make<graph::GatherOp>(value, index, axis);
}

/// Directions or axes: one entry a value, 0 where the attribute is left out.
std::optional<Ints> perValue(NodeImporter &n, StringRef name, size_t count) {
  std::optional<Ints> list = n.integers(name);
  if (!list)
    return Ints(count, 0);
  if (list->size() == count)
    return list;
  (void)n.error("attribute '" + name + "': need " + Twine(count) + " entries, have " + Twine(list->size()));
  return std::nullopt;
}

struct ScanShape {
  const wire::Graph *body;
  size_t states, scanned;
  Ints axes, directions, outputAxes, outputDirections;
};

/// The size that all scanned inputs have along their axes.
std::optional<int64_t> sequenceLength(NodeImporter &n, ArrayRef<Value> inputs, ArrayRef<int64_t> axes) {
  std::optional<int64_t> length;
  for (auto [i, value, axis] : llvm::enumerate(inputs, axes)) {
    const graph::Dim size = graph::dimsOf(value.getType())[axis];
    if (!size.isStatic()) {
      (void)n.error("scanned input " + Twine(i) + ": need a static size along axis " + Twine(axis) + ", have " +
                    graph::toString({size}));
      return std::nullopt;
    }
    if (length && *length != size.lo) {
      (void)n.error("need scanned inputs of one length, have " + Twine(*length) + " and " + Twine(size.lo));
      return std::nullopt;
    }
    length = size.lo;
  }
  return length;
}

/// Final states and stacked outputs, the latter in the order and along the axes that the node asks for.
SmallVector<Value> scanOver(NodeImporter &n, const ScanShape &scan, ArrayRef<Value> states, ArrayRef<Value> inputs) {
  const std::optional<int64_t> length = sequenceLength(n, inputs, scan.axes);
  if (!length)
    return {};
  LoopHeader header{n.scalar(*length), n.scalar(1, n.b.getI1Type()), *length};
  SmallVector<Value> results =
      makeLoop(n, header, states, [&](Block *block, SmallVectorImpl<Value> &yields) -> LogicalResult {
        SmallVector<Value> arguments(block->getArguments().drop_front(2));
        const Value forward = block->getArgument(0);
        Value backward;
        for (auto [input, axis, direction] : llvm::zip_equal(inputs, scan.axes, scan.directions)) {
          if (direction && !backward)
            backward = n.make<graph::SubOp>(n.scalar(*length - 1), forward);
          arguments.push_back(sliceAt(n, input, direction ? backward : forward, axis));
        }
        yields.push_back(n.scalar(1, n.b.getI1Type()));
        SmallVector<Value> given;
        if (n.hasFailed() || failed(n.importRegion(*scan.body, block, arguments, given)))
          return failure();
        yields.append(given);
        return success();
      });
  for (size_t i = scan.states; i < results.size(); ++i) {
    Value &value = results[i];
    const size_t k = i - scan.states;
    const int64_t rank = graph::rankOf(value);
    if (scan.outputDirections[k]) {
      const Value backward = n.make<graph::RangeOp>(n.scalar(*length - 1), n.scalar(-1), n.scalar(-1));
      value = n.hasFailed() ? Value() : n.make<graph::GatherOp>(value, backward, int64_t(0));
      if (n.hasFailed())
        return {};
    }
    const std::optional<int64_t> axis = n.axisOf(scan.outputAxes[k], rank);
    if (!axis || n.hasFailed())
      return {};
    if (*axis > 0) {
      Ints permutation;
      for (int64_t d = 1; d < rank; ++d)
        permutation.push_back(d);
      permutation.insert(permutation.begin() + *axis, 0);
      value = n.transpose(value, permutation);
    }
  }
  return results;
}

/// Checks the numbers of inputs and outputs against those of the body.
LogicalResult readScan(NodeImporter &n, ScanShape &scan, size_t inputs) {
  scan.body = n.graph("body");
  if (!scan.body)
    return n.error("attribute 'body' must be a graph");
  for (size_t i = n.numInputs() - inputs; i < n.numInputs(); ++i)
    if (!n.input(unsigned(i)))
      return n.error("input " + Twine(i) + " is missing");
  const int64_t scanned = n.integer("num_scan_inputs", 0);
  if (scanned < 1 || size_t(scanned) > inputs)
    return n.error("attribute 'num_scan_inputs': need 1 to " + Twine(inputs) + ", have " + Twine(scanned));
  scan.scanned = size_t(scanned), scan.states = inputs - scan.scanned;
  if (scan.body->inputs.size() != inputs || scan.body->outputs.size() < scan.states)
    return n.error("need a body of " + Twine(inputs) + " inputs and at least " + Twine(scan.states) +
                   " outputs, have " + Twine(scan.body->inputs.size()) + " and " + Twine(scan.body->outputs.size()));
  const size_t stacked = scan.body->outputs.size() - scan.states;
  scan.axes.assign(scan.scanned, 0), scan.directions = scan.axes;
  scan.outputAxes.assign(stacked, 0), scan.outputDirections = scan.outputAxes;
  return success();
}

/// Since operator set 9.
LogicalResult scan(NodeImporter &n) {
  ScanShape shape;
  if (failed(readScan(n, shape, n.numInputs())))
    return failure();
  const size_t stacked = shape.outputAxes.size();
  auto axes = perValue(n, "scan_input_axes", shape.scanned);
  auto directions = perValue(n, "scan_input_directions", shape.scanned);
  auto outputAxes = perValue(n, "scan_output_axes", stacked);
  auto outputDirections = perValue(n, "scan_output_directions", stacked);
  if (!axes || !directions || !outputAxes || !outputDirections)
    return failure();
  SmallVector<Value> states(ArrayRef(n.inputs).take_front(shape.states)),
      inputs(ArrayRef(n.inputs).drop_front(shape.states));
  for (auto [value, axis] : llvm::zip_equal(inputs, *axes)) {
    const std::optional<int64_t> own = n.axisOf(axis, graph::rankOf(value));
    if (!own)
      return failure();
    axis = *own;
  }
  shape.axes = *axes, shape.directions = *directions;
  shape.outputAxes = *outputAxes, shape.outputDirections = *outputDirections;
  return n.finish(scanOver(n, shape, states, inputs));
}

/// Of operator set 8: all values have a first dimension of batches, over which the whole goes.
LogicalResult batchedScan(NodeImporter &n) {
  if (n.input(0))
    return n.error("input 0 'sequence_lens' is not supported");
  ScanShape shape;
  if (n.numInputs() < 2)
    return n.error("need sequence_lens, left out, and at least one input, have " + Twine(n.numInputs()) + " inputs");
  if (failed(readScan(n, shape, n.numInputs() - 1)))
    return failure();
  auto directions = perValue(n, "directions", shape.scanned);
  if (!directions)
    return failure();
  shape.directions = *directions;
  SmallVector<Value> values(ArrayRef(n.inputs).drop_front());
  for (auto [i, value] : llvm::enumerate(values))
    if (graph::rankOf(value) < (i < shape.states ? 1 : 2))
      return n.error("input " + Twine(i + 1) + ": need dimensions of batch and sequence, have " + typeText(value));
  const std::optional<int64_t> batches = sequenceLength(n, values, Ints(values.size(), 0));
  if (!batches)
    return failure();
  LoopHeader header{n.scalar(*batches), n.scalar(1, n.b.getI1Type()), *batches};
  return n.finish(makeLoop(n, header, {}, [&](Block *block, SmallVectorImpl<Value> &yields) -> LogicalResult {
    SmallVector<Value> own;
    for (Value value : values)
      own.push_back(sliceAt(n, value, block->getArgument(0), 0));
    if (n.hasFailed())
      return failure();
    yields.push_back(n.scalar(1, n.b.getI1Type()));
    yields.append(scanOver(n, shape, ArrayRef(own).take_front(shape.states), ArrayRef(own).drop_front(shape.states)));
    return success(!n.hasFailed());
  }));
}

LogicalResult anyScan(NodeImporter &n) { return n.version < 9 ? batchedScan(n) : scan(n); }

constexpr OperatorRow rows[] = {
    {"Scan", 0, anyOptional, anyScan, 8, noVersion, "", "static sequence lengths; no sequence_lens"},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::scanOperators() { return rows; }
