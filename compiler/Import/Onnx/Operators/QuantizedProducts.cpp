// Matrix products and convolutions of 8-bit integers, exact in i32, and what is made of their sums.
#include "compiler/Import/Onnx/Operators/Quantized.h"
#include "compiler/Import/Onnx/Operators/Window.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

//===----------------------------------------------------------------------===//
// Zero points
//===----------------------------------------------------------------------===//

/// Input `i` as the zero point of the rows (or columns) of input `of`: a scalar, one a row (column), or of the rank of
/// the operand. Null where it is left out or 0; null with an error where it does not fit.
Value zeroOf(NodeImporter &n, unsigned i, unsigned of, bool ofRows) {
  if (!n[i])
    return {};
  if (n.type(i).getElementType() != n.type(of).getElementType()) {
    (void)n.error("input " + Twine(i) + ": need a zero point of the type of input " + Twine(of));
    return {};
  }
  if (!n.needStatic(n[i], "a zero point"))
    return {};
  if (isKnownZero(n[i]))
    return {};
  const int64_t count = n.type(i).getNumElements(), rank = n.type(i).getRank();
  if (count == 1)
    return n.reshape(n[i], {});
  if (rank == 1)
    return n.reshape(n[i], ofRows ? Ints{count, 1} : Ints{count});
  return n[i];
}

/// Scale `i` as it multiplies sums [..., M, N]: one a row, one a column, or one for all; in f32.
Value scaleOf(NodeImporter &n, unsigned i, bool ofRows) {
  if (n.hasFailed() || !readQuantization(n, RankedTensorType::get({ShapedType::kDynamic}, n.type(i).getElementType()),
                                         i, n.numInputs(), 0, 0))
    return {};
  const int64_t count = n.type(i).getNumElements();
  return n.cast(n.reshape(n[i], count == 1 ? Ints{} : ofRows ? Ints{count, 1} : Ints{count}), n.b.getF32Type());
}

/// (a - a zero) (b - b zero) in i32. A vector is a row on the left and a column on the right, whose dimension goes.
Value integerProduct(NodeImporter &n, Value a, Value b, Value aZero, Value bZero) {
  if (n.hasFailed())
    return {};
  const int64_t aRank = graph::rankOf(a), bRank = graph::rankOf(b);
  if (aRank == 0 || bRank == 0) {
    (void)n.error("need two operands with dimensions, have a scalar");
    return {};
  }
  if (aRank == 1)
    a = n.reshape(a, {1, NodeImporter::typeOf(a).getDimSize(0)});
  if (bRank == 1)
    b = n.reshape(b, {NodeImporter::typeOf(b).getDimSize(0), 1});
  Value product = n.make<graph::IntegerMatmulOp>(a, b, aZero, bZero);
  if (n.hasFailed() || (aRank > 1 && bRank > 1))
    return product;
  Ints shape(NodeImporter::typeOf(product).getShape());
  if (bRank == 1)
    shape.pop_back();
  if (aRank == 1)
    shape.erase(shape.end() - (bRank == 1 ? 1 : 2));
  return n.reshape(product, shape);
}

/// Sums in i32 times factors, as f32.
Value scaledSums(NodeImporter &n, Value sums, Value factor) {
  return n.make<graph::MulOp>(n.cast(sums, n.b.getF32Type()), factor);
}

