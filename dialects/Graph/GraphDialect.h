//===- GraphDialect.h - The graph dialect --------------------------------------------------------------===//
//
//   FailureOr<ConvOp> conv = graph::tryCreate<ConvOp>(b, loc, x, w, bias, Value(), strides, pads);
//   Value sum = AddOp::create(b, loc, x, y);       // where the types are known to fit
//   Value dims = b.createOrFold<ShapeOfOp>(loc, x); // a constant where the shape is static
//
// Builders infer result types. OpTy::create stops the program where inference fails; tryCreate and tryCreateOrFold emit
// the diagnostic and return failure, and are for operands that a user's model gave.
//
//===----------------------------------------------------------------------------------------------------===//
#ifndef PLIM_DIALECTS_GRAPH_GRAPHDIALECT_H
#define PLIM_DIALECTS_GRAPH_GRAPHDIALECT_H

#include "dialects/Graph/Candidates.h"
#include "dialects/Graph/GraphTraits.h"
#include "dialects/Graph/Shape.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Graph/GraphDialect.h.inc"

#include "dialects/Graph/GraphEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Graph/GraphAttrs.h.inc"

#include "dialects/Graph/GraphInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/Graph/ElementwiseOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/ReductionOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/LinearAlgebraOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/QuantizedOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/ConvolutionOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/PoolingOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/NormalizationOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/AttentionOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/DataMovementOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/IndexingOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/StateOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/ControlOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/DynamicOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Graph/RecurrentOps.h.inc"

namespace plim::graph {

/// The encoding of a packed tensor type, or nullopt for row-major ones.
std::optional<StorageLayout> layoutOf(mlir::Type type);

/// Repeats of resizes that share a loop nest (ResizeOp::getRepeats): in each dimension equal, or 1. Merges `more` into
/// `joint`, which is empty at first; false, and nothing changed, where they do not agree.
bool joinRepeats(llvm::SmallVectorImpl<int64_t> &joint, llvm::ArrayRef<int64_t> more);

/// Whether an operand gives sizes or starts (DynamicOps.td) and no data.
bool isSizeOperand(mlir::OpOperand &operand);

namespace detail {
/// Infers the result types of a state whose types are unset; emits the diagnostic and fails where that is impossible.
llvm::LogicalResult inferInto(mlir::OpBuilder &b, mlir::OperationState &state);

/// How many results every instance of an op has.
template <typename OpTy, size_t n = 2>
constexpr size_t kResults =
    OpTy::template hasTrait<mlir::OpTrait::OneResult>()                    ? 1
    : OpTy::template hasTrait<mlir::OpTrait::NResults<n>::template Impl>() ? n
                                                                           : kResults<OpTy, n + 1>;
template <typename OpTy> constexpr size_t kResults<OpTy, 8> = 0;

template <typename OpTy, size_t... I, typename... Args>
void buildWithNullTypes(mlir::OpBuilder &b, mlir::OperationState &state, std::index_sequence<I...>, Args &&...args) {
  OpTy::build(b, state, ((void)I, mlir::Type())..., std::forward<Args>(args)...);
}
} // namespace detail

/// Creates an op whose result types are inferred from `args` (operands, then attributes, as for OpTy::create).
template <typename OpTy, typename... Args>
llvm::FailureOr<OpTy> tryCreate(mlir::OpBuilder &b, mlir::Location loc, Args &&...args) {
  constexpr size_t results = detail::kResults<OpTy>;
  mlir::OperationState state(loc, OpTy::getOperationName());
  detail::buildWithNullTypes<OpTy>(b, state, std::make_index_sequence<results>(), std::forward<Args>(args)...);
  if (failed(detail::inferInto(b, state)))
    return llvm::failure();
  return llvm::cast<OpTy>(b.create(state));
}

/// The same for ops of one result; folds where the op's folder can, so that shape arithmetic becomes constants.
template <typename OpTy, typename... Args>
llvm::FailureOr<mlir::Value> tryCreateOrFold(mlir::OpBuilder &b, mlir::Location loc, Args &&...args) {
  llvm::FailureOr<OpTy> op = tryCreate<OpTy>(b, loc, std::forward<Args>(args)...);
  if (failed(op))
    return llvm::failure();
  llvm::SmallVector<mlir::Value, 1> folded;
  if (succeeded(b.tryFold(op->getOperation(), folded)) && !folded.empty()) {
    op->getOperation()->erase();
    return folded.front();
  }
  return (*op)->getResult(0);
}

} // namespace plim::graph

#endif
