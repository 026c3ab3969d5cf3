//===- FromGraph.h - Graph ops to regions -----------------------*- C++ -*-===//
//
//   FailureOr<SmallVector<gen::Region>> parts = gen::regionsFromOp(op, [&] { return op->emitError(); });
//   FailureOr<gen::KernelInfo> kernel = object.addKernel(*parts, op->getLoc());
//
// Buffers are numbered: operands of the op first, then its results. The op may be graph.fused, an elementwise op, a
// reduction or an op that decomposes into these, transpose, broadcast, reshape, fill, concat, slice or pad.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Lowering/Generated/Axes.h"
#include "compiler/Lowering/Generated/Region.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace plim::gen {

/// Where the elements of a tensor lie in its buffer, in elements; no strides: row-major.
struct View {
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
};

/// The regions of one kernel that computes `op`. `views` are those of operands and results; missing ones are row-major.
/// Without `emitError`, a quiet question whether a kernel can be generated.
mlir::FailureOr<llvm::SmallVector<Region>> regionsFromOp(mlir::Operation *op, EmitError emitError = nullptr,
                                                         llvm::ArrayRef<View> views = {});

/// The element type as kernels know it, or failure.
mlir::FailureOr<plim_dtype> dtypeOf(mlir::Type element);

llvm::SmallVector<int64_t> rowMajor(llvm::ArrayRef<int64_t> shape);

/// Whether an op has an operand or result with open dimensions.
bool isOpen(mlir::Operation *op);
/// Of an op on rows whose number is open (OpenRows.h): the region on the most rows, by `regionOf` of the op on these.
mlir::FailureOr<Region> regionOfRows(mlir::Operation *op, EmitError emitError,
                                     llvm::function_ref<mlir::FailureOr<Region>(mlir::Operation *)> regionOf);

/// For concat, slice and pad: copies, one region a piece of the result.
mlir::FailureOr<llvm::SmallVector<Region>> regionsFromMove(mlir::Operation *op, EmitError emitError,
                                                           llvm::ArrayRef<View> views);

} // namespace plim::gen
