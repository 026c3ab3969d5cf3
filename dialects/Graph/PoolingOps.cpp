//===- PoolingOps.cpp - Pooling and resizing --------------------------------------------------------------------===//

#include "dialects/Graph/Windows.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace mlir;
using namespace plim::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/PoolingOps.cpp.inc"

LogicalResult PoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  StringRef name = "graph.pool";
  Dims dims = dimsOf(adaptor.getInput().getType());
  if (dims.size() < 3)
    return shapeError(loc, name, "needs an input of rank 3 or more, has " + Twine(toString(dims)));
  if (failed(checkWindow(loc, name, dims.size() - 2, adaptor.getKernel(), adaptor.getStrides(), adaptor.getPads(),
                         adaptor.getDilations())))
    return failure();
  Window window = makeWindow(adaptor.getKernel(), adaptor.getStrides(), adaptor.getPads(), adaptor.getDilations());
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    Dim &dim = dims[firstSpatialAxis(adaptor.getLayout()) + i];
    FailureOr<Dim> positions = windowPositions(loc, name, dim, window, i, adaptor.getCeil());
    if (failed(positions))
      return failure();
    dim = *positions;
  }
  types.push_back(tensorOf(dims, elementTypeOf(adaptor.getInput())));
  return success();
}

Window PoolOp::getWindow() { return makeWindow(getKernel(), getStrides(), getPads(), getDilations()); }
LayoutBehaviour PoolOp::getLayoutBehaviour() { return LayoutBehaviour::Wants; }

LogicalResult ResizeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  StringRef name = "graph.resize";
  Dims dims = dimsOf(adaptor.getInput().getType());
  if (dims.size() < 3)
    return shapeError(loc, name, "needs an input of rank 3 or more, has " + Twine(toString(dims)));
  size_t spatial = dims.size() - 2, sizes = adaptor.getSizes().size(), scales = adaptor.getScales().size();
  if ((sizes != spatial && sizes != 0) || (scales != spatial && scales != 0) || (sizes == 0 && scales == 0))
    return shapeError(loc, name,
                      "needs " + Twine(spatial) + " sizes or scales, one a spatial dimension, has " + Twine(sizes) +
                          " and " + Twine(scales));
  for (size_t i = 0; i < spatial; ++i) {
    Dim &dim = dims[firstSpatialAxis(adaptor.getLayout()) + i];
    double scale = scales ? adaptor.getScales()[i] : 1;
    if (!(scale > 0) || (sizes && adaptor.getSizes()[i] < 1))
      return shapeError(loc, name,
                        "needs positive sizes and scales, has " + Twine(sizes ? adaptor.getSizes()[i] : 0) + " and " +
                            llvm::formatv("{0}", scale).str());
    auto scaled = [scale](int64_t n) {
      double product = std::floor(static_cast<double>(n) * scale);
      return n == Dim::kUnbounded || product >= 0x1p62 ? Dim::kUnbounded : static_cast<int64_t>(product);
    };
    dim = sizes ? Dim(adaptor.getSizes()[i]) : Dim(scaled(dim.lo), scaled(dim.hi));
  }
  types.push_back(tensorOf(dims, elementTypeOf(adaptor.getInput())));
  return success();
}

SmallVector<double> ResizeOp::getSpatialScales() {
  if (!getScales().empty())
    return SmallVector<double>(getScales());
  Dims in = dimsOf(getInput().getType()), out = dimsOf(getType());
  SmallVector<double> scales;
  for (size_t i = firstSpatialAxis(getLayout()), n = i + in.size() - 2; i < n; ++i)
    scales.push_back(static_cast<double>(out[i].lo) / static_cast<double>(in[i].lo));
  return scales;
}

std::optional<SmallVector<int64_t>> ResizeOp::getRepeats() {
  if (getMode() != ResizeMode::Nearest || !getInput().getType().hasStaticShape() || !getType().hasStaticShape())
    return std::nullopt;
  // Element i of the result reads i / repeats rounded down, or the centre of i, which lies strictly between the middles
  // of two neighbours.
  bool floors = getCoordinateMode() == CoordinateMode::Asymmetric && getNearestMode() == NearestMode::Floor;
  bool centres =
      getCoordinateMode() == CoordinateMode::HalfPixel &&
      (getNearestMode() == NearestMode::RoundPreferFloor || getNearestMode() == NearestMode::RoundPreferCeil);
  if (!floors && !centres)
    return std::nullopt;
  SmallVector<int64_t> repeats;
  for (auto [in, out] : llvm::zip(getInput().getType().getShape(), getType().getShape())) {
    if (in == 0 || out % in != 0)
      return std::nullopt;
    repeats.push_back(out / in);
  }
  for (auto [i, scale] : llvm::enumerate(getSpatialScales()))
    if (scale != static_cast<double>(repeats[firstSpatialAxis(getLayout()) + i]))
      return std::nullopt;
  return repeats;
}

bool plim::graph::joinRepeats(SmallVectorImpl<int64_t> &joint, ArrayRef<int64_t> more) {
  if (joint.empty())
    joint.assign(more.size(), 1);
  for (auto [mine, theirs] : llvm::zip_equal(more, joint))
    if (mine != 1 && theirs != 1 && mine != theirs)
      return false;
  for (auto [mine, theirs] : llvm::zip_equal(more, joint))
    theirs = std::max(mine, theirs);
  return true;
}

LayoutBehaviour ResizeOp::getLayoutBehaviour() { return LayoutBehaviour::Wants; }
