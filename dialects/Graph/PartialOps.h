//===- PartialOps.h - Ops that go on from piece to piece -------------------------------------------------===//
#ifndef PLIM_DIALECTS_GRAPH_PARTIALOPS_H
#define PLIM_DIALECTS_GRAPH_PARTIALOPS_H

#include "dialects/Graph/GraphDialect.h"

#define GET_OP_CLASSES
#include "dialects/Graph/PartialOps.h.inc"

namespace plim::graph {

/// On an op: the numerics class of the kernels that may run it, those of a piece being those of the whole.
inline constexpr llvm::StringLiteral kNumericsAttr = "graph.numerics";

/// On a slice: it is a copy, so that what it is taken from can end.
inline constexpr llvm::StringLiteral kCopyAttr = "graph.copy";

} // namespace plim::graph

#endif
