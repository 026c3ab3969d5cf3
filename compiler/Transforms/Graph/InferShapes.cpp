//===- InferShapes.cpp - --graph-infer-shapes ---------------------------------------------------------===//

#include "compiler/Transforms/Graph/Passes.h"

using namespace mlir;

namespace plim::graph {
#define GEN_PASS_DEF_GRAPHINFERSHAPES
#include "compiler/Transforms/Graph/Passes.h.inc"

namespace {

/// What is known of a value that has both types; they are compatible.
Type meetTypes(Type declared, Type inferred) {
  if (layoutOf(declared))
    return declared;
  Dims dims = dimsOf(declared);
  for (auto [dim, other] : llvm::zip(dims, dimsOf(inferred)))
    dim = meet(dim, other);
  return tensorOf(dims, elementTypeOf(declared));
}

/// What is known of a value that has one type or the other.
Type joinTypes(Type a, Type b) {
  Dims dims = dimsOf(a);
  for (auto [dim, other] : llvm::zip(dims, dimsOf(b)))
    dim = {std::min(dim.lo, other.lo), std::max(dim.hi, other.hi)};
  return tensorOf(dims, elementTypeOf(a));
}

LogicalResult refine(Operation *op, unsigned result, Type inferred) {
  Value value = op->getResult(result);
  if (!areCompatible(inferred, value.getType()))
    return op->emitOpError("needs a result of type ") << inferred << ", has " << value.getType();
  value.setType(meetTypes(value.getType(), inferred));
  return success();
}

struct InferShapes : impl::GraphInferShapesBase<InferShapes> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (failed(inferBlocks(function.getBody())))
      return signalPassFailure();
    SmallVector<Type> results(function.getFunctionType().getResults());
    function.walk([&](func::ReturnOp op) { results.assign(op.getOperandTypes().begin(), op.getOperandTypes().end()); });
    function.setFunctionType(FunctionType::get(&getContext(), function.getBody().front().getArgumentTypes(), results));
  }

  LogicalResult inferBlocks(Region &region) {
    for (Block &block : region)
      for (Operation &op : llvm::make_early_inc_range(block))
        if (failed(infer(&op)))
          return failure();
    return success();
  }

  /// What a loop carries is what it starts with or what a trip gives; a stack has a slice for each trip.
  LogicalResult inferLoop(LoopOp loop) {
    for (unsigned i = 0; i < loop.getNumResults(); ++i) {
      Type slice = loop.getYielded(i).getType();
      if (i >= loop.getCarriedCount()) {
        Dims dims = dimsOf(slice);
        dims.insert(dims.begin(), Dim(0, loop.getMaxTrips()));
        if (failed(refine(loop, i, tensorOf(dims, elementTypeOf(slice)))))
          return failure();
        continue;
      }
      if (failed(refine(loop, i, joinTypes(loop.getInitial()[i].getType(), slice))))
        return failure();
      loop.getCarried(i).setType(loop.getResult(i).getType());
    }
    return success();
  }

  LogicalResult infer(Operation *op) {
    if (auto fused = dyn_cast<FusedOp>(op))
      for (auto [argument, input] : llvm::zip(fused.getBody().getArguments(), fused.getInputs()))
        argument.setType(input.getType());
    for (Region &region : op->getRegions())
      if (failed(inferBlocks(region)))
        return failure();
    if (auto fused = dyn_cast<FusedOp>(op)) {
      for (auto [i, type] : llvm::enumerate(fused.getYield().getOperandTypes()))
        if (failed(refine(op, i, type)))
          return failure();
    } else if (auto branch = dyn_cast<IfOp>(op)) {
      auto onTrue = branch.getThenRegion().front().getTerminator()->getOperandTypes();
      auto onFalse = branch.getElseRegion().front().getTerminator()->getOperandTypes();
      for (unsigned i = 0; i < branch->getNumResults(); ++i)
        if (failed(refine(op, i, joinTypes(onTrue[i], onFalse[i]))))
          return failure();
    }
    if (auto loop = dyn_cast<LoopOp>(op); loop && failed(inferLoop(loop)))
      return failure();
    auto shaped = dyn_cast<InferTypeOpInterface>(op);
    if (!shaped)
      return success();
    SmallVector<Type> types;
    if (failed(shaped.inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(),
                                       op->getDiscardableAttrDictionary(), op->getPropertiesStorage(), op->getRegions(),
                                       types)))
      return failure();
    for (auto [i, type] : llvm::enumerate(types))
      if (failed(refine(op, i, type)))
        return failure();
    // Constants let the shapes that depend on them become static.
    OpBuilder b(op);
    SmallVector<Value> folded;
    if (succeeded(b.tryFold(op, folded)) && !folded.empty()) {
      op->replaceAllUsesWith(folded);
      op->erase();
    }
    return success();
  }
};

} // namespace
} // namespace plim::graph
