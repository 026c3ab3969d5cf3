//===- PriceKernels.h - Predicted times of kernels on another machine --------------------------===//
#ifndef PLIM_COMPILER_PIPELINES_PRICEKERNELS_H
#define PLIM_COMPILER_PIPELINES_PRICEKERNELS_H

#include "compiler/Solver/Profile/MachineProfile.h"
#include "dialects/Plan/PlanDialect.h"

namespace plim {

/// Candidates of launches in stage virtual, and the copies that their aliases save, are priced for this machine in
/// place of the built-in one. Tasks and workspaces stay: what a kernel does never depends on a profile.
void priceKernels(plan::ModuleOp module, const solver::MachineProfile &profile);

} // namespace plim

#endif
