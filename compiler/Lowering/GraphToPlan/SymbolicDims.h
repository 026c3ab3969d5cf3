//===- SymbolicDims.h - The sizes of values as expressions of the caller's sizes ----------===//
//
// A dynamic dimension of an argument is a symbol; dimensions of equal name are one symbol. From there on the shape rule
// of each op gives the sizes of its results as expressions of the symbols: [N, S, 768] reshaped to [-1, 768] is
// [N * S, 768], a window of 3 with stride 2 over H gives (H - 3) floordiv 2 + 1. What an op needs of sizes that are not
// equal by their expressions becomes a condition, which a run checks before its first step.
//
//===---------------------------------------------------------------------------------------===//
#ifndef PLIM_COMPILER_LOWERING_GRAPHTOPLAN_SYMBOLICDIMS_H
#define PLIM_COMPILER_LOWERING_GRAPHTOPLAN_SYMBOLICDIMS_H

#include "compiler/Lowering/Candidates/Candidates.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace plim::lowering {

class SymbolicDims : public graph::SizeSource {
public:
  /// Symbol k is the affine symbol s<k>.
  struct Symbol {
    std::string name;
    graph::Dim bounds;
  };
  /// A run needs lower <= value <= upper.
  struct Condition {
    mlir::AffineExpr value;
    int64_t lower = 0, upper = 0;
    mlir::Operation *op = nullptr;
    std::string message;
  };

  /// Sizes of all values of the function's block. Fails with a diagnostic at each op whose sizes no expression gives.
  static mlir::FailureOr<SymbolicDims> analyse(mlir::func::FuncOp function);

  llvm::ArrayRef<Symbol> symbols() const { return allSymbols; }
  llvm::ArrayRef<Condition> conditions() const { return allConditions; }
  SizesRef sizesOf(mlir::Value value) const override;
  Sizes stridesOf(mlir::Value value) const override;
  int64_t largest(mlir::AffineExpr size) const override { return rangeOf(size).hi; }
  /// What the bounds of the symbols say about an expression; the lower end may be negative.
  graph::Dim rangeOf(mlir::AffineExpr size) const;
  /// Bytes of a value at its largest, padding of a packed layout included.
  int64_t largestBytes(mlir::Value value) const;

private:
  explicit SymbolicDims(mlir::MLIRContext *context) : context(context) {}
  mlir::LogicalResult addArguments(mlir::func::FuncOp function);
  mlir::AffineExpr symbol(llvm::StringRef name, graph::Dim bounds);
  mlir::LogicalResult addResults(mlir::Operation *op);

  mlir::MLIRContext *context;
  std::vector<Symbol> allSymbols;
  std::vector<Condition> allConditions;
  llvm::DenseMap<mlir::Value, Sizes> sizes;
};

/// The sizes of one op's results by its shape rule, or failure with a reason. Gathers what the op needs of its
/// operands.
class SizeRule {
public:
  SizeRule(mlir::Operation *op, const SymbolicDims &known, std::vector<SymbolicDims::Condition> &conditions)
      : op(op), known(known), conditions(conditions), context(op->getContext()) {}

  mlir::FailureOr<llvm::SmallVector<Sizes>> infer();
  /// Why infer() failed.
  std::string reason;

private:
  mlir::FailureOr<Sizes> refuse(const llvm::Twine &why) {
    reason = why.str();
    return mlir::failure();
  }
  mlir::AffineExpr number(int64_t value) const { return mlir::getAffineConstantExpr(value, context); }
  Sizes of(mlir::Value value) const { return Sizes(known.sizesOf(value)); }
  void need(mlir::AffineExpr value, int64_t lower, int64_t upper, const llvm::Twine &message);
  /// One size for two that must be equal.
  mlir::AffineExpr equal(mlir::AffineExpr a, mlir::AffineExpr b);
  void equalAll(SizesRef a, SizesRef b);
  Sizes broadcast(SizesRef a, SizesRef b);

  mlir::FailureOr<Sizes> sizes();
  Sizes elementwise();
  Sizes matmul(graph::MatmulOp matmul);
  Sizes attention(graph::AttentionOp attention);
  Sizes reduced(mlir::Value input, llvm::ArrayRef<int64_t> axes, bool keepDims);
  template <typename OpTy> Sizes convolution(OpTy conv, bool transposed);
  mlir::FailureOr<Sizes> pool(graph::PoolOp pool);
  mlir::FailureOr<Sizes> resize(graph::ResizeOp resize);
  mlir::FailureOr<Sizes> reshape(graph::ReshapeOp reshape);
  Sizes broadcastTo(graph::BroadcastOp broadcast);
  Sizes slice(graph::SliceOp slice);
  Sizes concat(graph::ConcatOp concat);
  Sizes pad(graph::PadOp pad);
  Sizes gather(graph::GatherOp gather);
  Sizes gatherNd(graph::GatherNdOp gather);
  Sizes oneHot(graph::OneHotOp oneHot);
  llvm::SmallVector<Sizes> recurrence(graph::RecurrenceOp net);

  mlir::Operation *op;
  const SymbolicDims &known;
  std::vector<SymbolicDims::Condition> &conditions;
  mlir::MLIRContext *context;
};

} // namespace plim::lowering

#endif