/// sums * (a scale * b scale / y scale), rounded, + y zero point, saturated to the zero point's type.
Value requantized(NodeImporter &n, Value sums, Value aScale, Value bScale, unsigned yScale, unsigned yZero) {
  if (n.hasFailed())
    return {};
  const auto y = readQuantization(n, yZero, yScale, yZero);
  if (!y)
    return {};
  Value factor = n.make<graph::DivOp>(n.make<graph::MulOp>(aScale, bScale), n.cast(y->scale, n.b.getF32Type()));
  return saturated(n, scaledSums(n, sums, factor), y->zero, cast<IntegerType>(n.type(yZero).getElementType()));
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

LogicalResult matMulInteger(NodeImporter &n) {
  if (!needBytes(n, 0, "A") || !needBytes(n, 1, "B"))
    return failure();
  Value aZero = zeroOf(n, 2, 0, true), bZero = zeroOf(n, 3, 1, false);
  return n.finish(integerProduct(n, n[0], n[1], aZero, bZero));
}

/// a, a scale, a zero, b, b scale, b zero, y scale, y zero
LogicalResult qLinearMatMul(NodeImporter &n) {
  if (!needBytes(n, 0, "a") || !needBytes(n, 3, "b") || !needBytes(n, 7, "y_zero_point"))
    return failure();
  Value aZero = zeroOf(n, 2, 0, true), bZero = zeroOf(n, 5, 3, false);
  Value aScale = scaleOf(n, 1, true), bScale = scaleOf(n, 4, false);
  Value sums = integerProduct(n, n[0], n[3], aZero, bZero);
  return n.finish(requantized(n, sums, aScale, bScale, 6, 7));
}

/// A in f32, B, b scale, b zero, bias: A is quantised by its own range.
LogicalResult dynamicQuantizeMatMul(NodeImporter &n) {
  if (!needBytes(n, 1, "B"))
    return failure();
  if (!n.type(0).getElementType().isF32())
    return n.error("input 0 'A' must be f32");
  Value bZero = zeroOf(n, 3, 1, false), bScale = scaleOf(n, 2, false);
  DynamicQuantization a = quantizedDynamically(n, n[0]);
  Value sums = integerProduct(n, a.bytes, n[1], a.zero, bZero);
  Value result = scaledSums(n, sums, n.make<graph::MulOp>(a.scale, bScale));
  return n.finish(n[4] ? n.make<graph::AddOp>(result, n[4]) : result);
}

/// A, B, a scale, b scale, a zero, b zero, bias
LogicalResult matMulIntegerToFloat(NodeImporter &n) {
  if (!needBytes(n, 0, "A") || !needBytes(n, 1, "B"))
    return failure();
  Value aZero = zeroOf(n, 4, 0, true), bZero = zeroOf(n, 5, 1, false);
  Value aScale = scaleOf(n, 2, true), bScale = scaleOf(n, 3, false);
  Value sums = integerProduct(n, n[0], n[1], aZero, bZero);
  Value result = scaledSums(n, sums, n.make<graph::MulOp>(aScale, bScale));
  if (n[6])
    result = n.make<graph::AddOp>(result, n.cast(n[6], n.b.getF32Type()));
  return n.finish(result);
}

/// A, a scale, a zero, B, b scale, b zero, C in i32, y scale, y zero: alpha A B + C, as f32 where y has no scale
LogicalResult quantizedGemm(NodeImporter &n) {
  if (!needBytes(n, 0, "A") || !needBytes(n, 3, "B"))
    return failure();
  if (n.type(0).getRank() != 2 || n.type(3).getRank() != 2)
    return n.error("need two matrices, have " + Twine(n.type(0).getRank()) + " and " + Twine(n.type(3).getRank()) +
                   " dimensions");
  const bool transposeA = n.integer("transA", 0) != 0, transposeB = n.integer("transB", 0) != 0;
  const double alpha = n.real("alpha", 1.0);
  Value aZero = zeroOf(n, 2, 0, true), bZero = zeroOf(n, 5, 3, false);
  Value aScale = scaleOf(n, 1, true), bScale = scaleOf(n, 4, false);
  if (n.hasFailed())
    return failure();
  Value a = transposeA ? n.transpose(n[0], {1, 0}) : n[0], b = transposeB ? n.transpose(n[3], {1, 0}) : n[3];
  Value sums = integerProduct(n, a, b, aZero, bZero);
  if (n[6])
    sums = n.make<graph::AddOp>(sums, n[6]);
  if (alpha != 1.0)
    aScale = n.make<graph::MulOp>(aScale, n.scalar(alpha, n.b.getF32Type()));
  if (!n[7])
    return n.finish(scaledSums(n, sums, n.make<graph::MulOp>(aScale, bScale)));
  if (!n[8] || !needBytes(n, 8, "y_zero_point"))
    return n.error("input 8 'y_zero_point' must be there where input 7 'y_scale' is");
  return n.finish(requantized(n, sums, aScale, bScale, 7, 8));
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The convolution of inputs `x` and `w`, which are `from` and `from + 1` or further apart, in i32.
Value integerConvolution(NodeImporter &n, Value x, unsigned w, Value xZero, unsigned wZero) {
  auto window = readConvolution(n, w);
  if (!window || !resolveAutoPad(n, *window))
    return {};
  Value zero = zeroOf(n, wZero, w, false);
  return n.make<graph::IntegerConvOp>(x, n[w], xZero, zero, window->strides, window->pads, window->dilations,
                                      window->groups);
}

LogicalResult convInteger(NodeImporter &n) {
  if (!needBytes(n, 0, "x") || !needBytes(n, 1, "w"))
    return failure();
  return n.finish(integerConvolution(n, n[0], 1, zeroOf(n, 2, 0, true), 3));
}

/// x, x scale, x zero, w, w scale, w zero, y scale, y zero, bias in i32
LogicalResult qLinearConv(NodeImporter &n) {
  if (!needBytes(n, 0, "x") || !needBytes(n, 3, "w") || !needBytes(n, 7, "y_zero_point"))
    return failure();
  Value sums = integerConvolution(n, n[0], 3, zeroOf(n, 2, 0, true), 5);
  Value xScale = scaleOf(n, 1, true), wScale = scaleOf(n, 4, false);
  if (n.hasFailed())
    return failure();
  // One number a channel, over [N, C, spatial...].
  const auto overChannels = [&](Value value) {
    Ints shape(n.type(0).getRank() - 1, 1);
    shape[0] = NodeImporter::typeOf(value).getNumElements();
    return n.reshape(value, shape);
  };
  if (n[8]) {
    if (!n.type(8).getElementType().isSignlessInteger(32) || !n.needStatic(n[8], "a bias"))
      return n.error("input 8 'B' must be i32");
    sums = n.make<graph::AddOp>(sums, overChannels(n[8]));
  }
  return n.finish(requantized(n, sums, xScale, overChannels(wScale), 6, 7));
}

constexpr OperatorRow rows[] = {
    {"ConvInteger", 2, 4, convInteger, 10},
    {"MatMulInteger", 2, 4, matMulInteger, 10},
    {"QLinearConv", 8, 9, qLinearConv, 10},
    {"QLinearMatMul", 8, 8, qLinearMatMul, 10, noVersion, "", "integers of 8 bits"},
    {"DynamicQuantizeMatMul", 3, 5, dynamicQuantizeMatMul, 1, noVersion, microsoftDomain},
    {"MatMulIntegerToFloat", 4, 7, matMulIntegerToFloat, 1, noVersion, microsoftDomain},
    {"QGemm", 6, 9, quantizedGemm, 1, noVersion, microsoftDomain},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::quantizedProductOperators() { return rows; }
