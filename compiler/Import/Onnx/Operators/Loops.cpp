//===- Loops.cpp - Loops around graphs in attributes ------------------------===//
#include "compiler/Import/Onnx/Operators/Loops.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

std::string plim::onnx::typeText(Value value) {
  std::string text;
  llvm::raw_string_ostream(text) << graph::toString(graph::dimsOf(value.getType())) << " of "
                                 << graph::elementTypeOf(value);
  return text;
}

void plim::onnx::yieldAll(NodeImporter &n, Block *block, ValueRange values) {
  OpBuilder::InsertionGuard guard(n.b);
  n.b.setInsertionPointToEnd(block);
  graph::YieldOp::create(n.b, n.loc, values);
}

namespace {

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

} // namespace

SmallVector<Value> plim::onnx::makeLoop(NodeImporter &n, const LoopHeader &header, ValueRange initial,
                                        BodyBuilder build) {
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
    yieldAll(n, block, yields);
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
