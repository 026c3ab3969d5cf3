// Convolutions, plain and transposed.
#include "compiler/Import/Onnx/Operators/Window.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

LogicalResult conv(NodeImporter &n) {
  auto window = readConvolution(n, 1);
  if (!window || !resolveAutoPad(n, *window))
    return failure();
  return n.finish(n.make<graph::ConvOp>(n[0], n[1], n[2], Value(), window->strides, window->pads, window->dilations,
                                        window->groups));
}

LogicalResult convTranspose(NodeImporter &n) {
  auto window = readConvolution(n, 1);
  if (!window)
    return failure();
  const size_t spatial = window->kernel.size();
  const auto givenPadding = n.integers("output_padding");
  Ints outputPadding = givenPadding && !givenPadding->empty() ? *givenPadding : Ints(spatial, 0);
  const auto outputShape = n.integers("output_shape");
  if (outputPadding.size() != spatial)
    return n.error("attribute 'output_padding': need " + Twine(spatial) + " entries, have " +
                   Twine(outputPadding.size()));
  for (size_t i = 0; i < spatial; ++i)
    if (outputPadding[i] < 0 || outputPadding[i] >= std::max(window->strides[i], window->dilations[i]))
      return n.error("attribute 'output_padding' holds " + Twine(outputPadding[i]) +
                     ": need at least 0 and less than the stride or the dilation");

  // A wanted output shape, or SAME (input size times stride), decides the pads.
  const bool same = window->autoPad.starts_with("SAME");
  const bool hasShape = outputShape && !outputShape->empty();
  if (hasShape && outputShape->size() != spatial && outputShape->size() != spatial + 2)
    return n.error("attribute 'output_shape': need " + Twine(spatial) + " entries, have " + Twine(outputShape->size()));
  for (size_t i = 0; (same || hasShape) && i < spatial; ++i) {
    const int64_t size = n.type(0).getDimSize(i + 2);
    if (ShapedType::isDynamic(size))
      return n.error("output_shape and auto_pad need static spatial dimensions");
    const int64_t wanted = hasShape ? (*outputShape)[outputShape->size() - spatial + i] : size * window->strides[i];
    int64_t total = window->strides[i] * (size - 1) + outputPadding[i] +
                    (window->kernel[i] - 1) * window->dilations[i] + 1 - wanted;
    if (wanted < 1 || wanted > INT32_MAX)
      return n.error("attribute 'output_shape' holds " + Twine(wanted));
    if (total < 0) {
      // More is asked for than the kernel reaches: the rest is padding of the output.
      outputPadding[i] -= total;
      total = 0;
    }
    const int64_t half = total / 2;
    const bool upper = window->autoPad == "SAME_UPPER";
    window->pads[i] = upper ? half : total - half;
    window->pads[i + spatial] = upper ? total - half : half;
  }
  return n.finish(n.make<graph::ConvTransposeOp>(n[0], n[1], n[2], Value(), window->strides, window->pads,
                                                 window->dilations, outputPadding, window->groups));
}

constexpr OperatorRow rows[] = {
    {"Conv", 2, 3, conv},
    {"ConvTranspose", 2, 3, convTranspose},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::convolutionOperators() { return rows; }
