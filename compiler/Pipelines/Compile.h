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

#include "compiler/Import/Onnx/ImportOptions.h"
#include "compiler/Lowering/GraphToPlan/GraphToPlan.h"
#include "compiler/Pipelines/Variants.h"
#include "compiler/Solver/Profile/MachineProfile.h"
#include <functional>
#include <optional>

namespace plim {

/// Exit codes of plimc.
enum class CompileStatus { Done = 0, Usage = 1, Model = 2, Budget = 3, Environment = 4, Internal = 70 };

/// Where compilation stops, for looking at the stages.
enum class EmitStage { Artifact, Import, Graph, Virtual, Problem, Plan };

struct CompileOptions {
  std::string modelPath, outputFolder;
  std::string name = "model"; // a C name; prefixes every symbol
  onnx::ImportOptions import;
  std::optional<int64_t> ramBudget;
  /// Several budgets, by rising bytes, and then no ramBudget: a variant of every entry for each.
  std::vector<Budget> budgets;
  /// Not 0: so many, chosen between the smallest that is met and the one that no plan needs more than.
  int64_t variants = 0;
  std::optional<int64_t> ssdBudget; // bytes that may be spilled
  bool stream = true;               // constants may stay in the weight file until they are needed
  bool curve = false;               // plan for other budgets too, and say what they take
  solver::MachineProfile profile;
  bool countIO = true;      // the caller's inputs and outputs count against the budget
  bool reuseInputs = false; // a run may overwrite inputs after their last read
  int64_t workers = 8;      // of the plan, an upper bound
  uint32_t jobs = 1;        // threads of @setup
  lowering::KernelChoice choice;
  /// Pieces of rows (docs/concepts/splitting.md): "auto" where the budget is not met otherwise, of weights too; "off";
  /// or a plan. All variants are of the same pieces: with several budgets, "auto" makes some where the smallest one
  /// asks for them.
  std::string split = "auto";
  /// Weights of more bytes are cut into pieces of at most so many; where it is empty, "auto" may do so.
  std::optional<int64_t> splitWeights;
  bool planOnly = false; // plan and report, but write no artifact
  EmitStage stage = EmitStage::Artifact;
  std::function<void(const std::string &phase)> progress;
};

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
