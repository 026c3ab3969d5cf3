// Values that a graph starts from: constants, fills, ranges; and nodes that do nothing at inference.
#include "compiler/Import/Onnx/NodeImporter.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

template <typename T> Value dense(NodeImporter &n, ArrayRef<T> values, ArrayRef<int64_t> shape, Type element) {
  return n.make<graph::ConstantOp>(
      mlir::cast<ElementsAttr>(DenseElementsAttr::get(RankedTensorType::get(shape, element), values)));
}

LogicalResult constant(NodeImporter &n) {
  if (n.has("value")) {
    const wire::Tensor *tensor = n.tensor("value");
    return tensor ? n.finish(n.weight(*tensor, n.outputName(0))) : failure();
  }
  if (n.has("value_int"))
    return n.finish(dense<int64_t>(n, {n.integer("value_int", 0)}, {}, n.b.getI64Type()));
  if (n.has("value_float"))
    return n.finish(dense<float>(n, {float(n.real("value_float", 0))}, {}, n.b.getF32Type()));
  if (const auto values = n.integers("value_ints"))
    return n.finish(dense<int64_t>(n, *values, {int64_t(values->size())}, n.b.getI64Type()));
  if (const auto values = n.reals("value_floats")) {
    const SmallVector<float> floats(values->begin(), values->end());
    return n.finish(dense<float>(n, floats, {int64_t(floats.size())}, n.b.getF32Type()));
  }
  return n.error("need one of value, value_int, value_ints, value_float, value_floats; strings and sparse tensors are "
                 "not supported");
}

LogicalResult constantOfShape(NodeImporter &n) {
  const auto shape = NodeImporter::partialInts(n[0]);
  if (!shape)
    return n.error("input 0 must have a known number of entries");
  double value = 0;
  Type element = n.b.getF32Type();
  if (n.has("value")) {
    const wire::Tensor *tensor = n.tensor("value");
    const Value one = tensor ? n.weight(*tensor, n.outputName(0)) : Value();
    if (!one)
      return failure();
    const auto values = NodeImporter::constantReals(one);
    if (!values || values->size() != 1)
      return n.error("attribute 'value' must hold one element");
    value = values->front();
    element = NodeImporter::typeOf(one).getElementType();
  }
  Ints numbers;
  SmallVector<Value> sizes;
  for (auto [i, size] : llvm::enumerate(*shape)) {
    if (size && *size < 0)
      return n.error("dimension " + Twine(*size) + " is negative");
    sizes.push_back(n.entry(n[0], int64_t(i)));
    if (size)
      numbers.push_back(*size);
  }
  if (numbers.size() == shape->size())
    return n.finish(n.fill(numbers, value, element));
  Value list = n.joined(sizes);
  if (n.hasFailed())
    return failure();
  return n.finish(n.makeTyped<graph::DynamicFillOp>(NodeImporter::typeOfSizes(list, element), list,
                                                    n.b.getF64FloatAttr(value), TypeAttr::get(element)));
}

LogicalResult eyeLike(NodeImporter &n) {
  if (!n.needStatic(n[0], "EyeLike") || n.type(0).getRank() != 2)
    return n.error("need a matrix, have " + Twine(n.type(0).getRank()) + " dimensions");
  const Type element = n.has("dtype") ? n.elementType(n.integer("dtype", 1)) : n.type(0).getElementType();
  const int64_t offset = n.integer("k", 0);
  if (!element)
    return failure();
  Value diagonal = n.make<graph::EqualOp>(n.indexGrid(n.type(0).getDimSize(0), 1, offset),
                                          n.indexGrid(n.type(0).getDimSize(1), 0, 0));
  return n.hasFailed() ? failure() : n.finish(n.cast(diagonal, element));
}

/// At inference every element is kept.
LogicalResult dropout(NodeImporter &n) {
  n.ignore({"ratio", "seed"});
  if (n[2]) {
    const auto training = NodeImporter::constantInts(n[2]);
    if (!training || training->size() != 1 || training->front() != 0)
      return n.error("input 2 'training_mode' must be false");
  }
  if (!n.wantsOutput(1))
    return n.finish(n[0]);
  if (!n.needStatic(n[0], "the mask of a Dropout"))
    return failure();
  const Type mask = n.version < 10 ? n.type(0).getElementType() : n.b.getI1Type();
  return n.finish({n[0], n.fill(n.type(0).getShape(), 1.0, mask)});
}

constexpr OperatorRow rows[] = {
    {"Constant", 0, 0, constant, 7, noVersion, "", "no strings, no sparse tensors"},
    {"ConstantOfShape", 1, 1, constantOfShape, 9},
    {"Dropout", 1, 3, dropout, 7, noVersion, "", "inference only"},
    {"EyeLike", 1, 1, eyeLike, 9},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::constantOperators() { return rows; }
