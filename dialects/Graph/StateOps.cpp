//===- StateOps.cpp - Weights, constants and state ---------------------------------------------------------------===//

#include "dialects/Graph/GraphDialect.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace plim::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/StateOps.cpp.inc"

/// Checks that a range of a file holds exactly a tensor of this type.
static LogicalResult verifyFileRange(Operation *op, Type type, StringRef file, int64_t offset, int64_t bytes) {
  std::optional<int64_t> need = bytesOf(type);
  if (!need)
    return op->emitOpError("needs a static shape, has ") << toString(dimsOf(type));
  if (file.empty())
    return success();
  if (bytes != *need)
    return op->emitOpError("needs ") << *need << " bytes for " << type << ", has " << bytes;
  if (offset < 0)
    return op->emitOpError("needs an offset of at least 0, has ") << offset;
  return success();
}

LogicalResult ParameterOp::verify() { return verifyFileRange(*this, getType(), getFile(), getOffset(), getBytes()); }

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getValueAttr().getType());
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

LogicalResult ConstantOp::verify() {
  std::optional<int64_t> bytes = bytesOf(getType());
  if (bytes && *bytes <= kMaxBytes)
    return success();
  return emitOpError("needs at most ") << kMaxBytes << " bytes, has " << bytes.value_or(-1)
                                       << "; larger tensors are graph.parameter ops";
}

LogicalResult VariableOp::verify() {
  return verifyFileRange(*this, getTypeAttr().getValue(), getFile(), getOffset(), getBytes());
}

/// Checks that a symbol names a variable of this type.
static LogicalResult verifyVariable(Operation *op, FlatSymbolRefAttr symbol, Type type, SymbolTableCollection &tables) {
  auto variable = tables.lookupNearestSymbolFrom<VariableOp>(op, symbol);
  if (!variable)
    return op->emitOpError("needs a graph.variable named ") << symbol << ", has none";
  Type need = variable.getTypeAttr().getValue();
  if (need != type)
    return op->emitOpError("needs the variable's type ") << need << ", has " << type;
  return success();
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyVariable(*this, getVariableAttr(), getType(), tables);
}

LogicalResult AssignOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyVariable(*this, getVariableAttr(), getValue().getType(), tables);
}
