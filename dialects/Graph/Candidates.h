//===- Candidates.h - How a graph op is run and cut: what lowering tells the planner -------------------===//
//
// Plain structs, so that the dialect links no kernel. compiler/Lowering fills them by external models of the interfaces
// CandidatesOpInterface and SplitOpInterface. A size is an expression of the sizes that a caller gives (symbols); where
// everything is static, a constant.
//
//===----------------------------------------------------------------------------------------------------===//
#ifndef PLIM_DIALECTS_GRAPH_CANDIDATES_H
#define PLIM_DIALECTS_GRAPH_CANDIDATES_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <string>

namespace plim::graph {

enum class Access { Read, Write, ReadWrite };

/// The sizes of the values of a function.
class SizeSource {
public:
  virtual ~SizeSource() = default;
  virtual llvm::ArrayRef<mlir::AffineExpr> sizesOf(mlir::Value value) const = 0;
  /// Strides of the value as it lies, in elements: row-major, but for what is part of a state laid out at its bound.
  virtual llvm::SmallVector<mlir::AffineExpr> stridesOf(mlir::Value value) const = 0;
  /// The entries of a tensor of sizes (DynamicOps.td) that an op has for an operand.
  virtual llvm::SmallVector<mlir::AffineExpr> entriesOf(mlir::Value value) const = 0;
  /// The largest value that an expression has in any run.
  virtual int64_t largest(mlir::AffineExpr size) const = 0;
};

/// One buffer of a launch: a value of the graph (an operand or a result of the op) and how the kernel touches it.
/// `dims` and `strides` (in elements) are how the kernel sees the value, whatever its type; a stride of 0 repeats. The
/// operand starts `offset` elements into the value.
struct LaunchOperand {
  mlir::Value value;
  Access access = Access::Read;
  llvm::SmallVector<mlir::AffineExpr> dims, strides;
  mlir::AffineExpr offset; ///< None: at the start.
};

/// One kernel that can run an op.
struct KernelCandidate {
  std::string kernel;               ///< Name in the kernel registry.
  llvm::SmallVector<int64_t> attrs; ///< 8-byte words; doubles are bit-cast.
  llvm::SmallVector<LaunchOperand> operands;
  uint32_t tasks = 1;
  int64_t sharedBytes = 0;      ///< Workspace of the launch.
  int64_t scratchBytes = 0;     ///< Workspace of each worker.
  int64_t flops = 0, bytes = 0; ///< Arithmetic, and bytes moved to and from memory.
  int64_t nanoseconds = 0;      ///< Predicted time on one worker of the default machine profile.
  std::string numericsClass;    ///< Candidates of one class give the same bits.
};

} // namespace plim::graph

#endif
