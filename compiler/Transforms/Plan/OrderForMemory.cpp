//===- OrderForMemory.cpp - An order in which less is alive -----------------------------------===//
//
// --plan-order-for-memory
//
//===----------------------------------------------------------------------------------------------===//

#include "compiler/Transforms/Plan/Budget.h"
#include "compiler/Transforms/Plan/Passes.h"

#include "compiler/Solver/Order.h"

namespace plim::plan {

#define GEN_PASS_DEF_PLANORDERFORMEMORY
#include "compiler/Transforms/Plan/Passes.h.inc"

namespace {
struct OrderForMemory : impl::PlanOrderForMemoryBase<OrderForMemory> {
  using PlanOrderForMemoryBase::PlanOrderForMemoryBase;

  void runOnOperation() override {
    for (ProgramOp program : programsIn(getOperation(), Stage::Virtual))
      if (mlir::failed(orderProgram(program)))
        return signalPassFailure();
  }

  mlir::LogicalResult orderProgram(ProgramOp program) {
    mlir::FailureOr<PlanProblem> extracted = extractProblem(program, FitRequest());
    if (mlir::failed(extracted))
      return mlir::failure();
    solver::Context context(extracted->problem);
    solver::Draft draft = solver::fastestDraft(extracted->problem);
    solver::orderForMemory(context, draft, rounds);
    applyOrder(*extracted, draft.order);
    return mlir::success();
  }
};
} // namespace

} // namespace plim::plan
