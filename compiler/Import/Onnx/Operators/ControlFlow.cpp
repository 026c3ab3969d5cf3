// If, Loop and Scan: graphs in attributes become regions.
#include "compiler/Import/Onnx/NodeImporter.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

std::string typeText(Value value) {
  std::string text;
  llvm::raw_string_ostream(text) << graph::toString(graph::dimsOf(value.getType())) << " of "
                                 << graph::elementTypeOf(value);
  return text;
}

/// Smallest intervals that hold both.
graph::Dims join(ArrayRef<graph::Dim> a, ArrayRef<graph::Dim> b) {
  graph::Dims dims;
  for (auto [x, y] : llvm::zip_equal(a, b))
    dims.push_back({std::min(x.lo, y.lo), std::max(x.hi, y.hi)});
  return dims;
}

void yield(OpBuilder &b, Location loc, Block *block, ValueRange values) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(block);
  graph::YieldOp::create(b, loc, values);
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
    yield(n.b, n.loc, &regions[way].front(), given[way]);
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
// Loops of any kind
//===----------------------------------------------------------------------===//

/// Builds the body of a loop in its block, of which the arguments are made: gives the condition, what is carried on,
/// and what is stacked.
using BodyBuilder = function_ref<LogicalResult(Block *block, SmallVectorImpl<Value> &yields)>;

struct LoopHeader {
  Value trips, condition; // scalars
  int64_t maxTrips;
};

/// How far the carried sizes are from those that the body gives, and types that cover both.
class CarriedTypes {
public:
  CarriedTypes(NodeImporter &n, ValueRange initial, int64_t maxTrips) : n(n), maxTrips(maxTrips) {
    for (Value value : initial)
      dims.push_back(graph::dimsOf(value.getType())), elements.push_back(graph::elementTypeOf(value));
    growth.resize(dims.size());
    for (auto [sizes, each] : llvm::zip_equal(dims, growth))
      each.assign(sizes.size(), 0);
  }

  SmallVector<Type> types() const {
    SmallVector<Type> all;
    for (auto [sizes, element] : llvm::zip_equal(dims, elements))
      all.push_back(graph::tensorOf(sizes, element));
    return all;
  }

  /// Whether the types hold what the body gives too. Else they are widened, or it fails.
  FailureOr<bool> settle(ValueRange yielded) {
    bool settled = true;
    for (auto [k, value] : llvm::enumerate(yielded)) {
      if (graph::elementTypeOf(value) != elements[k] || graph::rankOf(value) != int64_t(dims[k].size()))
        return n.error("carried value " + Twine(k) + ": need one element type and rank in all trips, have " +
                       graph::toString(dims[k]) + " before and " + typeText(value) + " after a trip");
      for (auto [d, next] : llvm::enumerate(graph::dimsOf(value.getType()))) {
        graph::Dim &own = dims[k][d];
        int64_t up = next.hi - own.hi, down = own.lo - next.lo;
        if ((up <= 0 || up == growth[k][d]) && down <= 0)
          continue;
        if (up > 0 && (growth[k][d] != 0 || !next.isBounded()))
          return n.error("carried value " + Twine(k) + ", dimension " + Twine(d) +
                         ": need the same growth in each trip, have " + graph::toString({own}) + " before and " +
                         graph::toString({next}) + " after one");
        settled = false;
        if (up > 0) {
          growth[k][d] = up;
          // The last trip gives what no other one sees.
          if (__builtin_mul_overflow(up, maxTrips, &up) || __builtin_add_overflow(own.hi, up, &own.hi))
            return n.error("carried value " + Twine(k) + ", dimension " + Twine(d) + ": grows by " +
                           Twine(growth[k][d]) + " in each of " + Twine(maxTrips) + " trips, which is too large");
        }
        if (down > 0)
          own.lo = down > own.lo / std::max<int64_t>(maxTrips, 1) ? 0 : own.lo - down * maxTrips;
      }
    }
    return settled;
  }

private:
  NodeImporter &n;
  int64_t maxTrips;
  SmallVector<graph::Dims> dims;
  SmallVector<Type> elements;
  SmallVector<SmallVector<int64_t>> growth; // of the upper bound in a trip
};

/// A loop whose body is built with the types of what it carries; again, with wider types, where a trip changes them.
SmallVector<Value> makeLoop(NodeImporter &n, const LoopHeader &header, ValueRange initial, BodyBuilder build) {
  CarriedTypes carried(n, initial, header.maxTrips);
  // Each round settles one dimension at least or fails; a model needs two or three.
  constexpr unsigned mostRounds = 16;
  for (unsigned round = 0; round < mostRounds; ++round) {
    Region body;
    Block *block = &body.emplaceBlock();
    block->addArguments({header.trips.getType(), header.condition.getType()}, {n.loc, n.loc});
    for (Type type : carried.types())
      block->addArgument(type, n.loc);
    SmallVector<Value> yields;
    {
      OpBuilder::InsertionGuard guard(n.b);
      n.b.setInsertionPointToEnd(block);
      if (failed(build(block, yields)))
        return {};
    }
    FailureOr<bool> settled = carried.settle(ArrayRef(yields).slice(1, initial.size()));
    if (failed(settled))
      return {};
    if (!*settled)
      continue;
    yield(n.b, n.loc, block, yields);
    const auto known = NodeImporter::constantInts(header.trips), first = NodeImporter::constantInts(header.condition),
               next = NodeImporter::constantInts(yields[0]);
    const bool endless = first && first->front() && next && next->front();
    graph::Dim trips(0, header.maxTrips);
    if (known)
      trips = {endless ? std::max<int64_t>(known->front(), 0) : 0, header.maxTrips};
    SmallVector<Type> types = carried.types();
    for (Value slice : ArrayRef(yields).drop_front(1 + initial.size())) {
      graph::Dims dims = graph::dimsOf(slice.getType());
      dims.insert(dims.begin(), trips);
      if (!isPlausible(dims)) {
        (void)n.error("stacked over " + Twine(header.maxTrips) + " trips, " + typeText(slice) + " is too large");
        return {};
      }
      types.push_back(graph::tensorOf(dims, graph::elementTypeOf(slice)));
    }
    auto loop = graph::LoopOp::create(n.b, n.loc, types, header.trips, header.condition, initial, header.maxTrips);
    loop.getBody().takeBody(body);
    return SmallVector<Value>(loop.getResults());
  }
  (void)n.error("the sizes of what it carries change without end");
  return {};
}

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

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

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
    {"If", 1, 1, branch, 7, noVersion, "", "results of one element type and rank on both ways"},
    {"Loop", 0, anyOptional, loop, 7, noVersion, "", "a bound of its trips, known or given by --bound NODE=0..MOST"},
    {"Scan", 0, anyOptional, anyScan, 8, noVersion, "", "static sequence lengths; no sequence_lens"},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::controlFlowOperators() { return rows; }
