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
    mlir::FailureOr<FitRequest> request = parseRequest(getOperation(), ram, excludeIO);
    if (mlir::failed(request))
      return signalPassFailure();
    bool ok = true;
    for (ProgramOp program : programsIn(getOperation(), Stage::Virtual))
      ok &= mlir::succeeded(fitProgram(program, *request));
    if (!ok)
      signalPassFailure();
  }
};
} // namespace

} // namespace plim::plan
