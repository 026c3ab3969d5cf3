//===- Passes.h - From the graph to the plan dialect ---------------------------------------===//
#ifndef PLIM_COMPILER_LOWERING_GRAPHTOPLAN_PASSES_H
#define PLIM_COMPILER_LOWERING_GRAPHTOPLAN_PASSES_H

#include "mlir/Pass/Pass.h"

namespace plim::lowering {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/Lowering/GraphToPlan/Passes.h.inc"
} // namespace plim::lowering

#endif
