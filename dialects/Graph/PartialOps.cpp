//===- PartialOps.cpp - Ops that go on from piece to piece -----------------------------------------------===//

#include "dialects/Graph/PartialOps.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace plim::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/PartialOps.cpp.inc"

/// The sums of what is complete, and four that go on side by side.
static constexpr int64_t kSums = 5;

LogicalResult PartialMeanOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  StringRef name = "graph.partial_mean";
  auto input = cast<RankedTensorType>(adaptor.getInput().getType());
  if (input.getRank() != 4 || !input.hasStaticShape())
    return shapeError(loc, name,
                      "needs an input [N, rows, W, C] of static shape, has " + Twine(toString(dimsOf(input))));
  int64_t first = int64_t(adaptor.getFirst()), rows = int64_t(adaptor.getRows()), end = first + input.getDimSize(1);
  if (first < 0 || end > rows)
    return shapeError(loc, name,
                      "needs rows within [0, " + Twine(rows) + "), has [" + Twine(first) + ", " + Twine(end) + ")");
  if ((first > 0) != bool(adaptor.getSums()))
    return shapeError(loc, name, "needs sums where rows come before its own, and only there");
  int64_t images = input.getDimSize(0), channels = input.getDimSize(3);
  auto sums = RankedTensorType::get({images, kSums, channels}, input.getElementType());
  if (adaptor.getSums() && adaptor.getSums().getType() != sums)
    return shapeError(loc, name,
                      "needs sums " + Twine(toString(dimsOf(sums))) + ", has " +
                          toString(dimsOf(adaptor.getSums().getType())));
  if (end < rows)
    types.push_back(sums);
  else if (adaptor.getKeepDims())
    types.push_back(RankedTensorType::get({images, 1, 1, channels}, input.getElementType()));
  else
    types.push_back(RankedTensorType::get({images, channels}, input.getElementType()));
  return success();
}

bool PartialMeanOp::isLast() { return int64_t(getFirst()) + getInput().getType().getDimSize(1) == int64_t(getRows()); }

LogicalResult PartialGatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                SmallVectorImpl<Type> &types) {
  StringRef name = "graph.partial_gather";
  Dims piece = dimsOf(adaptor.getPiece().getType()), result = dimsOf(adaptor.getIndices().getType());
  int64_t first = int64_t(adaptor.getFirst()), rows = int64_t(adaptor.getRows());
  if (piece.empty() || !piece.front().isStatic() || first < 0 || first + piece.front().lo > rows)
    return shapeError(loc, name,
                      "needs a piece within rows [0, " + Twine(rows) + "), has " + toString(piece) + " from row " +
                          Twine(first) + " on");
  result.append(piece.begin() + 1, piece.end());
  RankedTensorType type = tensorOf(result, elementTypeOf(adaptor.getPiece()));
  if (adaptor.getSoFar() && !areCompatible(adaptor.getSoFar().getType(), type))
    return shapeError(loc, name,
                      "needs rows so far of shape " + Twine(toString(result)) + " and the piece's type, has " +
                          toString(dimsOf(adaptor.getSoFar().getType())));
  types.push_back(type);
  return success();
}

SmallVector<plim::graph::Alias> PartialGatherOp::getAliases() {
  if (!getSoFar())
    return {};
  return {{0, 2, AliasKind::InPlace}};
}
