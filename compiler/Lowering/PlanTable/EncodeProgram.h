//===- EncodeProgram.h - One program of a step table -----------------------------------*- C++ -*-===//
#pragma once

#include "compiler/Lowering/PlanTable/TableBuilder.h"

#include "llvm/ADT/DenseMap.h"

namespace plim::plan {

/// Numbers of what the programs of a module share.
struct ModuleNumbers {
  llvm::DenseMap<mlir::StringAttr, uint32_t> constants, states, arenas;
  llvm::DenseMap<mlir::StringAttr, uint64_t> constantOffsets; // in the weight file
  std::vector<EvalOp> evals;                                  // one a function
};

/// Appends the program's records. `first_commit_step`, counts and ranges are set; peaks are not.
plim_t_program encodeProgram(TableBuilder &table, ModuleNumbers &numbers, ProgramOp program, uint32_t variant);

/// The number of the function that this eval calls; a new one where no equal body is known.
uint32_t evalFunction(std::vector<EvalOp> &functions, EvalOp eval);

} // namespace plim::plan
