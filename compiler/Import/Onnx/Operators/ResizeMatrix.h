// Resizes that the kernels do not do: antialiasing, samples outside excluded, crops. Each axis is a product with a
// matrix of weights [outputs, inputs], which depends on sizes alone.
#pragma once
#include "compiler/Import/Onnx/Operators/Term.h"
#include <optional>

namespace plim::onnx {

struct MatrixResize {
  graph::ResizeMode mode;
  graph::CoordinateMode coordinates;
  graph::NearestMode nearest;
  double cubic;
  bool antialias = false, excludeOutside = false;
  /// Of an image resized to a crop: values where a sample lies outside of it.
  bool crops = false;
  double extrapolation = 0;
};

struct AxisResize {
  int64_t axis, outputs;
  double scale, cropStart = 0, cropEnd = 1;
};

Term resizeByMatrices(Term image, const MatrixResize &how, llvm::ArrayRef<AxisResize> axes);

} // namespace plim::onnx
