//===- QuantizedOps.cpp - Products of operands that are stored in few bits -----------------------------------===//

#include "dialects/Graph/GraphDialect.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace plim::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/QuantizedOps.cpp.inc"

//===----------------------------------------------------------------------===//
// quantized_matmul
//===----------------------------------------------------------------------===//

LogicalResult QuantizedMatmulOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                  SmallVectorImpl<Type> &types) {
  Dims a = dimsOf(adaptor.getLhs().getType()), b = dimsOf(adaptor.getRhs().getType());
  if (a.size() < 2 || b.size() != 2 || !canBeEqual(a.back(), b[0]))
    return shapeError(loc, "graph.quantized_matmul",
                      "needs a left operand [..., M, K] and a right one [K, N], has " + Twine(toString(a)) + " and " +
                          toString(b));
  a.back() = b[1];
  types.push_back(tensorOf(a, elementTypeOf(adaptor.getLhs())));
  return success();
}

LogicalResult QuantizedMatmulOp::verify() {
  if (!cast<RankedTensorType>(getRhs().getType()).hasStaticShape())
    return emitOpError("needs a right operand of static shape, has ") << getRhs().getType();
  if (layoutOf(getLhs().getType()))
    return emitOpError("needs a left operand in row-major layout, has ") << getLhs().getType();
  Dims rhs = dimsOf(getRhs().getType()), result = dimsOf(getType());
  for (auto [value, name] : {std::pair<Value, StringRef>(getScale(), "scale"), {getZero(), "zero"}}) {
    if (!value)
      continue;
    Dims dims = dimsOf(value.getType());
    int64_t rows = rhs[0].lo, groups = dims.size() == 2 && dims[0].isStatic() ? dims[0].lo : 0;
    if (groups < 1 || dims[1] != rhs[1] || rows % groups != 0)
      return emitOpError("needs a ") << name << " [G, " << rhs[1].lo << "] where G divides " << rows << ", has "
                                     << toString(dims);
  }
  if (getZero() && elementTypeOf(getZero()) != elementTypeOf(getRhs()))
    return emitOpError("needs a zero of the element type of the right operand, ")
           << elementTypeOf(getRhs()) << ", has " << elementTypeOf(getZero());
  if (getZero() && getScale() && dimsOf(getZero().getType()) != dimsOf(getScale().getType()))
    return emitOpError("needs scale and zero of one shape, has ")
           << toString(dimsOf(getScale().getType())) << " and " << toString(dimsOf(getZero().getType()));
  if (getBias() && dimsOf(getBias().getType()) != Dims{rhs[1]})
    return emitOpError("needs a bias [") << rhs[1].lo << "], has " << toString(dimsOf(getBias().getType()));
  if (getResidual() && !areCompatible(getResidual().getType(), getType()))
    return emitOpError("needs a residual of the result's type ") << getType() << ", has " << getResidual().getType();
  return success();
}

/// The residual is read where its result element is written.
SmallVector<plim::graph::Alias> QuantizedMatmulOp::getAliases() {
  if (!getResidual())
    return {};
  return {{0, getODSOperandIndexAndLength(5).first, AliasKind::InPlace}};
}

//===----------------------------------------------------------------------===//
// integer_matmul
//===----------------------------------------------------------------------===//

LogicalResult IntegerMatmulOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  StringRef name = "graph.integer_matmul";
  Dims a = dimsOf(adaptor.getLhs().getType()), b = dimsOf(adaptor.getRhs().getType());
  if (a.size() < 2 || b.size() < 2 || !canBeEqual(a.back(), b[b.size() - 2]))
    return shapeError(loc, name,
                      "needs operands [..., M, K] and [..., K, N], has " + Twine(toString(a)) + " and " + toString(b));
  FailureOr<Dims> result = broadcastDims(loc, name, ArrayRef(a).drop_back(2), ArrayRef(b).drop_back(2));
  if (failed(result))
    return failure();
  result->append({a[a.size() - 2], b.back()});
  types.push_back(tensorOf(*result, IntegerType::get(context, 32)));
  return success();
}

/// Whether a zero point has the type of its operand, and no sizes but those that broadcast to it outside `summed`.
static LogicalResult verifyZero(Operation *op, StringRef name, Value zero, Value operand, int64_t summedFromEnd) {
  if (!zero)
    return success();
  if (elementTypeOf(zero) != elementTypeOf(operand))
    return op->emitOpError("needs a ") << name << " of its operand's element type " << elementTypeOf(operand)
                                       << ", has " << elementTypeOf(zero);
  Dims allowed = dimsOf(operand.getType()), dims = dimsOf(zero.getType());
  allowed[allowed.size() - summedFromEnd] = 1;
  if (!broadcastsTo(dims, allowed))
    return op->emitOpError("needs a ") << name << " that broadcasts to " << toString(allowed) << ", has "
                                       << toString(dims);
  return success();
}

LogicalResult IntegerMatmulOp::verify() {
  if (layoutOf(getLhs().getType()))
    return emitOpError("needs a left operand in row-major layout, has ") << getLhs().getType();
  return failure(failed(verifyZero(*this, "lhs_zero", getLhsZero(), getLhs(), 1)) ||
                 failed(verifyZero(*this, "rhs_zero", getRhsZero(), getRhs(), 2)));
}
