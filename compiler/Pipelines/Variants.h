//===- Variants.h - One module under several budgets --------------------------------------------===//
#ifndef PLIM_COMPILER_PIPELINES_VARIANTS_H
#define PLIM_COMPILER_PIPELINES_VARIANTS_H

#include "compiler/Pipelines/FitModule.h"

namespace plim {

/// Bytes of the ram, and what the variant that meets them is called.
struct Budget {
  std::string name;
  int64_t bytes = 0;
};

/// The name that plimc gives a budget of its own: the largest binary unit of which it is a whole number, "12MiB".
std::string budgetName(int64_t bytes);

/// `count` budgets by rising bytes, in equal ratios from the smallest that all programs meet to the one that no plan
/// needs more than; each rounded up by at most a 64th. Fewer where two would be one. Empty where planning fails, which
/// has been reported.
std::vector<Budget> proposeBudgets(plan::ModuleOp virtualForm, const plan::FitRequest &request, int64_t count);

/// One error that names all budgets below the need.
void reportRefused(mlir::Location loc, llvm::ArrayRef<Budget> budgets, int64_t need);

/// Every entry of a module in stage virtual once for each budget, by rising bytes and of unlike names, in one module in
/// stage placed: program @entry.name of variant `name`. Constants and states are there once; the weight file has first
/// what the smallest budget keeps in memory, then what the next one keeps beside that, so that each variant reserves a
/// part of it from its start, which counts against its budget. A budget that gains no time over a smaller one gets no
/// variant, with a remark. All budgets that are refused are named in one error. `joined` gets the module, `facts` what
/// fitModule gives for each program, with the curve at the smallest budget.
FitOutcome fitVariants(plan::ModuleOp virtualForm, const plan::FitRequest &request, llvm::ArrayRef<Budget> budgets,
                       bool curve, mlir::OwningOpRef<plan::ModuleOp> &joined, emit::PlanFacts &facts);

} // namespace plim

#endif
