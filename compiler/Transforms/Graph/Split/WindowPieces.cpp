//===- WindowPieces.cpp - Convolutions, pooling and resizes in pieces -----------------------------===//
//
// Rows of an nhwc image, and images of a batch. Padding is where a window leaves the image: a piece keeps that of the
// ends that it holds, so its windows see the elements that they see in the whole image.
//
//===------------------------------------------------------------------------------------------------===//
#include "compiler/Transforms/Graph/Split/Pieces.h"
#include "dialects/Graph/Windows.h"
#include "kernels/conv/nhwc_winograd_cost.h"

using namespace mlir;

namespace plim::graph {
namespace {

int64_t extentOf(const Window &w, size_t i) { return (w.kernel[i] - 1) * w.dilations[i] + 1; }

template <typename OpTy> Value residualOf(OpTy op) {
  if constexpr (requires { op.getResidual(); })
    return op.getResidual();
  return {};
}

/// Images of a batch.
template <typename OpTy> solver::SplitWay imagesOf(OpTy op) {
  solver::SplitWay way;
  for (Value operand : op->getOperands())
    way.operands.push_back({operand == op.getInput() || operand == residualOf(op) ? 0 : -1});
  return way;
}

template <typename OpTy> void windowWays(OpTy op, StringRef kernel, SmallVectorImpl<solver::SplitWay> &ways) {
  ways.push_back(imagesOf(op));
  if (op.getLayout() != ImageLayout::NHWC)
    return;
  Window w = op.getWindow();
  solver::SplitWay rows;
  rows.axis = 1;
  // A tile of outputs is computed from sums over the tile's inputs: other tiles, other bits.
  rows.align = rows.tile = kernel == "conv.nhwc_winograd" ? PLIM_WINOGRAD_TILE : 1;
  int64_t before = w.padLow[0], after = extentOf(w, 0) - w.strides[0] - w.padLow[0];
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    solver::SplitOperand part;
    if (i == 0)
      part = {1, w.strides[0], before, after, 1};
    else if (operand == residualOf(op))
      part = {1};
    rows.operands.push_back(part);
  }
  ways.push_back(rows);
}

/// The low and high padding of a piece along the rows, or nothing where the operand is not what its windows reach.
std::optional<std::pair<int64_t, int64_t>> padsOf(const Window &w, const Piece &piece, int64_t inputRows) {
  int64_t begin = piece.rows.begin * w.strides[0] - w.padLow[0];
  int64_t end = (piece.rows.end - 1) * w.strides[0] - w.padLow[0] + extentOf(w, 0);
  int64_t low = std::max<int64_t>(0, -begin), high = std::max<int64_t>(0, end - inputRows);
  if (piece.reads[0].begin != begin + low || piece.reads[0].end != end - high)
    return std::nullopt;
  return std::pair(low, high);
}

template <typename OpTy> Value windowPiece(OpTy op, OpBuilder &b, const Piece &piece, ValueRange operands) {
  if (piece.way.axis == 0)
    return cloneOn(b, op, operands);
  Window w = op.getWindow();
  auto pads = padsOf(w, piece, staticDims(op.getInput())[1]);
  if (!pads)
    return {};
  w.padLow[0] = pads->first, w.padHigh[0] = pads->second;
  SmallVector<int64_t> all(w.padLow);
  llvm::append_range(all, w.padHigh);
  auto padded = cast<OpTy>(op->cloneWithoutRegions());
  padded.setPads(all);
  if constexpr (std::is_same_v<OpTy, PoolOp>)
    padded.setCeil(false); // the padding says how many windows there are
  Value result = cloneOn(b, padded, operands);
  padded->destroy();
  return result;
}

template <typename OpTy> struct WindowModel : PiecesOpInterface::ExternalModel<WindowModel<OpTy>, OpTy> {
  void getSplitWays(Operation *op, StringRef kernel, SmallVectorImpl<solver::SplitWay> &ways) const {
    windowWays(cast<OpTy>(op), kernel, ways);
  }
  Value buildPiece(Operation *op, OpBuilder &b, const Piece &piece, ValueRange operands) const {
    return windowPiece(cast<OpTy>(op), b, piece, operands);
  }
};

struct PoolModel : PiecesOpInterface::ExternalModel<PoolModel, PoolOp> {
  void getSplitWays(Operation *op, StringRef kernel, SmallVectorImpl<solver::SplitWay> &ways) const {
    auto pool = cast<PoolOp>(op);
    windowWays(pool, kernel, ways);
    // What the last window counts beyond the padding has no form without `ceil`.
    if (pool.getCeil() && pool.getCountIncludePad())
      ways.truncate(1);
  }
  Value buildPiece(Operation *op, OpBuilder &b, const Piece &piece, ValueRange operands) const {
    return windowPiece(cast<PoolOp>(op), b, piece, operands);
  }
};

/// Windows that neither meet nor leave gaps: each row of the input makes `stride` rows of its own.
struct ConvTransposeModel : PiecesOpInterface::ExternalModel<ConvTransposeModel, ConvTransposeOp> {
  void getSplitWays(Operation *op, StringRef, SmallVectorImpl<solver::SplitWay> &ways) const {
    auto conv = cast<ConvTransposeOp>(op);
    ways.push_back(imagesOf(conv));
    Window w = conv.getWindow();
    if (conv.getLayout() != ImageLayout::NHWC || w.kernel[0] != w.strides[0] || w.dilations[0] != 1 ||
        w.padLow[0] != 0 || w.padHigh[0] != 0 ||
        staticDims(conv.getResult())[1] != staticDims(conv.getInput())[1] * w.strides[0])
      return;
    solver::SplitWay rows;
    rows.axis = 1;
    rows.align = w.strides[0];
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      solver::SplitOperand part;
      if (i == 0)
        part = {1, 1, 0, 0, w.strides[0]};
      else if (operand == conv.getResidual())
        part = {1};
      rows.operands.push_back(part);
    }
    ways.push_back(rows);
  }
  Value buildPiece(Operation *op, OpBuilder &b, const Piece &, ValueRange operands) const {
    return cloneOn(b, op, operands);
  }
};

