//===- PlanSteps.h - Questions about steps that passes and the encoder share ----------*- C++ -*-===//
#pragma once

#include "dialects/Plan/PlanDialect.h"

namespace plim::plan {

/// A buffer operand of a step and what the step does with it. A launch's workspace is read and written.
struct BufferUse {
  mlir::OpOperand *operand;
  AccessMode mode;
  bool reads() const { return static_cast<uint32_t>(mode) & 1; }
  bool writes() const { return static_cast<uint32_t>(mode) & 2; }
};

/// Of a launch, copy, fill or load_scalar; empty for any other operation.
llvm::SmallVector<BufferUse> bufferUses(mlir::Operation *step);

/// Becomes records of the step table's STEPS (everything but buffers, views and terminators of regions).
bool isStep(mlir::Operation *op);

/// Records of STEPS that an operation becomes, its regions included.
int64_t countTableSteps(mlir::Operation *op);

/// The alloc, resident, view of an arena or block argument that a buffer is a part of.
mlir::Value rootBuffer(mlir::Value buffer);

/// The state whose bytes a root buffer is: of a resident, or of an io that is a state; null for any other.
mlir::FlatSymbolRefAttr stateOf(mlir::Value root);

/// The token of a step, or null.
mlir::Value tokenOf(mlir::Operation *step);

/// Calls `visit` for each step in program order, with the number of its (first) record in STEPS.
void forEachStep(ProgramOp program, llvm::function_ref<void(mlir::Operation *, int64_t)> visit);

/// The number of the first step that writes a state, or nothing.
std::optional<int64_t> firstStateWrite(ProgramOp program);

/// The operation of `block` that holds `op`, at any depth; null where there is none.
inline mlir::Operation *ancestorIn(mlir::Block *block, mlir::Operation *op) {
  return block->findAncestorOpInBlock(*op);
}

} // namespace plim::plan
