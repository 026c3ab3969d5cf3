//===- DequantizedWeight.h - Weights that are stored narrow and widened before use ------------------------===//
#ifndef PLIM_COMPILER_TRANSFORMS_GRAPH_DEQUANTIZEDWEIGHT_H
#define PLIM_COMPILER_TRANSFORMS_GRAPH_DEQUANTIZEDWEIGHT_H

#include "mlir/IR/PatternMatch.h"
#include <optional>

namespace plim::graph {

/// A value that is (stored - zero) * scale, spelt out in cast, sub and mul: the casts keep every number of `stored`,
/// integers of 8 bits or floats of 16, and all three depend on parameters and constants only. Where the ops work on the
/// value in blocks, a reshape lies between.
struct DequantizedWeight {
  mlir::Value stored;
  mlir::Value scale, zero; // null for 1 and 0; they broadcast to the blocks
  mlir::Value blocks;      // the value before the reshape, or null

  /// Nothing where the value has no such form, or is as narrow as what is stored.
  static std::optional<DequantizedWeight> of(mlir::Value value);
  /// The same of 8-bit integers that a run computes, with one scale and zero for all.
  static std::optional<DequantizedWeight> ofActivation(mlir::Value value);
  /// The zero in the element type of `stored`, reshaped; null for 0.
  mlir::Value zeroAs(mlir::PatternRewriter &rewriter, mlir::Location loc, llvm::ArrayRef<int64_t> dims) const;
};

/// A dequantised matrix on the right of a product, as quantized_matmul takes it.
struct QuantizedMatrix {
  struct Operands {
    mlir::Value stored;      // [K, N]
    mlir::Value scale, zero; // [G, N], or null
    mlir::Value rows;        // factors of the matrix's rows, that is of the columns of the left side, [K]; or null
  };

  /// Nothing where quantized_matmul has no form for the scale or the zero. `transposed`: the weight is [N, K].
  static std::optional<QuantizedMatrix> of(const DequantizedWeight &weight, bool transposed);
  /// Whether the scale is one a row of the matrix.
  bool hasRowScale() const { return scalesRows; }
  /// The operands at the insertion point.
  Operands build(mlir::PatternRewriter &rewriter, mlir::Location loc) const;

  DequantizedWeight weight;
  bool transposed;
  int64_t k = 0, n = 0, groups = 1;

private:
  QuantizedMatrix(const DequantizedWeight &weight, bool transposed) : weight(weight), transposed(transposed) {}
  /// A scale or zero over the two dimensions of the weight: 1, all, or the groups of each.
  std::optional<llvm::SmallVector<int64_t>> matrixShape(mlir::Value value) const;
  mlir::Value turned(mlir::PatternRewriter &rewriter, mlir::Location loc, mlir::Value matrix) const;
  mlir::Value spread(mlir::PatternRewriter &rewriter, mlir::Location loc, mlir::Value value) const;

  llvm::SmallVector<int64_t> shape;     // of the weight, in two dimensions
  std::optional<size_t> blockDimension; // of the stored one, along which scale and zero are equal
  bool scalesRows = false;
};

/// Products and convolutions of dequantised activations by dequantised weights, as those of integers.
void populateIntegerProductPatterns(mlir::RewritePatternSet &patterns);

} // namespace plim::graph

#endif
