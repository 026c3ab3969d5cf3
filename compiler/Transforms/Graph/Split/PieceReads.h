//===- PieceReads.h - When a stage makes and reads rows of its values -----------------------------===//
#ifndef PLIM_COMPILER_TRANSFORMS_GRAPH_SPLIT_PIECEREADS_H
#define PLIM_COMPILER_TRANSFORMS_GRAPH_SPLIT_PIECEREADS_H

#include "compiler/Solver/Split/Split.h"
#include "llvm/ADT/SmallVector.h"

namespace plim::graph {

/// Runs are counted through all pieces of a stage. `problem` and `rows` must outlive this.
class PieceReads {
public:
  PieceReads(const solver::SplitProblem &problem, const solver::StageRows &rows);

  /// What is read of a value around a run: from when rows of it were made last, or the piece began, until rows of it
  /// are made again, or the piece ends.
  struct Span {
    llvm::SmallVector<solver::RowRange, 4> reads;
    bool endsHere = false;        // no later run of the span reads it
    int64_t laterRow = INT64_MAX; // the first row that is read after the span
    int64_t since = 0;            // runs since rows of it were made last
  };
  Span around(int value, int64_t run) const;

private:
  struct Read {
    int64_t run;
    solver::RowRange rows;
  };
  struct Value {
    llvm::SmallVector<Read, 0> reads;
    llvm::SmallVector<int64_t, 0> made;      // runs
    llvm::SmallVector<int64_t, 0> laterRows; // by read: the first row that it and those after it read
  };
  llvm::SmallVector<Value, 0> values;
  llvm::SmallVector<int64_t> pieceEnds; // runs
};

} // namespace plim::graph

#endif
