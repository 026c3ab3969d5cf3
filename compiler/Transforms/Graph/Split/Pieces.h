//===- Pieces.h - Graph ops in pieces of rows ----------------------------------------------------===//
//
// Each family of ops has its models of PiecesOpInterface in one file. To let an op be split: a model there (for most
// ops `rowsOf` and a clone) and a line in the registration of that file.
//
//===------------------------------------------------------------------------------------------------===//
#ifndef PLIM_COMPILER_TRANSFORMS_GRAPH_SPLIT_PIECES_H
#define PLIM_COMPILER_TRANSFORMS_GRAPH_SPLIT_PIECES_H

#include "compiler/Solver/Split/Split.h"
#include "dialects/Graph/GraphDialect.h"

namespace plim::graph {

/// On an op that makes rows of another one's result: number of the piece, pieces of its stage, and the rows
/// [begin, end) of `extent`, as an array of five.
inline constexpr llvm::StringLiteral kPieceAttr = "graph.piece";

/// Rows of the result (of a carried sum: of its first operand), and of each operand that is cut.
struct Piece {
  const solver::SplitWay &way;
  solver::RowRange rows;
  llvm::ArrayRef<solver::RowRange> reads;
};

} // namespace plim::graph

#include "compiler/Transforms/Graph/Split/PiecesInterface.h.inc"

namespace plim::graph {

/// Attaches the models of all families.
void registerPieces(mlir::DialectRegistry &registry);
void registerElementwisePieces(mlir::DialectRegistry &registry);
void registerMovementPieces(mlir::DialectRegistry &registry);
void registerReductionPieces(mlir::DialectRegistry &registry);
void registerWindowPieces(mlir::DialectRegistry &registry);

/// The static dimensions of a value.
inline llvm::ArrayRef<int64_t> staticDims(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

/// For each operand that has the result's size at an axis counted from the back: that axis, row by row; the others
/// whole. What broadcasting as in numpy comes to.
solver::SplitWay rowsOf(mlir::Operation *op, int64_t axis);

/// The op on other operands, its result type inferred anew; null where inference fails.
mlir::Value cloneOn(mlir::OpBuilder &b, mlir::Operation *op, mlir::ValueRange operands);

} // namespace plim::graph

#endif
