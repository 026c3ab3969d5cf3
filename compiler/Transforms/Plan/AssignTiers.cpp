//===- AssignTiers.cpp - Values spilled, constants streamed ---------------------------------===//
//
// --plan-assign-tiers
//
//===----------------------------------------------------------------------------------------------===//

#include "compiler/Transforms/Plan/Budget.h"
#include "compiler/Transforms/Plan/Passes.h"

namespace plim::plan {

#define GEN_PASS_DEF_PLANASSIGNTIERS
#include "compiler/Transforms/Plan/Passes.h.inc"

namespace {
struct AssignTiers : impl::PlanAssignTiersBase<AssignTiers> {
  using PlanAssignTiersBase::PlanAssignTiersBase;

  void runOnOperation() override {
    solver::Levers levers = kNoLevers;
    levers.spill = true;
    levers.stream = !noStream;
    if (mlir::failed(fitPrograms(getOperation(), levers, ram, excludeIO, ssd)))
      signalPassFailure();
  }
};
} // namespace

} // namespace plim::plan
