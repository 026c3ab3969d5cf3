//===- Inference.h - The graph passes of an inference compile ----------------------------------===//
#ifndef PLIM_COMPILER_PIPELINES_INFERENCE_H
#define PLIM_COMPILER_PIPELINES_INFERENCE_H

#include "mlir/Pass/PassManager.h"

namespace plim {

/// What shape arithmetic of an imported module comes to, said by types and attributes. An error is one of the model: a
/// size that has no bound.
void buildSizesPipeline(mlir::OpPassManager &passes);
/// The passes after it, which have no error of the model to report.
void buildGraphPipeline(mlir::OpPassManager &passes);
/// Both: budget-free passes from an imported module to one whose ops are what graph-to-plan lowers: @main on
/// activations, @setup for what depends on weights alone. Registered as --inference.
void buildInferencePipeline(mlir::OpPassManager &passes);

} // namespace plim

#endif
