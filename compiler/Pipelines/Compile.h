//===- Compile.h - The whole road: a model file in, an artifact out ---------------------------===//
//
//   import ▶ graph passes ▶ graph-to-plan ▶ fit the budget ▶ @setup and weights ▶ step table ▶ check ▶ object, headers
//
// The artifact is a folder: model.o, model.so, model.h, model.weights, model.plan.json, model.html. Files appear there
// whole and together, after everything else has succeeded. Equal input and options give equal bytes.
//
//===-------------------------------------------------------------------------------------------===//
#ifndef PLIM_COMPILER_PIPELINES_COMPILE_H
#define PLIM_COMPILER_PIPELINES_COMPILE_H

#include "compiler/Pipelines/CompileOptions.h"
#include "mlir/IR/MLIRContext.h"

namespace plim {

struct CompileResult {
  CompileStatus status = CompileStatus::Done;
  std::string planJson;    // docs/reference/plan-json.md; with the weights' length, but in planOnly their hash is 0
  std::string explanation; // for --explain
  std::string ir;          // of the stage asked for, or the planner's problem as text
};

/// What is wrong is emitted as diagnostics of `context`, whose registry is that of registerAllPlimDialects.
CompileResult compileModel(const CompileOptions &options, mlir::MLIRContext &context);

/// Removes what an interrupted compile left in its temporary folder. Async-signal-safe.
void removePartialArtifact();

} // namespace plim

#endif
