// Attributes that convolutions and pooling share: kernel, strides, dilations, pads and auto_pad.
#pragma once
#include "compiler/Import/Onnx/NodeImporter.h"

namespace plim::onnx {

struct WindowAttributes {
  Ints kernel, strides, dilations, pads; ///< pads: all low ends, then all high ends
  llvm::StringRef autoPad;
};

/// Reads the attributes of a window over the dimensions of input 0 from the third on. `kernelShape` is what the kernel
/// must be, if the weights tell. Nothing, with an error, where an attribute is out of range.
std::optional<WindowAttributes> readWindow(NodeImporter &node, std::optional<Ints> kernelShape);

struct ConvolutionAttributes : WindowAttributes {
  int64_t groups = 1;
};

/// Reads those of a convolution of input 0 with the weights of an input, which must be static.
std::optional<ConvolutionAttributes> readConvolution(NodeImporter &node, unsigned weights);

/// Pads of SAME_UPPER and SAME_LOWER for a window that slides over `sizes`; needs static sizes.
bool resolveAutoPad(NodeImporter &node, WindowAttributes &window);

} // namespace plim::onnx
