// Operators of com.microsoft on quantised values: dequantised, computed in f32, quantised again.
#include "compiler/Import/Onnx/Operators/Quantized.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

/// Inputs i, i + 1 and i + 2, a value with its scale and zero point, as floats.
Value realOf(NodeImporter &n, unsigned i) {
  if (n.hasFailed() || !n[i] || !n[i + 1]) {
    (void)n.error("inputs " + Twine(i) + " and " + Twine(i + 1) + " must be a value and its scale");
    return {};
  }
  if (!needBytes(n, i, "X"))
    return {};
  const auto q = readQuantization(n, i, i + 1, i + 2);
  return q ? dequantized(n, n[i], *q) : Value();
}

/// A value quantised to the type of input `like` by scale and zero point i and i + 1.
LogicalResult finishQuantized(NodeImporter &n, Value value, unsigned like, unsigned i) {
  if (n.hasFailed())
    return failure();
  const auto q = readQuantization(n, like, i, i + 1);
  return q ? n.finish(quantized(n, value, *q, cast<IntegerType>(n.type(like).getElementType()))) : failure();
}

/// a, a scale, a zero, b, b scale, b zero, y scale, y zero
template <typename Op> LogicalResult binary(NodeImporter &n) {
  Value a = realOf(n, 0), b = realOf(n, 3);
  return finishQuantized(n, n.make<Op>(a, b), 0, 6);
}

/// x, x scale, x zero, y scale, y zero
LogicalResult leakyRelu(NodeImporter &n) {
  const double alpha = n.real("alpha", 0.01);
  Value x = realOf(n, 0);
  return finishQuantized(n, n.make<graph::LeakyReluOp>(x, alpha), 0, 3);
}

LogicalResult sigmoid(NodeImporter &n) {
  Value x = realOf(n, 0);
  return finishQuantized(n, n.make<graph::SigmoidOp>(x), 0, 3);
}

LogicalResult softmax(NodeImporter &n) {
  const auto axis = n.axisOf(n.integer("axis", -1), n.type(0).getRank());
  if (n.integer("opset", 13) < 13)
    return n.error("attribute 'opset' must be at least 13");
  Value x = realOf(n, 0);
  return axis ? finishQuantized(n, n.make<graph::SoftmaxOp>(x, *axis), 0, 3) : failure();
}

LogicalResult globalAveragePool(NodeImporter &n) {
  const int64_t rank = n.type(0).getRank(), first = n.integer("channels_last", 0) ? 1 : 2;
  if (rank < 3)
    return n.error("need [N, C, spatial...], have " + Twine(rank) + " dimensions");
  const auto axes = llvm::to_vector(llvm::seq<int64_t>(first, first + rank - 2));
  Value x = realOf(n, 0);
  return finishQuantized(n, n.make<graph::ReduceOp>(graph::ReduceKind::Mean, x, axes, true), 0, 3);
}

/// y scale, y zero, then x, x scale, x zero for each value
LogicalResult concat(NodeImporter &n) {
  if (n.numInputs() % 3 != 2 || n.numInputs() < 5)
    return n.error("need a scale and a zero point, then three inputs a value, have " + Twine(n.numInputs()) +
                   " inputs");
  const auto axis = n.axisOf(n.integer("axis", 0), n.type(2).getRank());
  SmallVector<Value> parts;
  for (unsigned i = 2; axis && i < n.numInputs(); i += 3)
    parts.push_back(realOf(n, i));
  return axis ? finishQuantized(n, n.make<graph::ConcatOp>(parts, *axis), 2, 0) : failure();
}

constexpr OperatorRow rows[] = {
    {"QLinearAdd", 7, 8, binary<graph::AddOp>, 1, noVersion, microsoftDomain},
    {"QLinearConcat", 5, anyNumber, concat, 1, noVersion, microsoftDomain},
    {"QLinearGlobalAveragePool", 5, 5, globalAveragePool, 1, noVersion, microsoftDomain},
    {"QLinearLeakyRelu", 4, 5, leakyRelu, 1, noVersion, microsoftDomain},
    {"QLinearMul", 7, 8, binary<graph::MulOp>, 1, noVersion, microsoftDomain},
    {"QLinearSigmoid", 4, 5, sigmoid, 1, noVersion, microsoftDomain},
    {"QLinearSoftmax", 4, 5, softmax, 1, noVersion, microsoftDomain, "opset of at least 13"},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::quantizedArithmeticOperators() { return rows; }
