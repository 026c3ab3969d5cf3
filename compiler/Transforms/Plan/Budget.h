//===- Budget.h - Budgets as options of passes -------------------------------------------*- C++ -*-===//
#pragma once

#include "compiler/Lowering/PlanProblem/PlanProblem.h"

namespace plim::plan {

/// A request from the text of options; fails with an error at the module where one is no size.
mlir::FailureOr<FitRequest> parseRequest(ModuleOp module, llvm::StringRef ram, bool excludeIO,
                                         llvm::StringRef ssd = {});

/// In the order given, each launch with its first candidate that no flag bars.
inline constexpr solver::Levers kNoLevers = {.order = false, .choose = false};

/// All programs in stage virtual to tiered under the budgets that the options say, with these levers.
mlir::LogicalResult fitPrograms(ModuleOp module, const solver::Levers &levers, llvm::StringRef ram, bool excludeIO,
                                llvm::StringRef ssd = {});

/// The programs of a module that are in this stage.
llvm::SmallVector<ProgramOp> programsIn(ModuleOp module, Stage stage);

} // namespace plim::plan
