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
    mlir::FailureOr<FitRequest> request = parseRequest(getOperation(), ram, excludeIO);
    if (mlir::failed(request))
      return signalPassFailure();
    request->levers = kNoLevers;
    request->levers.move = true;
    if (mlir::failed(fitPrograms(getOperation(), *request)))
      signalPassFailure();
  }
};
} // namespace

} // namespace plim::plan
