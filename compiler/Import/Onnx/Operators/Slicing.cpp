// Slice, Range and what else takes ends: numbers, sizes of the run, or values of the run.
#include "compiler/Import/Onnx/NodeImporter.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

/// A start or end as numpy has it: negative counts from the end, then it is clamped to [least, most].
Value position(NodeImporter &n, Value at, Value size, Value least, Value most) {
  graph::Dim range = NodeImporter::rangeOf(at);
  if (range.hi < 0)
    at = n.make<graph::AddOp>(at, size);
  else if (range.lo < 0)
    at = n.make<graph::SelectOp>(n.make<graph::LessOp>(at, n.constant({0})), n.make<graph::AddOp>(at, size), at);
  return n.clamp(at, least, most);
}

/// Steps of `by` that fit from `from` to `to`, both ends included or not as in a half-open range.
Value countBetween(NodeImporter &n, Value from, Value to, int64_t by) {
  Value span = n.clamp(n.make<graph::SubOp>(to, from), n.constant({0}), {});
  if (by == 1)
    return span;
  return n.make<graph::DivOp>(n.make<graph::AddOp>(span, n.constant({by - 1})), n.constant({by}));
}

/// What a Slice says of one axis.
struct Cut {
  Value start, end;
  int64_t step = 1;
};

/// All axes cut by numbers: a slice of fixed attributes, and a gather for each axis that runs backwards. False where
/// the sizes are not known.
bool sliceByNumbers(NodeImporter &n, ArrayRef<std::optional<Cut>> cuts, Value &result) {
  const auto dims = graph::dimsOf(n.type(0));
  Ints begin, sizes, stride;
  SmallVector<std::pair<int64_t, Value>> backwards; // axes, indices
  for (auto [dim, cut] : llvm::zip_equal(dims, cuts)) {
    begin.push_back(0);
    sizes.push_back(dim.isStatic() ? dim.lo : -1);
    stride.push_back(1);
    if (!cut)
      continue;
    const auto from = NodeImporter::knownSize(cut->start), to = NodeImporter::knownSize(cut->end);
    if (!from || !to)
      return false;
    int64_t start = *from, end = *to, step = cut->step;
    if (!dim.isStatic()) {
      // A part that every size within the bounds has, or all from `start` on.
      if (start < 0 || step < 0)
        return false;
      if (end >= start && end <= dim.lo) {
        begin.back() = start;
        sizes.back() = (end - start + step - 1) / step;
        stride.back() = sizes.back() > 1 ? step : 1;
      } else if (step == 1 && start <= dim.lo && end >= dim.hi) {
        begin.back() = start;
      } else {
        return false;
      }
      continue;
    }
    const int64_t size = dim.lo;
    start = start < 0 ? start + size : start;
    end = end < 0 ? end + size : end;
    const int64_t least = step > 0 ? 0 : -1, most = step > 0 ? size : size - 1;
    start = std::clamp(start, step > 0 ? 0 : std::min<int64_t>(0, most), std::max<int64_t>(most, 0));
    end = std::clamp(end, least, std::max(most, least));
    const int64_t span = step > 0 ? end - start : start - end;
    const int64_t magnitude = step > 0 ? step : step == INT64_MIN ? INT64_MAX : -step;
    sizes.back() = size == 0 || span <= 0 ? 0 : (span - 1) / magnitude + 1;
    begin.back() = sizes.back() ? start : 0;
    // One element has no step, and an empty slice neither: a huge one would overflow for nothing.
    stride.back() = sizes.back() > 1 ? step : 1;
    if (stride.back() < 0) {
      const int64_t last = start + (sizes.back() - 1) * step;
      backwards.push_back(
          {int64_t(begin.size()) - 1, n.make<graph::RangeOp>(n.scalar(start), n.scalar(last - 1), n.scalar(step))});
      begin.back() = 0, sizes.back() = size, stride.back() = 1;
    }
  }
  result = n.make<graph::SliceOp>(n[0], begin, sizes, stride);
  for (auto [axis, indices] : backwards)
    result = n.make<graph::GatherOp>(result, indices, axis);
  return true;
}

/// Some ends are values: starts and sizes are computed from them. Axes that run backwards are gathered.
Value sliceByValues(NodeImporter &n, ArrayRef<std::optional<Cut>> cuts) {
  SmallVector<Value> starts, sizes;
  Ints steps;
  Value zero = n.constant({0}), result = n[0];
  for (auto [axis, cut] : llvm::enumerate(cuts)) {
    Value size = n.dim(n[0], int64_t(axis));
    steps.push_back(1);
    if (!cut || cut->step < 0) {
      starts.push_back(zero);
      sizes.push_back(size);
      continue;
    }
    Value start = position(n, cut->start, size, zero, size), end = position(n, cut->end, size, zero, size);
    starts.push_back(start);
    sizes.push_back(countBetween(n, start, end, cut->step));
    steps.back() = cut->step;
  }
  result = n.sliceTo(result, starts, sizes, steps);
  for (auto [axis, cut] : llvm::enumerate(cuts)) {
    if (!cut || cut->step > 0)
      continue;
    Value size = n.dim(n[0], int64_t(axis)), least = n.constant({-1});
    Value most = n.make<graph::SubOp>(size, n.constant({1}));
    // A start before the first element is the first; an end before it leaves that one in.
    Value start = position(n, cut->start, size, zero, most), end = position(n, cut->end, size, least, most);
    Value count = countBetween(n, end, start, cut->step == INT64_MIN ? INT64_MAX : -cut->step);
    Value step = n.scalar(cut->step);
    Value indices = n.rangeOfSize(n.reshape(start, {}), step, count);
    result = n.make<graph::GatherOp>(result, indices, int64_t(axis));
  }
  return result;
}

