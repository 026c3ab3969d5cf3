//===- PieceFacts.h - Which launches of a plan are pieces of an op -----------------------------===//
#ifndef PLIM_COMPILER_PIPELINES_PIECEFACTS_H
#define PLIM_COMPILER_PIPELINES_PIECEFACTS_H

#include "compiler/Emit/PlanReport.h"
#include "dialects/Plan/PlanDialect.h"

namespace plim {

/// The rows that the launches of each program make, for its facts, which must be there by name and variant.
void addPieceFacts(plan::ModuleOp module, emit::PlanFacts &facts);

} // namespace plim

#endif
