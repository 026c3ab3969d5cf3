//===- Register.cpp - The one place where dialects and passes are registered ------------------===//

#include "compiler/Pipelines/Register.h"

#include "compiler/Lowering/Candidates/Candidates.h"
#include "compiler/Lowering/GraphToPlan/Passes.h"
#include "compiler/Pipelines/Inference.h"
#include "compiler/Transforms/Graph/Passes.h"
#include "compiler/Transforms/Graph/Split/Pieces.h"
#include "compiler/Transforms/Plan/Passes.h"
#include "dialects/Graph/GraphDialect.h"
#include "dialects/Plan/PlanDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/Passes.h"

namespace plim {

void registerAllPlimDialects(mlir::DialectRegistry &registry) {
  registry.insert<graph::GraphDialect, plan::PlanDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::math::MathDialect, mlir::scf::SCFDialect>();
  lowering::registerCandidates(registry);
  graph::registerPieces(registry);
}

void registerAllPlimPasses() {
  mlir::registerTransformsPasses();
  graph::registerGraphPasses();
  plan::registerPlanPasses();
  lowering::registerLoweringPasses();
  mlir::PassPipelineRegistration<>("inference", "The graph passes of an inference compile", buildInferencePipeline);
}

} // namespace plim
