//===- LowerToLLVM.h - Loops over vectors to the LLVM dialect ---*- C++ -*-===//
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace plim::gen {

void registerLoweringDialects(mlir::DialectRegistry &registry);
/// Those that loops over vectors are written in.
void loadLoweringDialects(mlir::MLIRContext &context);

/// The passes from scf, vector, math, memref, func and arith to the LLVM dialect; memrefs become bare pointers.
void addLoweringPasses(mlir::PassManager &passes);

/// Replaces elementary functions by polynomials and transposes by shuffles, then runs `passes` as set up above.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module, mlir::PassManager &passes);

} // namespace plim::gen