/// Resizes that repeat elements.
struct ResizeModel : PiecesOpInterface::ExternalModel<ResizeModel, ResizeOp> {
  void getSplitWays(Operation *op, StringRef, SmallVectorImpl<solver::SplitWay> &ways) const {
    auto resize = cast<ResizeOp>(op);
    ways.push_back(imagesOf(resize));
    std::optional<SmallVector<int64_t>> repeats = resize.getRepeats();
    if (!repeats || resize.getLayout() != ImageLayout::NHWC)
      return;
    solver::SplitWay rows;
    rows.axis = 1;
    rows.align = (*repeats)[1];
    rows.operands.push_back({1, 1, 0, 0, (*repeats)[1]});
    ways.push_back(rows);
  }
  Value buildPiece(Operation *op, OpBuilder &b, const Piece &piece, ValueRange operands) const {
    auto resize = cast<ResizeOp>(op);
    if (piece.way.axis == 0 || resize.getSizes().empty())
      return cloneOn(b, op, operands);
    auto sized = cast<ResizeOp>(op->cloneWithoutRegions());
    SmallVector<int64_t> sizes(resize.getSizes());
    sizes[0] = piece.rows.rows();
    sized.setSizes(sizes);
    Value result = cloneOn(b, sized, operands);
    sized->destroy();
    return result;
  }
};

} // namespace

void registerWindowPieces(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, GraphDialect *) {
    ConvOp::attachInterface<WindowModel<ConvOp>>(*context);
    IntegerConvOp::attachInterface<WindowModel<IntegerConvOp>>(*context);
    ConvTransposeOp::attachInterface<ConvTransposeModel>(*context);
    PoolOp::attachInterface<PoolModel>(*context);
    ResizeOp::attachInterface<ResizeModel>(*context);
  });
}

} // namespace plim::graph
