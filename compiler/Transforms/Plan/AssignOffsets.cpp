//===- AssignOffsets.cpp - From offsets to views of arenas ------------------------------------===//
//
// --plan-assign-offsets
//
//===----------------------------------------------------------------------------------------------===//

#include "compiler/Transforms/Plan/Budget.h"
#include "compiler/Transforms/Plan/Passes.h"

namespace plim::plan {

#define GEN_PASS_DEF_PLANASSIGNOFFSETS
#include "compiler/Transforms/Plan/Passes.h.inc"

namespace {
struct AssignOffsets : impl::PlanAssignOffsetsBase<AssignOffsets> {
  using PlanAssignOffsetsBase::PlanAssignOffsetsBase;

  void runOnOperation() override {
    FitRequest request;
    request.levers = kNoLevers;
    bool ok = true;
    for (ProgramOp program : programsIn(getOperation(), Stage::Virtual))
      ok &= mlir::succeeded(fitProgram(program, request));
    if (!ok)
      return signalPassFailure();
    for (ProgramOp program : programsIn(getOperation(), Stage::Tiered))
      ok &= mlir::succeeded(placeProgram(program));
    if (!ok || mlir::failed(recordPeaks(getOperation())))
      signalPassFailure();
  }
};
} // namespace

} // namespace plim::plan
