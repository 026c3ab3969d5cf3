//===- Inference.h - The graph passes of an inference compile ----------------------------------===//
#ifndef PLIM_COMPILER_PIPELINES_INFERENCE_H
#define PLIM_COMPILER_PIPELINES_INFERENCE_H

#include "mlir/Pass/PassManager.h"

namespace plim {

/// Budget-free passes from an imported module to one whose ops are what graph-to-plan lowers: @main on activations,
/// @setup for what depends on weights alone. Registered as --inference.
void buildInferencePipeline(mlir::OpPassManager &passes);

} // namespace plim

#endif
