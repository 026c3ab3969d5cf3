//===- PlanToLLVM.h - A step table and what it calls, in the LLVM dialect -----------------===//
//
// What a model's object holds beside generated kernels: the table (constant, no relocations), the functions of its
// evals, and one small struct of pointers, <prefix>_model. Kernels are declared by symbol, so that a program links just
// those it uses; so is the symbol of the kernel ABI: another runtime fails at link time.
//
//===---------------------------------------------------------------------------------------===//
#ifndef PLIM_COMPILER_LOWERING_PLANTOLLVM_PLANTOLLVM_H
#define PLIM_COMPILER_LOWERING_PLANTOLLVM_PLANTOLLVM_H

#include "compiler/Lowering/PlanTable/PlanTable.h"

namespace plim::lowering {

/// Dialects that planToLLVM makes ops of.
void registerPlanToLLVMDialects(mlir::DialectRegistry &registry);

/// The module of a table, whose evals all have bodies. A kernel that the library does not have is a symbol of its name.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> planToLLVM(mlir::MLIRContext *context,
                                                              const plan::EncodedTable &table, llvm::StringRef prefix);

} // namespace plim::lowering

#endif
