//===- EvalFunctions.cpp - The functions that EVAL steps call ---------------------------------------===//

#include "compiler/Lowering/PlanTable/EncodeProgram.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace plim::plan;

uint32_t plim::plan::evalFunction(std::vector<EvalOp> &functions, EvalOp eval) {
  for (auto [number, known] : llvm::enumerate(functions))
    if (known.getInputs().size() == eval.getInputs().size() &&
        OperationEquivalence::isRegionEquivalentTo(&known.getBody(), &eval.getBody(),
                                                   OperationEquivalence::IgnoreLocations))
      return number;
  functions.push_back(eval);
  return functions.size() - 1;
}

OwningOpRef<mlir::ModuleOp> plim::plan::buildEvalFunctions(MLIRContext *context, ArrayRef<EvalOp> evals) {
  context->loadDialect<func::FuncDialect>();
  OpBuilder builder(context);
  OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(builder, builder.getUnknownLoc());
  for (auto [number, entry] : llvm::enumerate(evals)) {
    EvalOp eval = entry;
    builder.setInsertionPointToEnd(module->getBody());
    SmallVector<Type> inputs(eval.getInputs().size(), builder.getIndexType());
    SmallVector<Type> outputs(eval.getNumResults(), builder.getIndexType());
    auto function = func::FuncOp::create(builder, builder.getUnknownLoc(), ("eval_" + Twine(number)).str(),
                                         builder.getFunctionType(inputs, outputs));
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToStart(block);
    IRMapping mapping;
    mapping.map(eval.getBody().getArguments(), block->getArguments());
    for (Operation &op : eval.getBody().front().without_terminator())
      builder.clone(op, mapping);
    auto results = llvm::map_to_vector(eval.getBody().front().back().getOperands(),
                                       [&](Value value) { return mapping.lookupOrDefault(value); });
    func::ReturnOp::create(builder, builder.getUnknownLoc(), results);
  }
  return module;
}
