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
