// Operators that move elements by position.
#include "compiler/Import/Onnx/NodeImporter.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

LogicalResult transpose(NodeImporter &n) {
  const int64_t rank = n.type(0).getRank();
  Ints permutation;
  if (const auto given = n.integers("perm"))
    permutation = *given;
  else
    for (int64_t i = rank - 1; i >= 0; --i)
      permutation.push_back(i);
  return n.finish(n.transpose(n[0], permutation));
}

/// Broadcasts in both directions: a 1 in the shape keeps the input's dimension.
LogicalResult expand(NodeImporter &n) {
  const auto wanted = NodeImporter::partialInts(n[1]);
  if (!wanted)
    return n.error("input 1 'shape' must have a known number of entries");
  const auto from = n.type(0).getShape();
  const size_t rank = std::max(from.size(), wanted->size());
  Ints target;
  for (size_t i = 0; i < rank; ++i) {
    const size_t missing = rank - from.size(), missingWanted = rank - wanted->size();
    const int64_t have = i < missing ? 1 : from[i - missing];
    const std::optional<int64_t> want = i < missingWanted ? 1 : (*wanted)[i - missingWanted];
    if (want && *want < 0)
      return n.error("entry " + Twine(i - missingWanted) + " of the shape is " + Twine(*want));
    if (!want && (have == 1 || ShapedType::isDynamic(have)))
      return n.error("dimension " + Twine(i) + " of the result is not known at compile time");
    if (!want || *want == 1)
      target.push_back(i < missing ? 1 : ShapedType::isDynamic(have) ? -1 : have);
    else
      target.push_back(*want);
  }
  return n.finish(n.make<graph::BroadcastOp>(n[0], target));
}

/// A new dimension of the repeat count before each repeated dimension, then both as one.
LogicalResult tile(NodeImporter &n) {
  const auto repeats = n.needInts(1, "repeats");
  if (!repeats)
    return failure();
  const auto shape = n.type(0).getShape();
  if (repeats->size() != shape.size())
    return n.error("need " + Twine(shape.size()) + " repeats, have " + Twine(repeats->size()));
  Ints split, repeated, result;
  for (auto [size, repeat] : llvm::zip_equal(shape, *repeats)) {
    if (repeat < 0)
      return n.error("a repeat count is " + Twine(repeat));
    const int64_t kept = ShapedType::isDynamic(size) ? -1 : size;
    if (repeat != 1) {
      if (kept < 0)
        return n.error("a repeated dimension must be static");
      split.push_back(1);
      repeated.push_back(repeat);
    }
    split.push_back(kept);
    repeated.push_back(kept);
    result.push_back(kept < 0 ? -1 : kept * repeat);
  }
  if (llvm::count(split, -1) > 1)
    return n.error("more than one dimension of the result is not known at compile time");
  return n.finish(n.reshape(n.make<graph::BroadcastOp>(n.reshape(n[0], split), repeated), result));
}

/// Starts, ends, axes and steps are attributes before operator set 10, inputs from then on.
LogicalResult slice(NodeImporter &n) {
  const auto shape = n.type(0).getShape();
  const int64_t rank = n.type(0).getRank();
  std::optional<Ints> starts, ends, axes, steps;
  if (n.version < 10) {
    starts = n.integers("starts");
    ends = n.integers("ends");
    axes = n.integers("axes");
    if (!starts || !ends)
      return n.error("attributes 'starts' and 'ends' are missing");
  } else {
    if (n.numInputs() < 3)
      return n.error("need at least 3 inputs, have " + Twine(n.numInputs()));
    starts = n.needInts(1, "starts");
    ends = n.needInts(2, "ends");
    if (n[3])
      axes = n.needInts(3, "axes");
    if (n[4])
      steps = n.needInts(4, "steps");
    if (n.hasFailed())
      return failure();
  }
  if (!axes) {
    axes.emplace();
    for (size_t i = 0; i < starts->size(); ++i)
      axes->push_back(i);
  }
  if (starts->size() != ends->size() || axes->size() != starts->size() || (steps && steps->size() != starts->size()))
    return n.error("need as many starts as ends, axes and steps; have " + Twine(starts->size()) + ", " +
                   Twine(ends->size()) + ", " + Twine(axes->size()) + " and " +
                   Twine(steps ? steps->size() : starts->size()));
  if (!n.axesOf(*axes, rank))
    return failure();
  Ints begin(rank, 0), sizes, stride(rank, 1);
  for (int64_t size : shape)
    sizes.push_back(ShapedType::isDynamic(size) ? -1 : size);
  for (size_t i = 0; i < axes->size(); ++i) {
    const int64_t axis = *n.axisOf((*axes)[i], rank);
    const int64_t size = shape[axis], step = steps ? (*steps)[i] : 1;
    int64_t start = (*starts)[i], end = (*ends)[i];
    if (step == 0)
      return n.error("the step of axis " + Twine(axis) + " is 0");
    if (ShapedType::isDynamic(size)) {
      // A part that every size within the bounds has.
      if (start >= 0 && step > 0 && end >= start && end <= graph::dimsOf(n.type(0))[axis].lo) {
        begin[axis] = start;
        sizes[axis] = (end - start + step - 1) / step;
        stride[axis] = sizes[axis] > 1 ? step : 1;
        continue;
      }
      // All from `start` on, or nothing cut off: what can be said without the size. A far end means "to the end".
      constexpr int64_t far = INT32_MAX;
      if (step != 1 || start < 0 || end < far)
        return n.error("axis " + Twine(axis) +
                       " is sliced by ends that depend on its size, which is not known at "
                       "compile time");
      begin[axis] = start;
      continue;
    }
    // As numpy has it: negative counts from the end, then both are clamped to the axis.
    start = start < 0 ? start + size : start;
    end = end < 0 ? end + size : end;
    const int64_t least = step > 0 ? 0 : -1, most = step > 0 ? size : size - 1;
    start = std::clamp(start, step > 0 ? 0 : std::min<int64_t>(0, most), std::max<int64_t>(most, 0));
    end = std::clamp(end, least, std::max(most, least));
    const int64_t span = step > 0 ? end - start : start - end;
    const int64_t magnitude = step > 0 ? step : step == INT64_MIN ? INT64_MAX : -step;
    sizes[axis] = size == 0 || span <= 0 ? 0 : (span - 1) / magnitude + 1;
    begin[axis] = sizes[axis] ? start : 0;
    // One element has no step, and an empty slice neither: a huge one would overflow for nothing.
    stride[axis] = sizes[axis] > 1 ? step : 1;
  }
  return n.finish(n.make<graph::SliceOp>(n[0], begin, sizes, stride));
}

