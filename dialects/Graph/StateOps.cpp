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

int64_t VariableOp::getOpenDim() {
  for (auto [d, size] : llvm::enumerate(getTensorType().getShape()))
    if (ShapedType::isDynamic(size))
      return int64_t(d);
  return -1;
}

LogicalResult VariableOp::verify() {
  RankedTensorType type = getTensorType();
  if (!getSize())
    return verifyFileRange(*this, type, getFile(), getOffset(), getBytes());
  Dim open = type.getNumDynamicDims() == 1 ? dimsOf(type)[getOpenDim()] : Dim();
  if (open.lo != 0 || !open.isBounded())
    return emitOpError("needs one open dimension with bounds from 0 to grow, has ") << toString(dimsOf(type));
  if (!getFile().empty())
    return emitOpError("needs no first value for what grows, has those of file '") << getFile() << "'";
  return success();
}

/// The variable that a symbol names, or null with an error.
static VariableOp lookupVariable(Operation *op, FlatSymbolRefAttr symbol, SymbolTableCollection &tables) {
  auto variable = tables.lookupNearestSymbolFrom<VariableOp>(op, symbol);
  if (!variable)
    op->emitOpError("needs a graph.variable named ") << symbol << ", has none";
  return variable;
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &tables) {
  VariableOp variable = lookupVariable(*this, getVariableAttr(), tables);
  if (!variable)
    return failure();
  if (variable.getTensorType() != getType())
    return emitOpError("needs the variable's type ") << variable.getTensorType() << ", has " << getType();
  return success();
}

LogicalResult AssignOp::verifySymbolUses(SymbolTableCollection &tables) {
  VariableOp variable = lookupVariable(*this, getVariableAttr(), tables);
  if (!variable)
    return failure();
  RankedTensorType need = variable.getTensorType(), have = cast<RankedTensorType>(getValue().getType());
  bool fits = need.getElementType() == have.getElementType() && need.getRank() == have.getRank();
  Dims wanted = dimsOf(need), given = dimsOf(have);
  for (int64_t d = 0; fits && d < need.getRank(); ++d)
    fits = d == variable.getOpenDim() ? given[d].lo <= wanted[d].hi : canBeEqual(given[d], wanted[d]);
  if (!fits)
    return emitOpError("needs the variable's type ") << need << ", has " << have;
  return success();
}
