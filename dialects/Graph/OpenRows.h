//===- OpenRows.h - Loops over rows whose number is a matter of the run --------------------------------===//
//
// [N, S, 384] with open N and S is N * S rows of 384 elements; so are [N, S, 1] and, repeated for every row, [384]. An
// op on such tensors that looks into rows only is one loop over the rows, whose strides no open size changes: code for
// the most rows there can be also runs fewer.
//
//===----------------------------------------------------------------------------------------------------===//
#ifndef PLIM_DIALECTS_GRAPH_OPENROWS_H
#define PLIM_DIALECTS_GRAPH_OPENROWS_H

#include "dialects/Graph/GraphDialect.h"

namespace plim::graph {

class OpenRows {
public:
  /// The rows of a tensor with open dimensions: its dimensions up to the last open one make them. Nothing where none is
  /// open, where there can be no two rows, or where the number has no bound.
  static std::optional<OpenRows> of(mlir::Type type);

  /// Dimensions that make the rows, and their largest number.
  unsigned leading() const { return unsigned(pattern.size()); }
  int64_t most() const { return rows; }
  /// The type with one dimension of most() rows and 1 in place of the others; of a tensor that is the same for every
  /// row, its own. Nothing for any other tensor.
  mlir::RankedTensorType closed(mlir::Type type) const;
  /// Whether an op looks into rows only.
  bool cover(mlir::Operation *op) const;

private:
  int64_t rank = 0, rows = 1;
  llvm::SmallVector<int64_t> pattern; // sizes of the leading dimensions
};

} // namespace plim::graph

#endif
