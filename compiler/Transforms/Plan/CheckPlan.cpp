//===- CheckPlan.cpp - Independent check of placed programs -----------------------------------===//
//
// --plan-check
//
//===----------------------------------------------------------------------------------------------===//

#include "compiler/Check/CheckTable.h"
#include "compiler/Lowering/PlanTable/PlanTable.h"
#include "compiler/Transforms/Plan/Budget.h"
#include "compiler/Transforms/Plan/Passes.h"

namespace plim::plan {

#define GEN_PASS_DEF_PLANCHECK
#include "compiler/Transforms/Plan/Passes.h.inc"

namespace {
struct CheckPlan : impl::PlanCheckBase<CheckPlan> {
  using PlanCheckBase::PlanCheckBase;

  void runOnOperation() override {
    mlir::FailureOr<EncodedTable> table = encodeTable(getOperation());
    if (mlir::failed(table))
      return signalPassFailure();
    std::vector<std::string> faults = check::checkTable(table->bytes.table());
    for (const std::string &fault : faults)
      mlir::emitError(getOperation().getLoc()) << fault;
    if (!faults.empty())
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace plim::plan
