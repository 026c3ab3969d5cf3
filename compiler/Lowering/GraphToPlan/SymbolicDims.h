//===- SymbolicDims.h - The sizes of values as expressions of the caller's sizes ----------===//
//
// A dynamic dimension of an argument is a symbol; dimensions of equal name are one symbol. From there on the shape rule
// of each op gives the sizes of its results as expressions of the symbols: [N, S, 768] reshaped to [-1, 768] is
// [N * S, 768], a window of 3 with stride 2 over H gives (H - 3) floordiv 2 + 1. What an op needs of sizes that are not
// equal by their expressions becomes a condition, which a run checks before its first step.
//
// The size of a state that grows is a symbol too, whose value the session holds (StateSizes.h).
//
// Shape arithmetic on integer tensors is done on expressions too (SizeArithmetic.h). What no expression of sizes gives,
// the number of nonzero elements or a shape that is an input, is a symbol of its own: a run reads it from memory before
// the first op that needs it, and checks its bounds then.
//
//===---------------------------------------------------------------------------------------===//
#ifndef PLIM_COMPILER_LOWERING_GRAPHTOPLAN_SYMBOLICDIMS_H
#define PLIM_COMPILER_LOWERING_GRAPHTOPLAN_SYMBOLICDIMS_H

#include "compiler/Lowering/Candidates/Candidates.h"
#include "compiler/Lowering/GraphToPlan/StateSizes.h"
#include "dialects/Graph/PartialOps.h"
#include "dialects/Graph/SizeArithmetic.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"

namespace plim::lowering {

/// A size of a result of graph.if or graph.loop that the plan's own plan.if or plan.loop computes.
struct RegionSize {
  unsigned result, dim;
  unsigned outside = 0;           ///< symbol of the result's size
  std::optional<unsigned> inside; ///< of what a loop carries: symbol of the size in the body
};

class SymbolicDims : public graph::SizeSource {
public:
  /// Symbol k is the affine symbol s<k>. Those that the caller's dimensions give come first.
  struct Symbol {
    std::string name;
    graph::Dim bounds;
    bool isState = false; ///< the size of a state: the session holds it
  };
  /// How a run gets the value of a symbol that the caller does not give. It is known from `op` on.
  struct Definition {
    enum Kind { Load, Min, Max } kind;
    unsigned symbol;
    mlir::Operation *op;
    mlir::Value tensor; ///< Load: an element of an integer tensor
    int64_t element = 0;
    mlir::AffineExpr a, b; ///< Min, Max
  };
  /// A run needs lower <= value <= upper.
  struct Condition {
    mlir::AffineExpr value;
    int64_t lower = 0, upper = 0;
    mlir::Operation *op = nullptr;
    std::string message;
  };

  /// Marks a reshape whose sizes, each at its bound, have more elements than the value that it would be a view of: it
  /// is a copy then.
  static constexpr llvm::StringLiteral kCopies = "graph.copies";

  /// Sizes of all values of the function's block. Fails with a diagnostic at each op whose sizes no expression gives.
  static mlir::FailureOr<SymbolicDims> analyse(mlir::func::FuncOp function);

  /// Those that the caller gives: symbols [0, callerSymbols().size()).
  llvm::ArrayRef<Symbol> callerSymbols() const { return llvm::ArrayRef(allSymbols).take_front(callerCount); }
  size_t symbolCount() const { return allSymbols.size(); }
  /// The other ones, in the order of their numbers.
  llvm::ArrayRef<Definition> definitions() const { return allDefinitions; }
  llvm::ArrayRef<Condition> conditions() const { return allConditions; }
  /// Sizes of states that grow: symbols [callerSymbols().size(), + stateSymbols().size()).
  llvm::ArrayRef<Symbol> stateSymbols() const { return llvm::ArrayRef(allSymbols).slice(callerCount, stateCount); }
  const StateSizes &growingStates() const { return states; }
  /// Whether sizes that the caller gives and those of states say it all.
  bool isKnownAtStart(mlir::AffineExpr value) const { return namesOnly(value, callerCount + stateCount); }
  /// Whether a value is shape arithmetic through and through, so that a run need not compute it from its operands.
  bool isMadeOfSizes(mlir::Value value) const;
  SizesRef arithmeticOf(mlir::Value value) const { return entries.at(value); }
  llvm::SmallVector<mlir::AffineExpr> entriesOf(mlir::Value value) const override;
  SizesRef sizesOf(mlir::Value value) const override;
  Sizes stridesOf(mlir::Value value) const override;
  int64_t largest(mlir::AffineExpr size) const override { return rangeOf(size).hi; }
  /// What the bounds of the symbols say about an expression; the lower end may be negative.
  graph::Dim rangeOf(mlir::AffineExpr size) const;
  /// Bytes of a value at its largest, padding of a packed layout included.
  int64_t largestBytes(mlir::Value value) const;
  /// Of a graph.if or graph.loop: sizes that are symbols of their own. What a loop carries comes before the number of
  /// its trips, which the first size of a stack is.
  llvm::ArrayRef<RegionSize> regionSizes(mlir::Operation *op) const { return regions.at(op).sizes; }
  /// The number of the trip in a loop's body, a symbol.
  mlir::AffineExpr regionIteration(graph::LoopOp loop) const { return regions.at(loop).iteration; }

private:
  friend class SizeRule;
  class Arithmetic;
  /// Null where no expression gives an entry.
  using Entries = Sizes;

