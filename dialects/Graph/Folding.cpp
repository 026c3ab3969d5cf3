//===- Folding.cpp - Evaluation of graph ops on small constants ------------------------------------------===//

#include "dialects/Graph/Folding.h"

using namespace mlir;

namespace plim::graph {

RankedTensorType foldableType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || layoutOf(tensor))
    return {};
  std::optional<int64_t> bytes = bytesOf(tensor);
  if (!bytes || *bytes > ConstantOp::kMaxBytes)
    return {};
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType());
}

std::optional<Elements> Elements::read(Attribute attr) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(attr);
  if (!dense)
    return std::nullopt;
  RankedTensorType type = foldableType(dense.getType());
  if (!type)
    return std::nullopt;
  Elements elements{type, isa<FloatType>(type.getElementType()), {}, {}};
  if (elements.isFloat) {
    for (APFloat value : dense.getValues<APFloat>()) {
      bool lossy;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
      elements.floats.push_back(value.convertToDouble());
    }
    return elements;
  }
  bool isUnsigned = type.getElementType().isUnsignedInteger() || type.getElementType().isInteger(1);
  for (const APInt &value : dense.getValues<APInt>())
    elements.ints.push_back(isUnsigned ? static_cast<int64_t>(value.getZExtValue()) : value.getSExtValue());
  return elements;
}

Attribute Elements::write() const {
  if (isFloat) {
    SmallVector<APFloat> values;
    for (double value : floats) {
      APFloat rounded(value);
      bool lossy;
      rounded.convert(cast<FloatType>(type.getElementType()).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lossy);
      values.push_back(rounded);
    }
    return DenseElementsAttr::get(type, values);
  }
  SmallVector<APInt> values;
  unsigned bits = type.getElementTypeBitWidth();
  for (int64_t value : ints)
    values.push_back(APInt(bits, static_cast<uint64_t>(value), /*isSigned=*/true, /*implicitTrunc=*/true));
  return DenseElementsAttr::get(type, values);
}

SmallVector<int64_t> coordinatesOf(int64_t index, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> coordinates(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    coordinates[i] = index % shape[i];
    index /= shape[i];
  }
  return coordinates;
}

int64_t indexOf(ArrayRef<int64_t> coordinates, ArrayRef<int64_t> shape) {
  int64_t index = 0;
  for (auto [coordinate, size] : llvm::zip(coordinates, shape))
    index = index * size + coordinate;
  return index;
}

SmallVector<int64_t> broadcastIndices(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<int64_t> indices;
  int64_t count = ShapedType::getNumElements(to);
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<int64_t> coordinates = coordinatesOf(i, to);
    coordinates.erase(coordinates.begin(), coordinates.end() - from.size());
    for (auto [coordinate, size] : llvm::zip(coordinates, from))
      coordinate = size == 1 ? 0 : coordinate;
    indices.push_back(indexOf(coordinates, from));
  }
  return indices;
}

Attribute foldMove(ArrayRef<Attribute> operands, Type resultType,
                   function_ref<std::pair<unsigned, int64_t>(int64_t)> source) {
  RankedTensorType type = foldableType(resultType);
  if (!type)
    return {};
  SmallVector<Elements> inputs;
  for (Attribute operand : operands) {
    std::optional<Elements> elements = Elements::read(operand);
    if (!elements)
      return {};
    inputs.push_back(std::move(*elements));
  }
  Elements result{type, isa<FloatType>(type.getElementType()), {}, {}};
  for (int64_t i = 0, n = type.getNumElements(); i < n; ++i) {
    auto [operand, index] = source(i);
    if (index < 0 || index >= inputs[operand].size())
      return {};
    if (result.isFloat)
      result.floats.push_back(inputs[operand].floats[index]);
    else
      result.ints.push_back(inputs[operand].ints[index]);
  }
  return result.write();
}

static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