/// Sizes are an attribute before operator set 13, an input from then on; equal parts where there are none.
LogicalResult split(NodeImporter &n) {
  const auto axis = n.axisOf(n.integer("axis", 0), n.type(0).getRank());
  if (!axis)
    return failure();
  const int64_t size = n.type(0).getDimSize(*axis);
  if (ShapedType::isDynamic(size))
    return n.error("the split dimension must be static");
  std::optional<Ints> parts;
  if (failed(n.optionalInts("split", 13, parts)))
    return failure();
  const int64_t count = n.numOutputs();
  if (n.version >= 18 && n.integer("num_outputs", count) != count)
    return n.error("attribute 'num_outputs' must be the number of outputs, " + Twine(count));
  if (!parts) {
    if (n.version < 18 && size % count)
      return n.error("size " + Twine(size) + " does not split into " + Twine(count) + " equal parts");
    const int64_t part = (size + count - 1) / count;
    parts.emplace();
    for (int64_t left = size; int64_t(parts->size()) < count; left = std::max<int64_t>(left - part, 0))
      parts->push_back(std::min(part, left));
  }
  int64_t sum = 0;
  for (int64_t part : *parts) {
    if (part < 0 || part > size)
      return n.error("a part has size " + Twine(part) + " of " + Twine(size));
    sum += part;
  }
  if (sum != size || parts->size() < n.numOutputs())
    return n.error("need " + Twine(n.numOutputs()) + " parts of " + Twine(size) + " in sum, have " +
                   Twine(parts->size()) + " of " + Twine(sum));
  SmallVector<Value> results;
  Ints starts(n.type(0).getRank(), 0), sizes;
  for (int64_t dim : n.type(0).getShape())
    sizes.push_back(ShapedType::isDynamic(dim) ? -1 : dim);
  for (int64_t part : *parts) {
    sizes[*axis] = part;
    results.push_back(n.make<graph::SliceOp>(n[0], starts, sizes));
    starts[*axis] += part;
  }
  results.resize(n.numOutputs());
  return n.finish(results);
}

LogicalResult concat(NodeImporter &n) {
  if (!n.has("axis"))
    return n.error("attribute 'axis' is missing");
  const auto axis = n.axisOf(n.integer("axis", 0), n.type(0).getRank());
  if (!axis)
    return failure();
  if (n.numInputs() == 1)
    return n.finish(n[0]);
  return n.finish(n.make<graph::ConcatOp>(n.inputs, uint64_t(*axis)));
}

