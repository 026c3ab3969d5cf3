//===- CompileOptions.h - What a compile is asked for --------------------------------------------===//
#ifndef PLIM_COMPILER_PIPELINES_COMPILEOPTIONS_H
#define PLIM_COMPILER_PIPELINES_COMPILEOPTIONS_H

#include "compiler/Import/Onnx/ImportOptions.h"
#include "compiler/Lowering/GraphToPlan/GraphToPlan.h"
#include "compiler/Solver/Profile/MachineProfile.h"
#include <functional>
#include <optional>

namespace plim {

/// Bytes of the ram, and what the variant that meets them is called.
struct Budget {
  std::string name;
  int64_t bytes = 0;
};

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
  /// Pieces of rows (docs/concepts/splitting.md): "auto" where they are faster than what else meets a budget, of
  /// weights too; "off"; or a plan.
  std::string split = "auto";
  /// Weights of more bytes are cut into pieces of at most so many; where it is empty, "auto" may do so.
  std::optional<int64_t> splitWeights;
  bool planOnly = false; // plan and report, but write no artifact
  EmitStage stage = EmitStage::Artifact;
  std::function<void(const std::string &phase)> progress;
};

} // namespace plim

#endif
