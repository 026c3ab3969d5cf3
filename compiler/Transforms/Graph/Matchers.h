//===- Matchers.h - Questions that graph patterns ask of values -----------------------------------------===//
#ifndef PLIM_COMPILER_TRANSFORMS_GRAPH_MATCHERS_H
#define PLIM_COMPILER_TRANSFORMS_GRAPH_MATCHERS_H

#include "dialects/Graph/GraphDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace plim::graph {

/// The number that all elements of a constant are, if the value is such a constant.
std::optional<double> splatOf(mlir::Value value);
/// Whether the value is a constant whose elements all equal `number` up to the rounding of f32.
bool isSplatNear(mlir::Value value, double number);
/// Whether the value depends on parameters and constants only.
bool isSetupValue(mlir::Value value);
/// Whether the value is a weight that is worth computing once: it depends on parameters and constants only, and is not
/// dequantised from 8-bit integers, which would take four times their memory; unless it is packed for a kernel that
/// takes floats only.
bool isHoistable(mlir::Value value);
/// Shape of a static tensor.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);
bool hasStaticShape(mlir::Value value);
/// The defining op if it is an OpTy whose only use is the one asked for, in the same block: what moves to its use must
/// not move into a loop.
template <typename OpTy> OpTy singleUse(mlir::Value value) {
  OpTy op = value.getDefiningOp<OpTy>();
  return op && value.hasOneUse() && (*value.user_begin())->getBlock() == op->getBlock() ? op : OpTy();
}
/// For a binary op with an operand that `matches`: that operand, then the other.
template <typename OpTy>
std::optional<std::pair<mlir::Value, mlir::Value>> commute(OpTy op, llvm::function_ref<bool(mlir::Value)> matches) {
  if (matches(op.getLhs()))
    return std::make_pair(mlir::Value(op.getLhs()), mlir::Value(op.getRhs()));
  if (matches(op.getRhs()))
    return std::make_pair(mlir::Value(op.getRhs()), mlir::Value(op.getLhs()));
  return std::nullopt;
}
/// The inverse of a permutation.
llvm::SmallVector<int64_t> inverseOf(llvm::ArrayRef<int64_t> permutation);

} // namespace plim::graph

#endif
