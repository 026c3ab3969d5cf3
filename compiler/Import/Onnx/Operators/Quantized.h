// Numbers in few bits: real = (stored - zero point) * scale.
#pragma once
#include "compiler/Import/Onnx/NodeImporter.h"

namespace plim::onnx {

/// How a tensor is quantised: one scale for all, one for each index of `axis`, or one for each block of it.
struct Quantization {
  mlir::Value scale, zero; ///< as they broadcast to the tensor; zero is null for 0, its type is that of what is stored
  int64_t axis = 0, blockSize = 0; ///< a block size of 0: no blocks
};

/// Checks inputs `scale` and `zero` (may be left out) of the node against `shape`, which `of` has, and makes them
/// broadcast. Nothing, with an error, where types or shapes do not fit, or a scale that is known is not above zero.
std::optional<Quantization> readQuantization(NodeImporter &n, mlir::RankedTensorType shape, unsigned scale,
                                             unsigned zero, int64_t axis, int64_t blockSize);
/// The same for one scale for all.
std::optional<Quantization> readQuantization(NodeImporter &n, unsigned of, unsigned scale, unsigned zero);

/// (x - zero point) * scale, in the type of the scale.
mlir::Value dequantized(NodeImporter &n, mlir::Value x, const Quantization &q);
/// x / scale, rounded to even, + zero point, saturated to integers of type `target`.
mlir::Value quantized(NodeImporter &n, mlir::Value x, const Quantization &q, mlir::IntegerType target);
/// x, of numbers in f32, rounded to even, + zero point, saturated.
mlir::Value saturated(NodeImporter &n, mlir::Value x, mlir::Value zero, mlir::IntegerType target);

/// A tensor of f32 as bytes above its minimum, with scale and zero point of its own range.
struct DynamicQuantization {
  mlir::Value bytes, scale, zero; ///< u8, f32 scalar, u8 scalar
};
DynamicQuantization quantizedDynamically(NodeImporter &n, mlir::Value x);

/// Whether a value is known, and 0 everywhere.
bool isKnownZero(mlir::Value value);

/// Whether an input has elements of 8-bit integers; emits an error where it has not.
bool needBytes(NodeImporter &n, unsigned input, llvm::StringRef name);

} // namespace plim::onnx
