//===- OpenRows.cpp - Loops over rows whose number is a matter of the run ------------------------------===//

#include "dialects/Graph/OpenRows.h"

using namespace mlir;

namespace plim::graph {

std::optional<OpenRows> OpenRows::of(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (tensor.hasStaticShape())
    return std::nullopt;
  OpenRows open;
  open.rank = tensor.getRank();
  size_t leading = 0;
  for (auto [d, size] : llvm::enumerate(tensor.getShape()))
    if (ShapedType::isDynamic(size))
      leading = d + 1;
  open.pattern.assign(tensor.getShape().begin(), tensor.getShape().begin() + leading);
  Dim rows = elementsOf(ArrayRef<Dim>(dimsOf(type)).take_front(leading));
  // More rows than this no memory holds; a product with the rest of the shape must not overflow.
  if (!rows.isBounded() || rows.hi < 2 || rows.hi > int64_t(1) << 40)
    return std::nullopt;
  open.rows = rows.hi;
  return open;
}

RankedTensorType OpenRows::closed(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || layoutOf(tensor))
    return {};
  int64_t missing = rank - tensor.getRank();
  if (missing < 0)
    return {};
  ArrayRef<int64_t> shape = tensor.getShape();
  ArrayRef<int64_t> mine = shape.take_front(size_t(std::max<int64_t>(int64_t(leading()) - missing, 0)));
  if (llvm::all_of(mine, [](int64_t size) { return size == 1; }))
    return tensor.hasStaticShape() ? RankedTensorType::get(shape, tensor.getElementType()) : RankedTensorType();
  if (missing != 0 || mine != ArrayRef(pattern))
    return {};
  SmallVector<int64_t> result(shape);
  std::fill(result.begin(), result.begin() + leading(), 1);
  result.front() = rows;
  if (llvm::any_of(result, ShapedType::isDynamic))
    return {};
  return RankedTensorType::get(result, tensor.getElementType());
}

bool OpenRows::cover(Operation *op) const {
  auto closes = [&](Type type) { return bool(closed(type)); };
  if (!llvm::all_of(op->getOperandTypes(), closes) || !llvm::all_of(op->getResultTypes(), closes))
    return false;
  auto isInside = [&](int64_t axis) { return axis >= int64_t(leading()); };
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKeepDims() && llvm::all_of(reduce.getAxes(), isInside);
  if (auto softmax = dyn_cast<SoftmaxOp>(op))
    return isInside(softmax.getAxis());
  if (auto norm = dyn_cast<LayerNormOp>(op))
    return isInside(norm.getAxis());
  if (auto norm = dyn_cast<RmsNormOp>(op))
    return isInside(norm.getAxis());
  return isa<ScalarBodyOpInterface, ConstantOp, FillOp>(op);
}

} // namespace plim::graph
