//===- Simplify.h - The groups of patterns of --graph-simplify --------------------------------------------===//
#ifndef PLIM_COMPILER_TRANSFORMS_GRAPH_SIMPLIFY_H
#define PLIM_COMPILER_TRANSFORMS_GRAPH_SIMPLIFY_H

#include "mlir/IR/PatternMatch.h"

namespace plim::graph {

/// max/min/clip with constants, hard_sigmoid, hard_swish, silu and gelu as exporters write them out.
void populateActivationPatterns(mlir::RewritePatternSet &patterns);
/// layer_norm as exporters write it out, and its scale and bias.
void populateNormPatterns(mlir::RewritePatternSet &patterns);
/// Batch norms, constant factors and constant summands into the weights of a convolution.
void populateAffinePatterns(mlir::RewritePatternSet &patterns);
/// Bias, residual and activation into matmul and convolution; padding into convolution and pooling.
void populateEpiloguePatterns(mlir::RewritePatternSet &patterns);

} // namespace plim::graph

#endif
