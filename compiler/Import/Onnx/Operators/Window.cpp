#include "compiler/Import/Onnx/Operators/Window.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

/// Sizes beyond this overflow nothing when multiplied and summed, and no model has them.
static constexpr int64_t mostSize = INT32_MAX;

static std::optional<Ints> readList(NodeImporter &n, StringRef name, size_t count, int64_t least, int64_t otherwise) {
  const auto given = n.integers(name);
  Ints list = given ? *given : Ints(count, otherwise);
  if (list.size() != count) {
    (void)n.error("attribute '" + name + "': need " + Twine(count) + " entries, have " + Twine(list.size()));
    return std::nullopt;
  }
  for (int64_t value : list)
    if (value < least || value > mostSize) {
      (void)n.error("attribute '" + name + "' holds " + Twine(value) + ": need at least " + Twine(least));
      return std::nullopt;
    }
  return list;
}

std::optional<WindowAttributes> plim::onnx::readWindow(NodeImporter &n, std::optional<Ints> kernelShape) {
  const int64_t rank = n.type(0).getRank();
  if (rank < 3) {
    (void)n.error("need [N, C, spatial...], have " + Twine(rank) + " dimensions");
    return std::nullopt;
  }
  const size_t spatial = rank - 2;
  if (!kernelShape && !n.has("kernel_shape")) {
    (void)n.error("attribute 'kernel_shape' is missing");
    return std::nullopt;
  }
  WindowAttributes window;
  auto kernel = n.has("kernel_shape") ? readList(n, "kernel_shape", spatial, 1, 1) : kernelShape;
  auto strides = readList(n, "strides", spatial, 1, 1);
  auto dilations = readList(n, "dilations", spatial, 1, 1);
  auto pads = readList(n, "pads", 2 * spatial, 0, 0);
  window.autoPad = n.string("auto_pad", "NOTSET");
  if (n.hasFailed() || !kernel || !strides || !dilations || !pads)
    return std::nullopt;
  if (kernelShape && *kernel != *kernelShape) {
    (void)n.error("attribute 'kernel_shape' is not the shape of the weights");
    return std::nullopt;
  }
  if (!llvm::is_contained({"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"}, window.autoPad)) {
    (void)n.error("attribute 'auto_pad' must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, have '" + window.autoPad +
                  "'");
    return std::nullopt;
  }
  window.kernel = std::move(*kernel);
  window.strides = std::move(*strides);
  window.dilations = std::move(*dilations);
  window.pads = std::move(*pads);
  if (window.autoPad == "VALID")
    window.pads.assign(2 * spatial, 0);
  return window;
}

std::optional<ConvolutionAttributes> plim::onnx::readConvolution(NodeImporter &n, unsigned weights) {
  const auto type = n.type(weights);
  if (type.getRank() != n.type(0).getRank()) {
    (void)n.error("the weights have " + Twine(type.getRank()) + " dimensions, the input " + Twine(n.type(0).getRank()));
    return std::nullopt;
  }
  if (!n.needStatic(n[weights], "a convolution's weights"))
    return std::nullopt;
  auto window = readWindow(n, Ints(type.getShape().drop_front(std::min<int64_t>(2, type.getRank()))));
  if (!window)
    return std::nullopt;
  const int64_t groups = n.integer("group", 1);
  if (groups < 1) {
    (void)n.error("attribute 'group' is " + Twine(groups) + ": need at least 1");
    return std::nullopt;
  }
  return ConvolutionAttributes{std::move(*window), groups};
}

bool plim::onnx::resolveAutoPad(NodeImporter &n, WindowAttributes &window) {
  if (!window.autoPad.starts_with("SAME"))
    return true;
  const size_t spatial = window.kernel.size();
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t size = n.type(0).getDimSize(i + 2);
    const int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
    // With stride 1 the sum of the pads does not depend on the size.
    if (ShapedType::isDynamic(size) && window.strides[i] != 1) {
      (void)n.error("auto_pad " + window.autoPad + " with a stride needs static spatial dimensions");
      return false;
    }
    int64_t total = reach - 1;
    if (!ShapedType::isDynamic(size)) {
      const int64_t outputs = (size + window.strides[i] - 1) / window.strides[i];
      total = std::max<int64_t>((outputs - 1) * window.strides[i] + reach - size, 0);
    }
    const int64_t half = total / 2;
    const bool upper = window.autoPad == "SAME_UPPER";
    window.pads[i] = upper ? half : total - half;
    window.pads[i + spatial] = upper ? total - half : half;
  }
  return true;
}
