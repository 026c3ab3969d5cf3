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
    solver::Levers levers = kNoLevers;
    levers.recompute = true;
    if (mlir::failed(fitPrograms(getOperation(), levers, ram, excludeIO)))
      signalPassFailure();
  }
};
} // namespace

} // namespace plim::plan
