//===- Variants.h - One artifact for several budgets ---------------------------------------------===//
#ifndef PLIM_COMPILER_PIPELINES_VARIANTS_H
#define PLIM_COMPILER_PIPELINES_VARIANTS_H

#include "compiler/Pipelines/ChoosePlan.h"
#include "compiler/Pipelines/JoinVariants.h"

namespace plim {

/// The name that plimc gives a budget of its own: the largest binary unit of which it is a whole number, "12MiB".
std::string budgetName(int64_t bytes);

/// `count` budgets by rising bytes, in equal ratios from the smallest that all entries meet to the one that no plan
/// needs more than; each rounded up by at most a 64th. Fewer where two would be one. Empty where planning fails, which
/// has been reported.
std::vector<Budget> proposeBudgets(PlanChooser &chooser, const CompileOptions &options);

/// Every entry once for each budget, by rising bytes and of unlike names, in one module in stage placed: program
/// @entry.name of variant `name`. Each budget has the plan that PlanChooser chooses for it alone, but that weights are
/// in pieces in all variants where one asks for that. Constants and states are there once; the weight file has first
/// what the smallest budget keeps in memory, then what the next one keeps beside that, so that each variant reserves a
/// part of it from its start, which counts against its budget. Where the plans do not fit so, each keeps what the
/// smaller ones keep. A budget that gains no time over a smaller one gets no variant, with a remark. All budgets that
/// are refused are named in one error.
CompileStatus fitVariants(PlanChooser &chooser, const CompileOptions &options, llvm::ArrayRef<Budget> budgets,
                          JoinedVariants &joined, emit::PlanFacts &facts);

} // namespace plim

#endif
