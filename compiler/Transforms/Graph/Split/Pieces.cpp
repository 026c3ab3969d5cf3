//===- Pieces.cpp - What the models of all families share ----------------------------------------===//
#include "compiler/Transforms/Graph/Split/Pieces.h"

using namespace mlir;

#include "compiler/Transforms/Graph/Split/PiecesInterface.cpp.inc"

namespace plim::graph {

void registerPieces(DialectRegistry &registry) {
  registerElementwisePieces(registry);
  registerMovementPieces(registry);
  registerReductionPieces(registry);
  registerWindowPieces(registry);
}

solver::SplitWay rowsOf(Operation *op, int64_t axis) {
  ArrayRef<int64_t> dims = staticDims(op->getResult(0));
  solver::SplitWay way;
  way.axis = int(axis);
  for (Value operand : op->getOperands()) {
    ArrayRef<int64_t> own = staticDims(operand);
    int64_t at = axis - int64_t(dims.size()) + int64_t(own.size());
    bool follows = at >= 0 && own[size_t(at)] == dims[size_t(axis)] && !layoutOf(operand.getType());
    way.operands.push_back({follows ? int(at) : -1});
  }
  return way;
}

Value cloneOn(OpBuilder &b, Operation *op, ValueRange operands) {
  Operation *copy = op->cloneWithoutRegions();
  copy->setOperands(operands);
  auto infer = dyn_cast<InferTypeOpInterface>(copy);
  SmallVector<Type> types;
  if (!infer || failed(infer.inferReturnTypes(op->getContext(), std::nullopt, copy->getOperands(),
                                              copy->getDiscardableAttrDictionary(), copy->getPropertiesStorage(),
                                              copy->getRegions(), types))) {
    copy->destroy();
    return {};
  }
  copy->getResult(0).setType(types.front());
  return b.insert(copy)->getResult(0);
}

} // namespace plim::graph
