//===- FitModule.h - All programs of a module under one budget ---------------------------------===//
#ifndef PLIM_COMPILER_PIPELINES_FITMODULE_H
#define PLIM_COMPILER_PIPELINES_FITMODULE_H

#include "compiler/Emit/PlanReport.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"

namespace plim {

enum class FitStatus { Done, Budget, Internal };

struct FitOutcome {
  FitStatus status = FitStatus::Done;
  std::vector<plan::PlanRefusal> refusals; // where it is Budget

  /// The smallest budget of the ram that all programs meet, where some are refused.
  int64_t need() const;
};

/// Every program from stage virtual to placed. Programs share the constants in memory, so which are kept there under a
/// budget is decided for all of them together (plan::solveTogether). `facts` gets the predicted times.
FitOutcome fitModule(plan::ModuleOp module, const plan::FitRequest &request, emit::PlanFacts &facts);

/// What each program of a module in stage virtual, which stays so, could have alone at other budgets (plan::curveOf),
/// by program. Nothing where planning fails, which has been reported.
std::optional<std::vector<std::vector<plan::CurvePoint>>>
curvesOf(plan::ModuleOp module, const plan::FitRequest &request, llvm::ArrayRef<int64_t> budgets);

/// What a budget of the ram must hold for a program of the table: all that is reserved for it, and its inputs and
/// outputs where those count.
int64_t ramNeeded(const plim_table *table, uint32_t program, bool countIO);

/// Hashes of streamed constants, which the weight file has given them, go into the copies that read them.
void hashStreamedConstants(plan::ModuleOp module);

} // namespace plim

#endif
