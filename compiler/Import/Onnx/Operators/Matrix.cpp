// Matrix products.
#include "compiler/Import/Onnx/NodeImporter.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

Value scaled(NodeImporter &n, Value value, double factor) {
  if (factor == 1.0 || n.hasFailed())
    return value;
  return n.make<graph::MulOp>(value, n.scalar(factor, NodeImporter::typeOf(value).getElementType()));
}

LogicalResult matMul(NodeImporter &n) { return n.finish(n.make<graph::MatmulOp>(n[0], n[1], Value(), Value())); }

/// alpha A B + beta C, A and B perhaps transposed.
LogicalResult gemm(NodeImporter &n) {
  const double alpha = n.real("alpha", 1.0), beta = n.real("beta", 1.0);
  const bool transposeA = n.integer("transA", 0) != 0, transposeB = n.integer("transB", 0) != 0;
  if (n.type(0).getRank() != 2 || n.type(1).getRank() != 2)
    return n.error("need two matrices, have " + Twine(n.type(0).getRank()) + " and " + Twine(n.type(1).getRank()) +
                   " dimensions");
  if (n.version < 11 && !n[2])
    return n.error("input 2 'C' is missing");
  if (n[2] && n.type(2).getRank() > 2)
    return n.error("input 2 'C' has " + Twine(n.type(2).getRank()) + " dimensions, need at most 2");
  Value bias = n[2] && beta != 0 ? scaled(n, n[2], beta) : Value();
  // The product takes a bias a column; others are added to it.
  const bool aColumn = n[2] && n.type(2).getRank() > 0 &&
                       n.type(2).getShape().back() == n.type(1).getDimSize(!transposeB) &&
                       (n.type(2).getRank() == 1 || n.type(2).getDimSize(0) == 1);
  if (alpha == 1.0 && bias && aColumn)
    return n.finish(n.make<graph::MatmulOp>(n[0], n[1], bias, Value(), transposeA, transposeB));
  Value product = scaled(n, n.make<graph::MatmulOp>(n[0], n[1], Value(), Value(), transposeA, transposeB), alpha);
  return n.finish(bias ? n.make<graph::AddOp>(product, bias) : product);
}

constexpr OperatorRow rows[] = {
    {"Gemm", 2, 3, gemm},
    {"MatMul", 2, 2, matMul},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::matrixOperators() { return rows; }
