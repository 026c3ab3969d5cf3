//===- Budget.h - Budgets as options of passes -------------------------------------------*- C++ -*-===//
#pragma once

#include "compiler/Lowering/PlanProblem/PlanProblem.h"

namespace plim::plan {

/// A request from the text of an option; fails with an error at the module where it is no size.
mlir::FailureOr<FitRequest> parseRequest(ModuleOp module, llvm::StringRef ram, bool excludeIO);

/// The programs of a module that are in this stage.
llvm::SmallVector<ProgramOp> programsIn(ModuleOp module, Stage stage);

} // namespace plim::plan
