//===- ElementwiseOps.cpp - Elementwise ops ---------------------------------------------------------------===//

#include "dialects/Graph/GraphDialect.h"
#include "dialects/Graph/ScalarBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace plim::graph;

/// A result may overwrite each operand of its own shape and element size.
static SmallVector<plim::graph::Alias> elementwiseAliases(Operation *op) {
  SmallVector<plim::graph::Alias> aliases;
  Type type = op->getResult(0).getType();
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (dimsOf(operand.getType()) == dimsOf(type) &&
        elementBytes(elementTypeOf(operand)) == elementBytes(elementTypeOf(type)))
      aliases.push_back({0, static_cast<unsigned>(i), AliasKind::InPlace});
  return aliases;
}

#define GET_OP_CLASSES
#include "dialects/Graph/ElementwiseOps.cpp.inc"

LogicalResult SelectOp::verify() {
  if (elementTypeOf(getOnTrue()) == elementTypeOf(getOnFalse()))
    return success();
  return emitOpError("needs both values of one element type, has ")
         << elementTypeOf(getOnTrue()) << " and " << elementTypeOf(getOnFalse());
}
