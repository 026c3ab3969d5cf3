//===- Inference.cpp - The graph passes of an inference compile --------------------------------===//
#include "compiler/Pipelines/Inference.h"
#include "compiler/Lowering/GraphToPlan/Passes.h"
#include "compiler/Transforms/Graph/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace plim {

void buildSizesPipeline(OpPassManager &passes) {
  passes.addNestedPass<func::FuncOp>(lowering::createGraphResolveSizesPass());
}

void buildGraphPipeline(OpPassManager &passes) {
  passes.addNestedPass<func::FuncOp>(graph::createGraphInferShapes());
  // Before scales of activations become factors of weights; once more for what simplification brings to light.
  passes.addNestedPass<func::FuncOp>(graph::createGraphFoldDequantize());
  passes.addNestedPass<func::FuncOp>(graph::createGraphSimplify());
  passes.addNestedPass<func::FuncOp>(graph::createGraphFuseAttention());
  passes.addNestedPass<func::FuncOp>(graph::createGraphWidenHalves());
  passes.addNestedPass<func::FuncOp>(graph::createGraphFoldDequantize());
  passes.addNestedPass<func::FuncOp>(graph::createGraphAssignLayouts());
  // Layouts bring bias, activation and residual next to their convolutions only now.
  passes.addNestedPass<func::FuncOp>(graph::createGraphSimplify());
  passes.addPass(graph::createGraphHoistSetup());
  passes.addNestedPass<func::FuncOp>(graph::createGraphFuseElementwise());
  passes.addPass(createCSEPass());
}

void buildInferencePipeline(OpPassManager &passes) {
  buildSizesPipeline(passes);
  buildGraphPipeline(passes);
}

} // namespace plim
