//===- PiecesInterface.td - What splitting asks of graph ops -------------------------------------===//
#ifndef PLIM_GRAPH_PIECES_INTERFACE
#define PLIM_GRAPH_PIECES_INTERFACE

include "mlir/IR/OpBase.td"

// Implemented outside the dialect, as external models (Pieces.h).
def Graph_Pieces : OpInterface<"PiecesOpInterface"> {
  let cppNamespace = "::plim::graph";
  let description = [{
    An op of one result that can be computed in pieces along an axis. Static shapes only. Each row of a piece has the bits
    that it has in the whole result, where both run on kernels of one numerics class.
  }];
  let methods = [
    InterfaceMethod<[{
        Appends the ways to cut the op whose kernel is `kernel` (empty: a generated one), at most one for each axis.
      }], "void", "getSplitWays", (ins "::llvm::StringRef":$kernel,
                                   "::llvm::SmallVectorImpl<::plim::solver::SplitWay> &":$ways)>,
    InterfaceMethod<[{
        Builds the op for some rows of its result at the insertion point. `operands`: of those that are cut, the rows
        `piece.reads` of each. Null where the op has no such form.
      }], "::mlir::Value", "buildPiece", (ins "::mlir::OpBuilder &":$b, "const ::plim::graph::Piece &":$piece,
                                          "::mlir::ValueRange":$operands)>];
}

#endif
