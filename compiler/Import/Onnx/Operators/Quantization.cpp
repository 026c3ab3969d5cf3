// From floats to integers with a scale and a zero point, and back.
#include "compiler/Import/Onnx/Operators/Quantized.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

/// The axis along which input 0 has several scales; 0 where it has one for all.
std::optional<int64_t> quantizedAxis(NodeImporter &n, int64_t blockSize) {
  // A scalar scale has no axis, and its input perhaps no dimension 1.
  if (!blockSize && n.type(1).hasStaticShape() && n.type(1).getNumElements() == 1) {
    n.ignore({"axis"});
    return 0;
  }
  return n.axisOf(n.integer("axis", 1), n.type(0).getRank());
}

std::optional<Quantization> quantizationOfInput(NodeImporter &n) {
  const int64_t blockSize = n.integer("block_size", 0);
  const auto axis = quantizedAxis(n, blockSize);
  return axis ? readQuantization(n, n.type(0), 1, 2, *axis, blockSize) : std::nullopt;
}

LogicalResult dequantizeLinear(NodeImporter &n) {
  if (!isa<IntegerType>(n.type(0).getElementType()) || n.type(0).getElementType().isInteger(1))
    return n.error("input 0 'x' must be integers");
  if (n[2] && n.type(2).getElementType() != n.type(0).getElementType())
    return n.error("input 2 'x_zero_point' must have the type of input 0 'x'");
  const auto q = quantizationOfInput(n);
  if (!q)
    return failure();
  Value result = dequantized(n, n[0], *q);
  const int64_t type = n.integer("output_dtype", 0);
  return n.finish(type ? n.cast(result, n.elementType(type)) : result);
}

LogicalResult quantizeLinear(NodeImporter &n) {
  n.ignore({"saturate", "precision"});
  const int64_t given = n.integer("output_dtype", 0);
  Type target = IntegerType::get(n.b.getContext(), 8, IntegerType::Unsigned);
  if (given && !(target = n.elementType(given)))
    return failure();
  if (n[2]) {
    if (given && n.type(2).getElementType() != target)
      return n.error("input 2 'y_zero_point' must have the type that attribute 'output_dtype' says");
    target = n.type(2).getElementType();
  }
  const auto integer = dyn_cast<IntegerType>(target);
  if (!integer || integer.getWidth() > 16 || integer.getWidth() < 8)
    return n.error("the result must be integers of 8 or 16 bits");
  const auto q = quantizationOfInput(n);
  return q ? n.finish(quantized(n, n[0], *q, integer)) : failure();
}

LogicalResult dynamicQuantizeLinear(NodeImporter &n) {
  if (!n.type(0).getElementType().isF32())
    return n.error("input 0 'x' must be f32");
  DynamicQuantization q = quantizedDynamically(n, n[0]);
  return n.finish({q.bytes, q.scale, q.zero});
}

constexpr OperatorRow rows[] = {
    {"DequantizeLinear", 2, 3, dequantizeLinear, 10, noVersion, "", "integers of at least 8 bits"},
    {"DequantizeLinear", 2, 3, dequantizeLinear, 1, noVersion, microsoftDomain, "integers of at least 8 bits"},
    {"DynamicQuantizeLinear", 1, 1, dynamicQuantizeLinear, 11},
    {"QuantizeLinear", 2, 3, quantizeLinear, 10, noVersion, "", "to integers of 8 or 16 bits"},
    {"QuantizeLinear", 2, 3, quantizeLinear, 1, noVersion, microsoftDomain, "to integers of 8 or 16 bits"},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::quantizationOperators() { return rows; }
