//===- PlanDialect.td - The plan dialect ------------------------------*- tablegen -*-===//

#ifndef PLIM_PLAN_DIALECT_TD
#define PLIM_PLAN_DIALECT_TD

include "mlir/IR/DialectBase.td"
include "mlir/IR/OpBase.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::plim::plan";
  let summary = "Steps over sized byte buffers";
  let description = [{
    A plan is a list of steps over untyped byte ranges. Shape, element type, strides and layout sit on the operands of a
    launch, not on the buffers, so that one buffer may hold differently shaped values, be an alias of a part of another
    one, or hold a packed matrix.

    A program passes three stages:

    - `virtual`: buffers have sizes but no place; a launch may have several candidates (kernels).
    - `tiered`: every buffer has a tier and a recorded offset; a launch has one candidate; transfers are steps.
    - `placed`: buffers are views of arenas at fixed offsets, their births and deaths are steps. A placed program and the
      step table (runtime/include/plim/table.h) are the same thing in two notations.

    Program order is issue order. Every step has an effect on the program, so that no generic pass merges or drops one.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerPlanAttributes();
    void registerPlanTypes();
  }];
}

#endif