std::optional<SmallVector<std::pair<unsigned, int64_t>>>
movedEntries(Operation *op, function_ref<std::optional<int64_t>(unsigned, int64_t)> index) {
  ArrayRef<int64_t> to = shapeOf(op->getResult(0));
  SmallVector<std::pair<unsigned, int64_t>> moved;
  int64_t count = ShapedType::getNumElements(to);
  // One operand, at the coordinates that a function makes of the result's.
  auto through = [&](auto coordinatesIn) {
    for (int64_t i = 0; i < count; ++i)
      moved.push_back({0, indexOf(coordinatesIn(coordinatesOf(i, to)), shapeOf(op->getOperand(0)))});
    return moved;
  };
  using Coordinates = SmallVector<int64_t>;
  if (isa<ReshapeOp, DynamicReshapeOp>(op)) {
    if (ShapedType::getNumElements(shapeOf(op->getOperand(0))) != count)
      return std::nullopt;
    for (int64_t i = 0; i < count; ++i)
      moved.push_back({0, i});
    return moved;
  }
  if (isa<BroadcastOp, DynamicBroadcastOp>(op)) {
    for (int64_t i : broadcastIndices(shapeOf(op->getOperand(0)), to))
      moved.push_back({0, i});
    return moved;
  }
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return through([&](Coordinates at) {
      Coordinates from(at.size());
      for (auto [coordinate, axis] : llvm::zip(at, transpose.getPermutation()))
        from[axis] = coordinate;
      return from;
    });
  if (auto slice = dyn_cast<SliceOp>(op)) {
    SmallVector<int64_t> steps = slice.getFullSteps();
    return through([&](Coordinates at) {
      for (auto [coordinate, start, step] : llvm::zip(at, slice.getStarts(), steps))
        coordinate = start + coordinate * step;
      return at;
    });
  }
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    for (int64_t i = 0; i < count; ++i) {
      Coordinates at = coordinatesOf(i, to);
      unsigned operand = 0;
      int64_t &position = at[concat.getAxis()];
      while (position >= shapeOf(concat.getInputs()[operand])[concat.getAxis()])
        position -= shapeOf(concat.getInputs()[operand++])[concat.getAxis()];
      moved.push_back({operand, indexOf(at, shapeOf(concat.getInputs()[operand]))});
    }
    return moved;
  }
  auto gather = dyn_cast<GatherOp>(op);
  if (!gather)
    return std::nullopt;
  ArrayRef<int64_t> from = shapeOf(gather.getInput()), indices = shapeOf(gather.getIndices());
  size_t axis = size_t(gather.getAxis());
  for (int64_t i = 0; i < count; ++i) {
    Coordinates at = coordinatesOf(i, to);
    ArrayRef<int64_t> inner = ArrayRef(at).slice(axis, indices.size());
    std::optional<int64_t> picked = index(1, indexOf(inner, indices));
    if (!picked || *picked < -from[axis] || *picked >= from[axis])
      return std::nullopt;
    Coordinates source(at.begin(), at.begin() + axis);
    source.push_back(*picked < 0 ? *picked + from[axis] : *picked);
    source.append(at.begin() + axis + indices.size(), at.end());
    moved.push_back({0, indexOf(source, from)});
  }
  return moved;
}

Attribute foldMoved(Operation *op, ArrayRef<Attribute> operands) {
  Type type = op->getResult(0).getType();
  if (!foldableType(type) || llvm::is_contained(operands, Attribute()))
    return {};
  std::optional<Elements> indices; // of a gather: no other operand is asked for its numbers
  auto moved = movedEntries(op, [&](unsigned operand, int64_t i) -> std::optional<int64_t> {
    if (!indices)
      indices = Elements::read(operands[operand]);
    return indices ? std::optional(indices->ints[i]) : std::nullopt;
  });
  return moved ? foldMove(operands, type, [&](int64_t i) { return (*moved)[i]; }) : Attribute();
}

bool isSplat(Attribute attr, double number) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(attr);
  if (!dense || !dense.isSplat())
    return false;
  if (isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APFloat>().isExactlyValue(number);
  return isa<IntegerType>(dense.getElementType()) &&
         dense.getSplatValue<APInt>() == APInt(dense.getElementType().getIntOrFloatBitWidth(),
                                               static_cast<uint64_t>(static_cast<int64_t>(number)), true, true);
}

} // namespace plim::graph
