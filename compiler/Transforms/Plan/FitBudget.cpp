//===- FitBudget.cpp - All levers together ----------------------------------------------------===//
//
// --plan-fit-budget
//
//===----------------------------------------------------------------------------------------------===//

#include "compiler/Transforms/Plan/Budget.h"
#include "compiler/Transforms/Plan/Passes.h"

namespace plim::plan {

#define GEN_PASS_DEF_PLANFITBUDGET
#include "compiler/Transforms/Plan/Passes.h.inc"

namespace {
struct FitBudget : impl::PlanFitBudgetBase<FitBudget> {
  using PlanFitBudgetBase::PlanFitBudgetBase;

  void runOnOperation() override {
    mlir::FailureOr<FitRequest> request = parseRequest(getOperation(), ram, excludeIO, ssd);
    if (mlir::failed(request))
      return signalPassFailure();
    request->levers.stream = !noStream;
    if (mlir::failed(fitPrograms(getOperation(), *request)))
      signalPassFailure();
  }
};
} // namespace

} // namespace plim::plan
