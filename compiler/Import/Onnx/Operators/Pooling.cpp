// Pooling over windows and over all spatial dimensions.
#include "compiler/Import/Onnx/Operators/MaxIndices.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

std::optional<WindowAttributes> poolWindow(NodeImporter &n) {
  auto window = readWindow(n, std::nullopt);
  if (!window || !resolveAutoPad(n, *window))
    return std::nullopt;
  return window;
}

Value pool(NodeImporter &n, graph::PoolKind kind, Value input, const WindowAttributes &window, bool countPads) {
  const bool ceil = n.integer("ceil_mode", 0) != 0;
  for (size_t i = 0; i < window.kernel.size(); ++i) {
    const int64_t size = n.type(0).getDimSize(i + 2);
    const int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
    const int64_t padded = size + window.pads[i] + window.pads[i + window.kernel.size()];
    if (!ShapedType::isDynamic(size) && reach > padded) {
      (void)n.error("the window reaches over " + Twine(reach) + " elements of spatial dimension " + Twine(i) +
                    ", which has " + Twine(padded) + " with its pads");
      return {};
    }
  }
  return n.make<graph::PoolOp>(kind, input, window.kernel, window.strides, window.pads, window.dilations, ceil,
                               countPads);
}

LogicalResult maxPool(NodeImporter &n) {
  const bool columnMajor = n.integer("storage_order", 0) != 0;
  const auto window = poolWindow(n);
  if (!window)
    return failure();
  Value result = pool(n, graph::PoolKind::Max, n[0], *window, false);
  if (!n.wantsOutput(1) || n.hasFailed())
    return n.finish(result);
  if (!n.needStatic(result, "the indices of a MaxPool"))
    return failure();
  return n.finish({result, maxIndices(n, *window, NodeImporter::typeOf(result).getShape(), columnMajor)});
}

LogicalResult averagePool(NodeImporter &n) {
  const bool countPads = n.integer("count_include_pad", 0) != 0;
  const auto window = poolWindow(n);
  return window ? n.finish(pool(n, graph::PoolKind::Average, n[0], *window, countPads)) : failure();
}

/// (sum of |x|^p)^(1 / p), from the average over the whole window.
LogicalResult lpPool(NodeImporter &n) {
  const int64_t p = n.integer("p", 2);
  if (p < 1)
    return n.error("attribute 'p' is " + Twine(p) + ": need at least 1");
  if (n.integer("ceil_mode", 0))
    return n.error("ceil_mode is not supported");
  const auto window = poolWindow(n);
  if (!window)
    return failure();
  const Type element = n.type(0).getElementType();
  Value powers = n.make<graph::AbsOp>(n[0]);
  if (p != 1)
    powers = n.make<graph::PowOp>(powers, n.scalar(double(p), element));
  Value average = pool(n, graph::PoolKind::Average, powers, *window, true);
  const double elements = llvm::product_of(window->kernel, 1.0);
  Value sum = n.make<graph::MulOp>(average, n.scalar(elements, element));
  return n.finish(p == 1 ? sum : n.make<graph::PowOp>(sum, n.scalar(1.0 / double(p), element)));
}

LogicalResult global(NodeImporter &n, graph::ReduceKind kind) {
  Ints axes;
  for (int64_t i = 2; i < n.type(0).getRank(); ++i)
    axes.push_back(i);
  if (axes.empty())
    return n.error("need [N, C, spatial...], have " + Twine(n.type(0).getRank()) + " dimensions");
  return n.finish(n.make<graph::ReduceOp>(kind, n[0], axes, true));
}

LogicalResult globalAveragePool(NodeImporter &n) { return global(n, graph::ReduceKind::Mean); }
LogicalResult globalMaxPool(NodeImporter &n) { return global(n, graph::ReduceKind::Max); }
LogicalResult globalLpPool(NodeImporter &n) {
  const int64_t p = n.integer("p", 2);
  if (p != 1 && p != 2)
    return n.error("attribute 'p' is " + Twine(p) + ": need 1 or 2");
  return global(n, p == 1 ? graph::ReduceKind::L1 : graph::ReduceKind::L2);
}

constexpr OperatorRow rows[] = {
    {"AveragePool", 1, 1, averagePool},
    {"GlobalAveragePool", 1, 1, globalAveragePool},
    {"GlobalLpPool", 1, 1, globalLpPool, 7, noVersion, "", "p of 1 or 2"},
    {"GlobalMaxPool", 1, 1, globalMaxPool},
    {"LpPool", 1, 1, lpPool, 7, noVersion, "", "no ceil_mode"},
    {"MaxPool", 1, 1, maxPool, 7, noVersion, "", "indices need static shapes"},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::poolingOperators() { return rows; }
