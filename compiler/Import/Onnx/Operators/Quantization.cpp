// Quantised values: as integers with a scale and a zero point, spelled out in simpler ops.
#include "compiler/Import/Onnx/NodeImporter.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

/// A scale or zero point as it broadcasts to input 0: one for all, or one for each index of the axis.
Value alongAxis(NodeImporter &n, unsigned i, int64_t axis) {
  const auto type = n.type(i);
  if (!n.needStatic(n[i], "a scale or zero point"))
    return {};
  if (type.getNumElements() == 1)
    return n.reshape(n[i], {});
  if (type.getRank() != 1) {
    (void)n.error("blocked quantisation is not supported");
    return {};
  }
  Ints shape{type.getNumElements()};
  shape.append(n.type(0).getRank() - 1 - axis, 1);
  return n.reshape(n[i], shape);
}

std::optional<int64_t> quantizedAxis(NodeImporter &n) {
  if (n.integer("block_size", 0)) {
    (void)n.error("blocked quantisation is not supported");
    return std::nullopt;
  }
  // A scalar scale has no axis, and its input perhaps no dimension 1.
  if (n.type(1).hasStaticShape() && n.type(1).getNumElements() == 1) {
    n.ignore({"axis"});
    return 0;
  }
  return n.axisOf(n.integer("axis", 1), n.type(0).getRank());
}

/// (x - zero point) * scale
LogicalResult dequantizeLinear(NodeImporter &n) {
  n.ignore({"output_dtype"});
  const auto axis = quantizedAxis(n);
  if (!axis)
    return failure();
  const Type element = n.type(1).getElementType();
  Value scale = alongAxis(n, 1, *axis);
  Value centred = n.cast(n[0], element);
  if (n[2]) {
    Value zero = alongAxis(n, 2, *axis);
    if (n.hasFailed())
      return failure();
    centred = n.make<graph::SubOp>(centred, n.cast(zero, element));
  }
  return n.finish(n.make<graph::MulOp>(centred, scale));
}

/// x / scale, rounded to even, + zero point, saturated.
LogicalResult quantizeLinear(NodeImporter &n) {
  n.ignore({"saturate", "precision"});
  const auto axis = quantizedAxis(n);
  if (!axis)
    return failure();
  Type target = IntegerType::get(n.b.getContext(), 8, IntegerType::Unsigned);
  if (n[2])
    target = n.type(2).getElementType();
  else if (const int64_t given = n.integer("output_dtype", 0))
    target = n.elementType(given);
  n.ignore({"output_dtype"});
  const auto integer = dyn_cast_or_null<IntegerType>(target);
  if (!integer || integer.getWidth() > 16)
    return n.error("the result must be integers of 8 or 16 bits");
  const double span = double(int64_t(1) << integer.getWidth());
  const double least = integer.isUnsigned() ? 0 : -span / 2;
  Type element = n.type(0).getElementType();
  // Integers of 16 bits do not fit the mantissa of half floats.
  if (isa<FloatType>(element) ? element.getIntOrFloatBitWidth() < 32 : true)
    element = n.b.getF32Type();
  Value scale = alongAxis(n, 1, *axis);
  if (n.hasFailed())
    return failure();
  Value scaled = n.make<graph::DivOp>(n.cast(n[0], element), n.cast(scale, element));
  Value rounded = n.make<graph::RoundOp>(scaled);
  if (n[2]) {
    Value zero = alongAxis(n, 2, *axis);
    if (n.hasFailed())
      return failure();
    rounded = n.make<graph::AddOp>(rounded, n.cast(zero, element));
  }
  Value clipped = n.make<graph::ClipOp>(rounded, n.b.getF64FloatAttr(least), n.b.getF64FloatAttr(least + span - 1));
  return n.hasFailed() ? failure() : n.finish(n.cast(clipped, target));
}

constexpr OperatorRow rows[] = {
    {"DequantizeLinear", 2, 3, dequantizeLinear, 10, noVersion, "", "integers of at least 8 bits, no blocks"},
    {"QuantizeLinear", 2, 3, quantizeLinear, 10, noVersion, "", "to integers of 8 or 16 bits, no blocks"},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::quantizationOperators() { return rows; }