/// Pads are an attribute before operator set 11, an input from then on. Negative ones cut.
LogicalResult pad(NodeImporter &n) {
  const int64_t rank = n.type(0).getRank();
  std::optional<Ints> pads;
  std::optional<Ints> axes;
  double value = 0;
  if (n.version < 11) {
    pads = n.integers("pads");
    value = n.real("value", 0);
  } else {
    pads = n.needInts(1, "pads");
    if (n[2]) {
      const auto given = n.needReals(2, "constant_value");
      if (given && given->size() != 1)
        return n.error("input 2 'constant_value' must be a scalar");
      value = given ? given->front() : 0;
    }
    if (n[3])
      axes = n.needInts(3, "axes");
  }
  if (n.hasFailed())
    return failure();
  if (!pads)
    return n.error("attribute 'pads' is missing");
  if (!axes) {
    axes.emplace();
    for (int64_t i = 0; i < rank; ++i)
      axes->push_back(i);
  }
  if (!n.axesOf(*axes, rank))
    return failure();
  if (pads->size() != 2 * axes->size())
    return n.error("need " + Twine(2 * axes->size()) + " pads, have " + Twine(pads->size()));
  const StringRef name = n.string("mode", "constant");
  const auto mode = graph::symbolizePadMode(name);
  if (!mode)
    return n.error("attribute 'mode' must be constant, reflect, edge or wrap, have '" + name + "'");

  Ints low(rank, 0), high(rank, 0), starts(rank, 0), sizes;
  for (int64_t dim : n.type(0).getShape())
    sizes.push_back(ShapedType::isDynamic(dim) ? -1 : dim);
  bool cuts = false, adds = false;
  for (size_t i = 0; i < axes->size(); ++i) {
    const int64_t axis = *n.axisOf((*axes)[i], rank);
    const int64_t before = (*pads)[i], after = (*pads)[i + axes->size()];
    low[axis] = std::max<int64_t>(before, 0);
    high[axis] = std::max<int64_t>(after, 0);
    adds |= low[axis] || high[axis];
    if (before >= 0 && after >= 0)
      continue;
    cuts = true;
    starts[axis] = std::max<int64_t>(-before, 0);
    if (sizes[axis] < 0) {
      if (after < 0)
        return n.error("a dimension that is not known at compile time cannot be cut at its end");
      continue;
    }
    sizes[axis] -= starts[axis] + std::max<int64_t>(-after, 0);
    if (sizes[axis] < 0)
      return n.error("pads cut more of axis " + Twine(axis) + " than there is");
  }
  Value result = n[0];
  if (cuts)
    result = n.make<graph::SliceOp>(result, starts, sizes);
  if (adds)
    result = n.make<graph::PadOp>(result, low, high, *mode, value);
  return n.finish(result);
}

/// [N, C, H, W] with C in blocks of b x b, depth first (DCR) or last (CRD).
LogicalResult depthToSpace(NodeImporter &n) {
  const int64_t block = n.integer("blocksize", 0);
  const StringRef mode = n.string("mode", "DCR");
  if (!n.needStatic(n[0], "DepthToSpace"))
    return failure();
  const auto shape = n.type(0).getShape();
  if (shape.size() != 4 || block <= 0 || block > INT32_MAX || shape[1] % (block * block))
    return n.error("need [N, C, H, W] with C a multiple of blocksize^2, have " +
                   graph::toString(graph::dimsOf(n.type(0))) + " and blocksize " + Twine(block));
  if (mode != "DCR" && mode != "CRD")
    return n.error("attribute 'mode' must be DCR or CRD, have '" + mode + "'");
  const int64_t depth = shape[1] / (block * block);
  const bool depthLast = mode == "DCR";
  Value split = depthLast ? n.reshape(n[0], {shape[0], block, block, depth, shape[2], shape[3]})
                          : n.reshape(n[0], {shape[0], depth, block, block, shape[2], shape[3]});
  Value moved = depthLast ? n.transpose(split, {0, 3, 4, 1, 5, 2}) : n.transpose(split, {0, 1, 4, 2, 5, 3});
  return n.finish(n.reshape(moved, {shape[0], depth, shape[2] * block, shape[3] * block}));
}

LogicalResult spaceToDepth(NodeImporter &n) {
  const int64_t block = n.integer("blocksize", 0);
  if (!n.needStatic(n[0], "SpaceToDepth"))
    return failure();
  const auto shape = n.type(0).getShape();
  if (shape.size() != 4 || block <= 0 || block > INT32_MAX || shape[2] % block || shape[3] % block)
    return n.error("need [N, C, H, W] with H and W multiples of blocksize, have " +
                   graph::toString(graph::dimsOf(n.type(0))) + " and blocksize " + Twine(block));
  Value split = n.reshape(n[0], {shape[0], shape[1], shape[2] / block, block, shape[3] / block, block});
  Value moved = n.transpose(split, {0, 3, 5, 1, 2, 4});
  return n.finish(n.reshape(moved, {shape[0], shape[1] * block * block, shape[2] / block, shape[3] / block}));
}

constexpr OperatorRow rows[] = {
    {"Concat", 1, anyNumber, concat},
    {"DepthToSpace", 1, 1, depthToSpace},
    {"Expand", 2, 2, expand, 8},
    {"Pad", 1, 4, pad, 7, noVersion, "", "pads and value must be known at compile time"},
    {"Slice", 1, 5, slice, 7, noVersion, "", "starts, ends, axes and steps must be known at compile time"},
    {"SpaceToDepth", 1, 1, spaceToDepth},
    {"Split", 1, 2, split},
    {"Tile", 2, 2, tile, 7, noVersion, "", "repeats must be known at compile time"},
    {"Transpose", 1, 1, transpose},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::movementOperators() { return rows; }
