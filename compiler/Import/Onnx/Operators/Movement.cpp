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
  SmallVector<Value> target;
  for (size_t i = 0; i < rank; ++i) {
    const size_t missing = rank - from.size(), missingWanted = rank - wanted->size();
    Value have = i < missing ? n.constant({1}) : n.dim(n[0], int64_t(i - missing));
    Value want = i < missingWanted ? n.constant({1}) : n.entry(n[1], int64_t(i - missingWanted));
    if (n.hasFailed())
      return failure();
    const auto size = NodeImporter::knownSize(have), entry = NodeImporter::knownSize(want);
    if (entry && *entry < 0)
      return n.error("entry " + Twine(i - missingWanted) + " of the shape is " + Twine(*entry));
    if (size == 1)
      target.push_back(want);
    else if (entry == 1 || (!entry && size))
      target.push_back(have);
    else if (entry || NodeImporter::rangeOf(want).lo > 1)
      target.push_back(want);
    else
      target.push_back(n.make<graph::SelectOp>(n.make<graph::EqualOp>(want, n.constant({1})), have, want));
  }
  return n.finish(n.broadcastTo(n[0], target));
}

/// A new dimension of the repeat count before each repeated dimension, then both as one.
LogicalResult tile(NodeImporter &n) {
  const auto repeats = NodeImporter::partialInts(n[1]);
  if (!repeats)
    return n.error("input 1 'repeats' must have a known number of entries");
  const int64_t rank = n.type(0).getRank();
  if (int64_t(repeats->size()) != rank)
    return n.error("need " + Twine(rank) + " repeats, have " + Twine(repeats->size()));
  SmallVector<Value> split, repeated, result;
  Ints most;
  for (int64_t d = 0; d < rank; ++d) {
    if (const auto known = (*repeats)[d]; known && *known < 0)
      return n.error("a repeat count is " + Twine(*known));
    Value kept = n.dim(n[0], d), count = n.entry(n[1], d);
    if ((*repeats)[d] != 1) {
      split.push_back(n.constant({1}));
      repeated.push_back(count);
      const graph::Dim bound = n.boundOfResult(d);
      most.push_back(bound.isBounded() ? bound.hi / std::max<int64_t>(NodeImporter::rangeOf(kept).lo, 1) : bound.hi);
    }
    split.push_back(kept);
    repeated.push_back(kept);
    most.push_back(graph::Dim::kUnbounded);
    result.push_back(n.product({kept, count}));
  }
  return n.finish(n.reshapeTo(n.broadcastTo(n.reshapeTo(n[0], split), repeated, most), result));
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
  Ints starts(n.type(0).getRank(), 0), sizes = openAsMinusOne(n.type(0).getShape());
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

  Ints low(rank, 0), high(rank, 0), starts(rank, 0), sizes = openAsMinusOne(n.type(0).getShape());
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
    {"SpaceToDepth", 1, 1, spaceToDepth},
    {"Split", 1, 2, split},
    {"Tile", 2, 2, tile},
    {"Transpose", 1, 1, transpose},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::movementOperators() { return rows; }
