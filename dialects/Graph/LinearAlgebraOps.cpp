//===- LinearAlgebraOps.cpp - Matrix multiplication and packing ----------------------------------------------===//

#include "dialects/Graph/GraphDialect.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace plim::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/LinearAlgebraOps.cpp.inc"

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  StringRef name = "graph.matmul";
  Dims a = dimsOf(adaptor.getLhs().getType()), b = dimsOf(adaptor.getRhs().getType());
  std::string have = toString(a) + (adaptor.getTransposeLhs() ? "^T and " : " and ") + toString(b) +
                     (adaptor.getTransposeRhs() ? "^T" : "");
  if (a.empty() || b.empty())
    return shapeError(loc, name, "needs operands of rank 1 or more, has " + Twine(have));
  bool isRow = a.size() == 1, isColumn = b.size() == 1;
  if (isRow)
    a.insert(a.begin(), Dim(1));
  else if (adaptor.getTransposeLhs())
    std::swap(a[a.size() - 1], a[a.size() - 2]);
  if (isColumn)
    b.push_back(1);
  else if (adaptor.getTransposeRhs())
    std::swap(b[b.size() - 1], b[b.size() - 2]);
  if (!canBeEqual(a.back(), b[b.size() - 2]))
    return shapeError(loc, name, "needs as many columns on the left as rows on the right, has " + Twine(have));
  FailureOr<Dims> result = broadcastDims(loc, name, ArrayRef(a).drop_back(2), ArrayRef(b).drop_back(2));
  if (failed(result))
    return failure();
  if (!isRow)
    result->push_back(a[a.size() - 2]);
  if (!isColumn)
    result->push_back(b.back());
  types.push_back(tensorOf(*result, elementTypeOf(adaptor.getLhs())));
  return success();
}

LogicalResult MatmulOp::verify() {
  Type element = elementTypeOf(getLhs());
  for (Value operand : getOperands())
    if (elementTypeOf(operand) != element)
      return emitOpError("needs operands of one element type, has ") << element << " and " << elementTypeOf(operand);
  if (layoutOf(getLhs().getType()))
    return emitOpError("needs a left operand in row-major layout, has ") << getLhs().getType();
  if (layoutOf(getRhs().getType()) && getTransposeRhs())
    return emitOpError("needs a packed right operand to be [K, N], has one that is transposed");
  Dims result = dimsOf(getType());
  if (getBias() && !broadcastsTo(dimsOf(getBias().getType()), result))
    return emitOpError("needs a bias that broadcasts to ")
           << toString(result) << ", has " << toString(dimsOf(getBias().getType()));
  if (getResidual() && !areCompatible(getResidual().getType(), getType()))
    return emitOpError("needs a residual of the result's type ") << getType() << ", has " << getResidual().getType();
  return success();
}

/// The residual is read where its result element is written.
SmallVector<plim::graph::Alias> MatmulOp::getAliases() {
  if (!getResidual())
    return {};
  return {{0, getODSOperandIndexAndLength(3).first, AliasKind::InPlace}};
}

LogicalResult PackOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto type = cast<RankedTensorType>(adaptor.getInput().getType());
  if (type.getRank() != 2 || !type.hasStaticShape() || layoutOf(type))
    return shapeError(loc, "graph.pack",
                      "needs a row-major matrix of static shape, has " + Twine(toString(dimsOf(type))) +
                          (layoutOf(type) ? " packed" : ""));
  types.push_back(RankedTensorType::get(type.getShape(), type.getElementType(), adaptor.getLayoutAttr()));
  return success();
}
