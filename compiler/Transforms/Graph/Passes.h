//===- Passes.h - Passes over the graph dialect ----------------------------------------------------===//
#ifndef PLIM_COMPILER_TRANSFORMS_GRAPH_PASSES_H
#define PLIM_COMPILER_TRANSFORMS_GRAPH_PASSES_H

#include "dialects/Graph/GraphDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace plim::graph {

#define GEN_PASS_DECL
#include "compiler/Transforms/Graph/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "compiler/Transforms/Graph/Passes.h.inc"

} // namespace plim::graph

#endif
