//===- Windows.cpp - Shape rules of sliding windows ------------------------------------------------------------===//

#include "dialects/Graph/Windows.h"

using namespace mlir;

namespace plim::graph {

Window makeWindow(ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides, ArrayRef<int64_t> pads,
                  ArrayRef<int64_t> dilations) {
  size_t rank = kernel.size();
  Window window;
  window.kernel.assign(kernel.begin(), kernel.end());
  auto orElse = [rank](ArrayRef<int64_t> list, int64_t value) {
    return list.empty() ? SmallVector<int64_t>(rank, value) : SmallVector<int64_t>(list);
  };
  window.strides = orElse(strides, 1);
  window.dilations = orElse(dilations, 1);
  window.padLow = orElse(pads.take_front(pads.size() / 2), 0);
  window.padHigh = orElse(pads.drop_front(pads.size() / 2), 0);
  return window;
}

LogicalResult checkWindow(std::optional<Location> loc, StringRef op, int64_t spatialRank, ArrayRef<int64_t> kernel,
                          ArrayRef<int64_t> strides, ArrayRef<int64_t> pads, ArrayRef<int64_t> dilations) {
  struct List {
    StringRef name;
    ArrayRef<int64_t> values;
    int64_t length, least;
  };
  const List lists[] = {{"kernel sizes", kernel, spatialRank, 1},
                        {"strides", strides, spatialRank, 1},
                        {"pads", pads, 2 * spatialRank, 0},
                        {"dilations", dilations, spatialRank, 1}};
  for (const List &list : lists) {
    bool mayBeEmpty = list.name != "kernel sizes";
    if (static_cast<int64_t>(list.values.size()) != list.length && !(mayBeEmpty && list.values.empty()))
      return shapeError(loc, op,
                        "needs " + Twine(list.length) + " " + list.name + " for " + Twine(spatialRank) +
                            " spatial dimensions, has " + Twine(list.values.size()));
    for (int64_t value : list.values)
      if (value < list.least)
        return shapeError(loc, op,
                          "needs " + Twine(list.name) + " of at least " + Twine(list.least) + ", has " + Twine(value));
  }
  return success();
}

FailureOr<Dim> windowPositions(std::optional<Location> loc, StringRef op, Dim size, const Window &window, size_t i,
                               bool ceil) {
  int64_t extent = (window.kernel[i] - 1) * window.dilations[i] + 1;
  Dim padded = size + Dim(window.padLow[i] + window.padHigh[i]);
  if (padded.hi < extent)
    return shapeError(loc, op,
                      "needs a window of at most " + Twine(padded.hi) + " in spatial dimension " + Twine(i) +
                          " (padding included), has " + Twine(extent));
  auto positions = [&](int64_t length) -> int64_t {
    if (length == Dim::kUnbounded)
      return length;
    if (length < extent)
      return 0;
    int64_t stride = window.strides[i];
    int64_t count = (length - extent + (ceil ? stride - 1 : 0)) / stride + 1;
    // With ceil, a last window that starts in the high padding does not count.
    if (ceil && (count - 1) * stride >= length - window.padHigh[i])
      --count;
    return count;
  };
  return Dim(positions(padded.lo), positions(padded.hi));
}

LogicalResult verifyEpilogue(Operation *op, Value bias, Value residual, Dim channels) {
  if (bias) {
    Dims dims = dimsOf(bias.getType());
    if (dims.size() != 1 || !canBeEqual(dims[0], channels))
      return op->emitOpError("needs a bias of shape ") << toString(channels) << ", has " << toString(dims);
  }
  Type result = op->getResult(0).getType();
  if (residual && !areCompatible(residual.getType(), result))
    return op->emitOpError("needs a residual of the result's type ") << result << ", has " << residual.getType();
  return success();
}

} // namespace plim::graph
