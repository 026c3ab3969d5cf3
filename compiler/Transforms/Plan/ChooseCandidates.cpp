//===- ChooseCandidates.cpp - One kernel a launch ---------------------------------------------===//
//
// --plan-choose-candidates
//
//===----------------------------------------------------------------------------------------------===//

#include "compiler/Transforms/Plan/Budget.h"
#include "compiler/Transforms/Plan/Passes.h"

namespace plim::plan {

#define GEN_PASS_DEF_PLANCHOOSECANDIDATES
#include "compiler/Transforms/Plan/Passes.h.inc"

namespace {
struct ChooseCandidates : impl::PlanChooseCandidatesBase<ChooseCandidates> {
  using PlanChooseCandidatesBase::PlanChooseCandidatesBase;

  void runOnOperation() override {
    mlir::FailureOr<FitRequest> request = parseRequest(getOperation(), ram, excludeIO);
    if (mlir::failed(request))
      return signalPassFailure();
    request->levers = kNoLevers;
    request->levers.choose = true;
    bool ok = true;
    for (ProgramOp program : programsIn(getOperation(), Stage::Virtual))
      ok &= mlir::succeeded(choose(program, *request));
    if (!ok)
      signalPassFailure();
  }

  mlir::LogicalResult choose(ProgramOp program, const FitRequest &request) {
    mlir::FailureOr<PlanProblem> extracted = extractProblem(program, request);
    if (mlir::failed(extracted))
      return mlir::failure();
    mlir::FailureOr<solver::Solution> solution = solve(*extracted, request);
    if (mlir::failed(solution)) {
      extracted->refusal->emit();
      return mlir::failure();
    }
    applyCandidates(*extracted, *solution);
    return mlir::success();
  }
};
} // namespace

} // namespace plim::plan
