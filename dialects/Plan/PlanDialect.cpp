//===- PlanDialect.cpp - Registration of the plan dialect --------------------------------------===//

#include "dialects/Plan/PlanDialect.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace plim::plan;

#include "dialects/Plan/PlanDialect.cpp.inc"

void PlanDialect::initialize() {
  registerPlanAttributes();
  registerPlanTypes();
  addOperations<
#define GET_OP_LIST
#include "dialects/Plan/PlanOps.cpp.inc"
      >();
}
