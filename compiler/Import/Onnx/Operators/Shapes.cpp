// Shapes as values, and changes of shape that move no element.
#include "compiler/Import/Onnx/NodeImporter.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

LogicalResult shape(NodeImporter &n) {
  const int64_t rank = n.type(0).getRank();
  const auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t start = clamp(n.integer("start", 0)), end = clamp(n.integer("end", rank));
  Value dims = n.make<graph::ShapeOfOp>(n[0]);
  if (start == 0 && end == rank)
    return n.finish(dims);
  return n.finish(
      n.make<graph::SliceOp>(dims, ArrayRef<int64_t>{start}, ArrayRef<int64_t>{std::max<int64_t>(end - start, 0)}));
}

LogicalResult size(NodeImporter &n) {
  if (n.type(0).hasStaticShape())
    return n.finish(n.scalar(n.type(0).getNumElements()));
  Value dims = n.make<graph::ShapeOfOp>(n[0]);
  return n.finish(n.make<graph::ReduceOp>(graph::ReduceKind::Prod, dims, ArrayRef<int64_t>{0}, false));
}

/// What of the input's elements the sizes leave for one more.
Value remaining(NodeImporter &n, ArrayRef<Value> sizes) {
  SmallVector<Value> own;
  for (int64_t d = 0; d < n.type(0).getRank(); ++d)
    own.push_back(n.dim(n[0], d));
  // A factor that both have cancels, unless it may be 0.
  SmallVector<Value> others;
  for (Value size : sizes) {
    auto *same = llvm::find(own, size);
    if (same != own.end() && NodeImporter::rangeOf(size).lo > 0)
      own.erase(same);
    else
      others.push_back(size);
  }
  return n.make<graph::DivOp>(n.product(own), n.clamp(n.product(others), n.constant({1}), {}));
}

/// 0 keeps a dimension (with `allowzero` it is a size of 0), -1 is what remains. Entries that are not known may be
/// either; a single one is what remains, whatever it is.
LogicalResult reshape(NodeImporter &n) {
  const bool allowZero = n.integer("allowzero", 0) != 0;
  const auto wanted = NodeImporter::partialInts(n[1]);
  if (!wanted)
    return n.error("input 1 'shape' must have a known number of entries");
  const size_t rank = size_t(n.type(0).getRank());
  SmallVector<Value> target;
  std::optional<size_t> inferred;
  SmallVector<size_t> maybeInferred;
  Ints numbers; // where at most one size is open
  for (auto [i, entry] : llvm::enumerate(*wanted)) {
    if (entry && (*entry < -1 || (*entry == -1 && inferred)))
      return n.error(*entry == -1 ? Twine("more than one entry of the shape is -1")
                                  : "entry " + Twine(i) + " of the shape is " + Twine(*entry));
    const bool keeps = entry == 0 && !allowZero;
    if (keeps && i >= rank)
      return n.error("entry " + Twine(i) + " of the shape keeps a dimension, but the input has " + Twine(rank));
    Value size = keeps ? n.dim(n[0], int64_t(i)) : n.entry(n[1], int64_t(i));
    if (n.hasFailed())
      return failure();
    if (entry == -1) {
      inferred = i;
    } else if (!entry) {
      graph::Dim range = NodeImporter::rangeOf(size);
      if (range.lo <= 0 && !allowZero && i < rank)
        size = n.make<graph::SelectOp>(n.make<graph::EqualOp>(size, n.constant({0})), n.dim(n[0], int64_t(i)), size);
      if (range.lo < 0)
        maybeInferred.push_back(i);
    }
    target.push_back(size);
    numbers.push_back(NodeImporter::knownSize(size).value_or(-1));
  }
  if (llvm::count(numbers, -1) <= 1 && !llvm::is_contained(numbers, 0))
    return n.finish(n.reshape(n[0], numbers));
  if (inferred) {
    SmallVector<Value> others(target);
    others.erase(others.begin() + *inferred);
    target[*inferred] = remaining(n, others);
  } else if (!maybeInferred.empty()) {
    // The product of all is that of the others, negated, where one is -1.
    Value rest = remaining(n, {n.make<graph::NegOp>(n.product(target))});
    for (size_t i : maybeInferred)
      target[i] = n.make<graph::SelectOp>(n.make<graph::LessOp>(target[i], n.constant({0})), rest, target[i]);
  }
  return n.finish(n.reshapeTo(n[0], target));
}

LogicalResult flatten(NodeImporter &n) {
  const int64_t rank = n.type(0).getRank();
  int64_t axis = n.integer("axis", 1);
  if (axis < -rank || axis > rank)
    return n.error("axis " + Twine(axis) + ": need " + Twine(-rank) + " to " + Twine(rank));
  axis = axis < 0 ? axis + rank : axis;
  SmallVector<Value> rows, columns;
  for (int64_t d = 0; d < rank; ++d)
    (d < axis ? rows : columns).push_back(n.dim(n[0], d));
  return n.finish(n.reshapeTo(n[0], {n.product(rows), n.product(columns)}));
}

LogicalResult squeeze(NodeImporter &n) {
  const auto shape = n.type(0).getShape();
  std::optional<Ints> axes;
  if (failed(n.optionalInts("axes", 13, axes)))
    return failure();
  llvm::SmallBitVector drop(shape.size());
  if (axes) {
    const auto list = n.axesOf(*axes, shape.size());
    if (!list)
      return failure();
    for (int64_t axis : *list) {
      if (shape[axis] != 1 && !ShapedType::isDynamic(shape[axis]))
        return n.error("axis " + Twine(axis) + " has size " + Twine(shape[axis]) + ", need 1");
      drop.set(axis);
    }
  } else {
    for (auto [i, size] : llvm::enumerate(shape))
      if (size == 1)
        drop.set(i);
  }
  SmallVector<Value> kept;
  for (size_t i = 0; i < shape.size(); ++i)
    if (!drop.test(i))
      kept.push_back(n.dim(n[0], int64_t(i)));
  return n.finish(n.reshapeTo(n[0], kept));
}

LogicalResult unsqueeze(NodeImporter &n) {
  std::optional<Ints> axes;
  if (failed(n.optionalInts("axes", 13, axes)))
    return failure();
  if (!axes)
    return n.error("axes are missing");
  const auto shape = n.type(0).getShape();
  const auto list = n.axesOf(*axes, shape.size() + axes->size());
  if (!list)
    return failure();
  SmallVector<Value> result;
  for (size_t i = 0; i < shape.size(); ++i)
    result.push_back(n.dim(n[0], int64_t(i)));
  for (int64_t axis : *list)
    result.insert(result.begin() + axis, n.constant({1}));
  return n.finish(n.reshapeTo(n[0], result));
}

constexpr OperatorRow rows[] = {
    {"Flatten", 1, 1, flatten}, {"Reshape", 2, 2, reshape}, {"Shape", 1, 1, shape},
    {"Size", 1, 1, size},       {"Squeeze", 1, 2, squeeze}, {"Unsqueeze", 1, 2, unsqueeze},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::shapeOperators() { return rows; }
