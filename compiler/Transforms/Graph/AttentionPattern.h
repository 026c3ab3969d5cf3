//===- AttentionPattern.h - Attention as models write it out --------------------------------------------------===//
//
// softmax(scale q k^T + mask) v comes as a chain of ops whose inner values have one use each. The matcher walks it from
// the product with v down to the product with k, and collects what is on the way. It creates nothing: a caller rewrites
// only once everything fits.
//
//===----------------------------------------------------------------------------------------------------===//
#ifndef PLIM_COMPILER_TRANSFORMS_GRAPH_ATTENTIONPATTERN_H
#define PLIM_COMPILER_TRANSFORMS_GRAPH_ATTENTIONPATTERN_H

#include "compiler/Transforms/Graph/Matchers.h"

namespace plim::graph {

/// Scores below this are as good as hidden: exp gives 0 beside any other score.
constexpr double mostHidden = -1e4;

/// The op where it is a product of two operands of one rank, 3 to 5, without an activation; null otherwise.
MatmulOp headProduct(MatmulOp op);

/// What hides scores: added to them, or, with `keep`, a truth value that is false where they are hidden.
struct ScoreMask {
  mlir::Value added, keep;
  bool keepIsInverted = false;
  double hidden = 0; ///< what stands in the place of hidden scores
};

/// From the weights (the first operand of the product with v) down to the product with k.
struct WrittenScores {
  MatmulOp product;
  double scale = 1;
  llvm::SmallVector<ScoreMask> masks;
  /// Dimensions in front of [queries, keys] where masks are applied; those of the product where no reshape lies
  /// between.
  llvm::SmallVector<int64_t> lead;
};

std::optional<WrittenScores> matchScores(mlir::Value weights);

/// A number that all elements are, through functions of constants (sqrt, casts, reshapes) as well.
std::optional<double> scalarOf(mlir::Value value);

/// For an op that multiplies or divides by a number: what it scales, with its shape; multiplies `factor`. Null
/// otherwise.
mlir::Value scaledBy(mlir::Operation *op, double &factor);

/// Factors and divisors of a query or key, through changes of shape: the ops that scale (each has one use), and the
/// product of their factors.
struct FoundScale {
  llvm::SmallVector<std::pair<mlir::Operation *, mlir::Value>> bypasses; ///< an op, and what it scales
  double factor = 1;

  /// What a value scales, if its op is one of the bypassed; null otherwise.
  mlir::Value behind(mlir::Value value) const {
    for (auto [op, rest] : bypasses)
      if (value.getDefiningOp() == op)
        return rest;
    return {};
  }
};
FoundScale findScale(mlir::Value value);

/// A value whose heads (dimension `axis`) each repeat `repeats` times in a row, and the value before they did.
struct RepeatedHeads {
  mlir::Value source; ///< other ranks are possible: a reshape to `shape` gives the heads before they were repeated
  llvm::SmallVector<int64_t> shape;
  int64_t repeats;
};
std::optional<RepeatedHeads> matchRepeatedHeads(mlir::Value value, int64_t axis);

/// What a mask hides, where that is known at compile time.
enum class MaskKind { Nothing, Causal, Other };
/// Looks at a mask that is added to scores [..., queries, keys]. Causal: row i sees columns up to i + keys - queries.
MaskKind kindOf(const ScoreMask &mask, int64_t queries, int64_t keys);

} // namespace plim::graph

#endif
