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
    return n.finish(n.reshape(n.constant({n.type(0).getNumElements()}), {}));
  Value dims = n.make<graph::ShapeOfOp>(n[0]);
  return n.finish(n.make<graph::ReduceOp>(graph::ReduceKind::Prod, dims, ArrayRef<int64_t>{0}, false));
}

/// 0 keeps a dimension (with `allowzero` it is a size of 0), -1 is what remains. One entry may be unknown, if no other
/// is -1: it is what remains then.
LogicalResult reshape(NodeImporter &n) {
  const bool allowZero = n.integer("allowzero", 0) != 0;
  const auto wanted = NodeImporter::partialInts(n[1]);
  if (!wanted)
    return n.error("input 1 'shape' must have a known number of entries");
  const auto from = n.type(0).getShape();
  Ints target;
  unsigned inferred = 0;
  for (auto [i, entry] : llvm::enumerate(*wanted)) {
    int64_t size = entry.value_or(-1);
    if (size == 0 && !allowZero) {
      if (i >= from.size())
        return n.error("entry " + Twine(i) + " of the shape keeps a dimension, but the input has " +
                       Twine(from.size()));
      size = ShapedType::isDynamic(from[i]) ? -1 : from[i];
    }
    if (size < -1)
      return n.error("entry " + Twine(i) + " of the shape is " + Twine(size));
    inferred += size == -1;
    target.push_back(size);
  }
  if (inferred > 1)
    return n.error("more than one dimension of the result is not known at compile time");
  return n.finish(n.reshape(n[0], target));
}

/// `sizes` as the shape of a reshape of `value`: one dimension may be dynamic.
LogicalResult reshapeTo(NodeImporter &n, Value value, ArrayRef<int64_t> sizes) {
  Ints target;
  unsigned open = 0;
  for (int64_t size : sizes) {
    open += ShapedType::isDynamic(size);
    target.push_back(ShapedType::isDynamic(size) ? -1 : size);
  }
  if (open > 1)
    return n.error("more than one dimension of the result is not known at compile time");
  return n.finish(n.reshape(value, target));
}

int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result = ShapedType::isDynamic(size) || ShapedType::isDynamic(result) ? ShapedType::kDynamic : result * size;
  return result;
}

LogicalResult flatten(NodeImporter &n) {
  const auto shape = n.type(0).getShape();
  const int64_t rank = n.type(0).getRank();
  int64_t axis = n.integer("axis", 1);
  if (axis < -rank || axis > rank)
    return n.error("axis " + Twine(axis) + ": need " + Twine(-rank) + " to " + Twine(rank));
  axis = axis < 0 ? axis + rank : axis;
  return reshapeTo(n, n[0], {product(shape.take_front(axis)), product(shape.drop_front(axis))});
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
  Ints kept;
  for (auto [i, size] : llvm::enumerate(shape))
    if (!drop.test(i))
      kept.push_back(size);
  return reshapeTo(n, n[0], kept);
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
  Ints result(shape.begin(), shape.end());
  for (int64_t axis : *list)
    result.insert(result.begin() + axis, 1);
  return reshapeTo(n, n[0], result);
}

constexpr OperatorRow rows[] = {
    {"Flatten", 1, 1, flatten},
    {"Reshape", 2, 2, reshape, 7, noVersion, "", "at most one dimension unknown at compile time"},
    {"Shape", 1, 1, shape},
    {"Size", 1, 1, size},
    {"Squeeze", 1, 2, squeeze},
    {"Unsqueeze", 1, 2, unsqueeze},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::shapeOperators() { return rows; }
