//===- Matchers.cpp - Questions that graph patterns ask of values ---------------------------------------===//

#include "compiler/Transforms/Graph/Matchers.h"
#include <cmath>

using namespace mlir;

namespace plim::graph {

std::optional<double> splatOf(Value value) {
  if (auto fill = value.getDefiningOp<FillOp>())
    return fill.getValue();
  auto constant = value.getDefiningOp<ConstantOp>();
  if (!constant)
    return std::nullopt;
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!dense || !dense.isSplat())
    return std::nullopt;
  if (auto number = dyn_cast<FloatAttr>(dense.getSplatValue<Attribute>()))
    return number.getValueAsDouble();
  if (auto number = dyn_cast<IntegerAttr>(dense.getSplatValue<Attribute>()))
    return number.getType().isUnsignedInteger() ? static_cast<double>(number.getValue().getZExtValue())
                                                : static_cast<double>(number.getValue().getSExtValue());
  return std::nullopt;
}

bool isSplatNear(Value value, double number) {
  std::optional<double> splat = splatOf(value);
  return splat && std::fabs(*splat - number) <= 1e-6 * std::fabs(number);
}

/// Visits the ops that a value depends on, itself first; false as soon as `accepts` refuses one, or at an argument.
static bool allAncestors(Value value, function_ref<bool(Operation *)> accepts) {
  SmallVector<Value> open{value};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !accepts(op))
      return false;
    if (seen.insert(op).second)
      llvm::append_range(open, op->getOperands());
  }
  return true;
}

static bool isSetupOp(Operation *op) { return op->getNumRegions() == 0 && isPure(op); }

bool isSetupValue(Value value) { return allAncestors(value, isSetupOp); }

bool isHoistable(Value value) {
  bool dequantises = false;
  bool isKnown = allAncestors(value, [&](Operation *op) {
    auto cast = dyn_cast<CastOp>(op);
    dequantises |= cast && elementTypeOf(cast.getInput()).getIntOrFloatBitWidth() == 8 && isa<FloatType>(cast.getTo());
    return isSetupOp(op);
  });
  // Panels of floats are what a kernel reads that takes no narrower ones.
  return isKnown && (!dequantises || value.getDefiningOp<PackOp>());
}

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }
bool hasStaticShape(Value value) { return cast<RankedTensorType>(value.getType()).hasStaticShape(); }

SmallVector<int64_t> inverseOf(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> inverse(permutation.size());
  for (auto [i, axis] : llvm::enumerate(permutation))
    inverse[axis] = i;
  return inverse;
}

} // namespace plim::graph