/// Starts, ends, axes and steps are attributes before operator set 10, inputs from then on.
LogicalResult slice(NodeImporter &n) {
  const int64_t rank = n.type(0).getRank();
  Value starts, ends;
  std::optional<Ints> axes, steps;
  if (n.version < 10) {
    const auto from = n.integers("starts"), to = n.integers("ends");
    axes = n.integers("axes");
    if (!from || !to)
      return n.error("attributes 'starts' and 'ends' are missing");
    starts = n.constant(*from);
    ends = n.constant(*to);
  } else {
    if (n.numInputs() < 3)
      return n.error("need at least 3 inputs, have " + Twine(n.numInputs()));
    starts = n[1];
    ends = n[2];
    if (n[3])
      axes = n.needInts(3, "axes");
    if (n[4])
      steps = n.needInts(4, "steps");
  }
  if (n.hasFailed())
    return failure();
  const auto from = NodeImporter::partialInts(starts), to = NodeImporter::partialInts(ends);
  if (!from || !to)
    return n.error("starts and ends must be integers of a known number");
  if (!axes) {
    axes.emplace();
    for (size_t i = 0; i < from->size(); ++i)
      axes->push_back(i);
  }
  if (from->size() != to->size() || axes->size() != from->size() || (steps && steps->size() != from->size()))
    return n.error("need as many starts as ends, axes and steps; have " + Twine(from->size()) + ", " +
                   Twine(to->size()) + ", " + Twine(axes->size()) + " and " +
                   Twine(steps ? steps->size() : from->size()));
  if (!n.axesOf(*axes, rank))
    return failure();
  SmallVector<std::optional<Cut>> cuts(rank);
  for (size_t i = 0; i < axes->size(); ++i) {
    const int64_t axis = *n.axisOf((*axes)[i], rank);
    if (steps && (*steps)[i] == 0)
      return n.error("the step of axis " + Twine(axis) + " is 0");
    cuts[axis] = Cut{n.entry(starts, i), n.entry(ends, i), steps ? (*steps)[i] : 1};
  }
  if (n.hasFailed())
    return failure();
  Value result;
  return n.finish(sliceByNumbers(n, cuts, result) ? result : sliceByValues(n, cuts));
}

/// max(ceil((limit - start) / step), 0) elements.
LogicalResult range(NodeImporter &n) {
  n.ignore({"stash_type"});
  for (unsigned i = 0; i < 3; ++i)
    if (!n.type(i).hasStaticShape() || n.type(i).getNumElements() != 1)
      return n.error("input " + Twine(i) + " must be a scalar");
  const Type element = n.type(0).getElementType();
  if (n.type(1).getElementType() != element || n.type(2).getElementType() != element)
    return n.error("the inputs must have one element type");
  Value start = n.reshape(n[0], {}), limit = n.reshape(n[1], {}), step = n.reshape(n[2], {});
  if (n.hasFailed())
    return failure();
  if (NodeImporter::constantReals(start) && NodeImporter::constantReals(limit) && NodeImporter::constantReals(step))
    return n.finish(n.make<graph::RangeOp>(start, limit, step));
  if (isa<FloatType>(element)) {
    const Type wide = n.b.getF64Type(), index = n.b.getI64Type();
    Value span = n.make<graph::SubOp>(n.cast(limit, wide), n.cast(start, wide));
    if (n.hasFailed())
      return failure();
    Value steps = n.make<graph::CeilOp>(n.make<graph::DivOp>(span, n.cast(step, wide)));
    if (n.hasFailed())
      return failure();
    Value count = n.reshape(n.cast(steps, index), {1});
    return n.finish(n.rangeOfSize(start, step, n.clamp(count, n.constant({0}), {})));
  }
  Value from = n.entry(n[0], 0), to = n.entry(n[1], 0), by = n.entry(n[2], 0);
  if (n.hasFailed())
    return failure();
  if (const auto known = NodeImporter::knownSize(by)) {
    if (*known == 0)
      return n.error("the step is 0");
    Value count = *known > 0 ? countBetween(n, from, to, *known) : countBetween(n, to, from, -*known);
    return n.finish(n.rangeOfSize(start, step, count));
  }
  Value zero = n.constant({0}), one = n.constant({1});
  Value isUp = n.make<graph::GreaterOp>(by, zero);
  Value span = n.make<graph::SelectOp>(isUp, n.make<graph::SubOp>(to, from), n.make<graph::SubOp>(from, to));
  Value magnitude = n.clamp(n.make<graph::AbsOp>(by), one, {});
  Value last = n.make<graph::SubOp>(magnitude, one);
  Value count = n.make<graph::DivOp>(n.make<graph::AddOp>(n.clamp(span, zero, {}), last), magnitude);
  return n.finish(n.rangeOfSize(start, step, count));
}

constexpr OperatorRow rows[] = {
    {"Range", 3, 3, range, 11},
    {"Slice", 1, 5, slice, 7, noVersion, "", "axes and steps must be known at compile time"},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::slicingOperators() { return rows; }
