// The second output of MaxPool.
#pragma once
#include "compiler/Import/Onnx/Operators/Window.h"

namespace plim::onnx {

/// Where in input 0, flattened, the largest element of each window lies: i64 of shape `output`. With `columnMajor`
/// places within a plane count along the first spatial dimension first. Null, with an error, where shapes are open.
mlir::Value maxIndices(NodeImporter &node, const WindowAttributes &window, llvm::ArrayRef<int64_t> output,
                       bool columnMajor);

} // namespace plim::onnx
