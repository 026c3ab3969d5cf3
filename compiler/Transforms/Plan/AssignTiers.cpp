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
    mlir::FailureOr<FitRequest> request = parseRequest(getOperation(), ram, excludeIO, ssd);
    if (mlir::failed(request))
      return signalPassFailure();
    request->levers = kNoLevers;
    request->levers.spill = true;
    request->levers.stream = !noStream;
    if (mlir::failed(fitPrograms(getOperation(), *request)))
      signalPassFailure();
  }
};
} // namespace

} // namespace plim::plan
