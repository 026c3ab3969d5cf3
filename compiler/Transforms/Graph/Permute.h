//===- Permute.h - Moving transposes through ops ----------------------------------------------------------===//
//
// A transpose costs a pass over memory; two that meet cancel. Where the operands of a transparent op
// (LayoutOpInterface) are transposed by one permutation, the op can run on what they transpose and its result be
// transposed instead.
//
//===----------------------------------------------------------------------------------------------------===//
#ifndef PLIM_COMPILER_TRANSFORMS_GRAPH_PERMUTE_H
#define PLIM_COMPILER_TRANSFORMS_GRAPH_PERMUTE_H

#include "mlir/IR/PatternMatch.h"

namespace plim::graph {

/// Transposes move down through transparent ops. Operands that are no transposes are transposed back where they are
/// weights or have at most an eighth of the result's elements.
void populateSinkTransposes(mlir::RewritePatternSet &patterns);
/// A transpose moves up through a transparent op where it then cancels against more transposes than appear anew.
void populateRaiseTransposes(mlir::RewritePatternSet &patterns);

} // namespace plim::graph

#endif
