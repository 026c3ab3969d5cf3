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
    solver::Levers levers = kAllLevers;
    levers.stream = !noStream;
    if (mlir::failed(fitPrograms(getOperation(), levers, ram, excludeIO, ssd)))
      signalPassFailure();
  }
};
} // namespace

} // namespace plim::plan
