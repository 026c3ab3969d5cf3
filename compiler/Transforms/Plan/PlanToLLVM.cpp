//===- PlanToLLVM.cpp - Placed programs as an LLVM module -----------------------------------===//
//
// --plan-to-llvm
//
//===----------------------------------------------------------------------------------------------===//

#include "compiler/Lowering/PlanToLLVM/PlanToLLVM.h"
#include "compiler/Transforms/Plan/Passes.h"

namespace plim::plan {

#define GEN_PASS_DEF_PLANTOLLVM
#include "compiler/Transforms/Plan/Passes.h.inc"

namespace {
struct PlanToLLVM : impl::PlanToLLVMBase<PlanToLLVM> {
  using PlanToLLVMBase::PlanToLLVMBase;

  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    lowering::registerPlanToLLVMDialects(registry);
  }

  void runOnOperation() override {
    mlir::Block *body = getOperation().getBody();
    for (ModuleOp plan : llvm::make_early_inc_range(body->getOps<ModuleOp>())) {
      mlir::FailureOr<EncodedTable> table = encodeTable(plan);
      if (mlir::failed(table))
        return signalPassFailure();
      std::string prefix = plan.getSymName() ? plan.getSymName()->str() : name.getValue();
      mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> lowered = lowering::planToLLVM(&getContext(), *table, prefix);
      if (mlir::failed(lowered))
        return signalPassFailure();
      plan.erase();
      body->getOperations().splice(body->end(), (*lowered)->getBody()->getOperations());
    }
  }
};
} // namespace

} // namespace plim::plan