  explicit SymbolicDims(mlir::MLIRContext *context) : context(context) {}
  graph::Dim rangeOfBinary(mlir::AffineBinaryOpExpr size) const;
  mlir::LogicalResult addArguments(mlir::func::FuncOp function);
  mlir::AffineExpr symbol(llvm::StringRef name, graph::Dim bounds, bool isState = false);
  mlir::LogicalResult addResults(mlir::Operation *op);

  // States (StateSizes.cpp).
  /// Symbols of the states that a function reads or assigns, and which values lie in them.
  void addStates(mlir::func::FuncOp function);
  /// A value that is assigned keeps the bound of its state, which the run checks.
  void limitGrowth(mlir::Value value);
  /// Gathers what the sizes are in the end; fails where states of one symbol grow apart.
  mlir::LogicalResult addAssigned(mlir::func::FuncOp function);
  std::string describe(mlir::AffineExpr size) const;

  // Branches and loops (RegionSizes.cpp).
  struct Regions {
    llvm::SmallVector<RegionSize> sizes;
    mlir::AffineExpr iteration;
  };
  using CarriedSize = std::pair<unsigned, unsigned>; // value and dimension
  mlir::LogicalResult addBlock(mlir::Block &block);
  mlir::LogicalResult addIf(graph::IfOp branch);
  mlir::LogicalResult addLoop(graph::LoopOp loop);
  mlir::FailureOr<bool> addTrips(graph::LoopOp loop, llvm::SetVector<CarriedSize> &varying);
  mlir::LogicalResult addStacks(graph::LoopOp loop, size_t before);
  void boundYield(mlir::Operation *yield, mlir::AffineExpr size, graph::Dim bounds);
  mlir::AffineExpr addRegionSymbol(graph::Dim bounds);

  void addEntries(mlir::Operation *op);
  /// Whether only the first `count` symbols occur.
  static bool namesOnly(mlir::AffineExpr value, size_t count);
  /// In the simplest form, so that equal sizes are equal expressions.
  mlir::AffineExpr simplified(mlir::AffineExpr expr) const;
  /// a / b, rounded down, of a >= 0 and b > 0.
  mlir::AffineExpr quotient(mlir::AffineExpr a, mlir::AffineExpr b) const;
  /// A symbol that the run reads, or computes: one that is known where `op` is, or a new one.
  mlir::AffineExpr define(Definition definition, graph::Dim bounds);
  mlir::AffineExpr smaller(mlir::AffineExpr a, mlir::AffineExpr b, mlir::Operation *op);
  mlir::AffineExpr larger(mlir::AffineExpr a, mlir::AffineExpr b, mlir::Operation *op);

  mlir::MLIRContext *context;
  size_t callerCount = 0, stateCount = 0;
  StateSizes states;
  std::vector<Symbol> allSymbols;
  std::vector<Definition> allDefinitions;
  std::vector<Condition> allConditions;
  llvm::DenseMap<mlir::Operation *, Regions> regions;
  llvm::DenseMap<mlir::Value, Sizes> sizes;
  llvm::DenseMap<mlir::Value, Entries> entries; // of integer tensors: what arithmetic over sizes gives
  llvm::DenseMap<mlir::Value, Entries> given;   // of tensors of sizes: with what a run reads
};

/// The sizes of one op's results by its shape rule, or failure with a reason. Gathers what the op needs of its
/// operands.
class SizeRule {
public:
  SizeRule(mlir::Operation *op, SymbolicDims &known)
      : op(op), known(known), conditions(known.allConditions), context(op->getContext()) {}

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
  Sizes partialGather(graph::PartialGatherOp gather);
  Sizes gatherNd(graph::GatherNdOp gather);
  Sizes oneHot(graph::OneHotOp oneHot);
  llvm::SmallVector<Sizes> recurrence(graph::RecurrenceOp net);

  // DynamicSizeRules.cpp
  /// Entries of a tensor of sizes; those that are read are within [0, most(i)].
  mlir::FailureOr<Sizes> given(mlir::Value sizes, llvm::function_ref<graph::Dim(size_t)> bounds);
  /// The sizes of the result that a tensor of sizes gives, none above `most`.
  mlir::FailureOr<Sizes> resultSizes(mlir::Value sizes, llvm::function_ref<int64_t(size_t)> most);
  mlir::FailureOr<Sizes> dynamicReshape(graph::DynamicReshapeOp reshape);
  mlir::FailureOr<Sizes> dynamicBroadcast(graph::DynamicBroadcastOp broadcast);
  mlir::FailureOr<Sizes> dynamicSlice(graph::DynamicSliceOp slice);
  mlir::FailureOr<Sizes> nonzero(graph::NonzeroOp nonzero);
  mlir::FailureOr<llvm::SmallVector<Sizes>> fused(graph::FusedOp fused);
  mlir::FailureOr<llvm::SmallVector<Sizes>> unique(graph::UniqueOp unique);
  mlir::FailureOr<llvm::SmallVector<Sizes>> nonMaxSuppression(graph::NonMaxSuppressionOp suppression);

  mlir::Operation *op;
  SymbolicDims &known;
  std::vector<SymbolicDims::Condition> &conditions;
  mlir::MLIRContext *context;
};

} // namespace plim::lowering

#endif
