//===- MoveBuffers.cpp - Live buffers slide -------------------------------------------------===//
//
// --plan-move-buffers
//
//===----------------------------------------------------------------------------------------------===//

#include "compiler/Transforms/Plan/Budget.h"
#include "compiler/Transforms/Plan/Passes.h"

namespace plim::plan {

#define GEN_PASS_DEF_PLANMOVEBUFFERS
#include "compiler/Transforms/Plan/Passes.h.inc"

namespace {
struct MoveBuffers : impl::PlanMoveBuffersBase<MoveBuffers> {
  using PlanMoveBuffersBase::PlanMoveBuffersBase;

  void runOnOperation() override {
    solver::Levers levers = kNoLevers;
    levers.move = true;
    if (mlir::failed(fitPrograms(getOperation(), levers, ram, excludeIO)))
      signalPassFailure();
  }
};
} // namespace

} // namespace plim::plan
