//===- Windows.h - Shape rules of sliding windows ------------------------------------------------------------===//
#ifndef PLIM_DIALECTS_GRAPH_WINDOWS_H
#define PLIM_DIALECTS_GRAPH_WINDOWS_H

#include "dialects/Graph/GraphDialect.h"

namespace plim::graph {

/// The position of the channel dimension and of the first spatial one.
inline int64_t channelAxis(ImageLayout layout, int64_t rank) { return layout == ImageLayout::NCHW ? 1 : rank - 1; }
inline int64_t firstSpatialAxis(ImageLayout layout) { return layout == ImageLayout::NCHW ? 2 : 1; }

/// A window with defaults filled in: strides and dilations 1, pads 0.
Window makeWindow(llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> pads,
                  llvm::ArrayRef<int64_t> dilations);
/// Checks the lengths and signs of the attributes against the number of spatial dimensions.
llvm::LogicalResult checkWindow(std::optional<mlir::Location> loc, llvm::StringRef op, int64_t spatialRank,
                                llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<int64_t> strides,
                                llvm::ArrayRef<int64_t> pads, llvm::ArrayRef<int64_t> dilations);
/// Number of window positions along spatial dimension i, or failure with a diagnostic if the window does not fit.
llvm::FailureOr<Dim> windowPositions(std::optional<mlir::Location> loc, llvm::StringRef op, Dim size,
                                     const Window &window, size_t i, bool ceil);
/// Checks an epilogue: a bias [channels] and a residual of the result's type.
llvm::LogicalResult verifyEpilogue(mlir::Operation *op, mlir::Value bias, mlir::Value residual, Dim channels);

} // namespace plim::graph

#endif
