//===- Recompute.cpp - Values dropped and made again ----------------------------------------===//
//
// --plan-recompute
//
//===----------------------------------------------------------------------------------------------===//

#include "compiler/Transforms/Plan/Budget.h"
#include "compiler/Transforms/Plan/Passes.h"

namespace plim::plan {

#define GEN_PASS_DEF_PLANRECOMPUTE
#include "compiler/Transforms/Plan/Passes.h.inc"

namespace {
struct Recompute : impl::PlanRecomputeBase<Recompute> {
  using PlanRecomputeBase::PlanRecomputeBase;

  void runOnOperation() override {
    mlir::FailureOr<FitRequest> request = parseRequest(getOperation(), ram, excludeIO);
    if (mlir::failed(request))
      return signalPassFailure();
    request->levers = kNoLevers;
    request->levers.recompute = true;
    if (mlir::failed(fitPrograms(getOperation(), *request)))
      signalPassFailure();
  }
};
} // namespace

} // namespace plim::plan
