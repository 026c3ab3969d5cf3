#include "compiler/Import/Onnx/Operators/Quantized.h"
#include "compiler/Import/Onnx/Wire/MappedFile.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

/// The numbers of a value that is known at compile time: a constant, or an f32 parameter in a file.
static std::optional<SmallVector<double>> knownReals(Value value) {
  if (auto numbers = NodeImporter::constantReals(value))
    return numbers;
  auto parameter = value.getDefiningOp<graph::ParameterOp>();
  if (!parameter || parameter.getFile().empty() || !graph::elementTypeOf(value).isF32())
    return std::nullopt;
  std::string error;
  auto file = wire::MappedFile::open(parameter.getFile().str(), error);
  const auto offset = uint64_t(parameter.getOffset()), bytes = uint64_t(parameter.getBytes());
  if (!file || offset > file->bytes().size() || bytes > file->bytes().size() - offset)
    return std::nullopt;
  SmallVector<double> numbers(bytes / sizeof(float));
  for (auto [i, number] : llvm::enumerate(numbers)) {
    float one;
    std::memcpy(&one, file->bytes().data() + offset + i * sizeof(float), sizeof(float));
    number = one;
  }
  return numbers;
}

static bool checkScale(NodeImporter &n, unsigned input) {
  if (!isa<FloatType>(n.type(input).getElementType()))
    return succeeded(n.error("input " + Twine(input) + ": a scale must be a float"));
  if (const auto numbers = knownReals(n[input]))
    for (double number : *numbers)
      if (!(number > 0) || std::isinf(number))
        return succeeded(n.error("input " + Twine(input) + ": a scale must be above zero and finite, have " +
                                 (std::isnan(number) ? Twine("nan") : Twine(std::to_string(number)))));
  return true;
}

/// A scale or zero as it broadcasts to `shape`, or null with an error.
static Value spread(NodeImporter &n, unsigned input, RankedTensorType shape, const Quantization &q) {
  const auto type = n.type(input);
  if (!n.needStatic(n[input], "a scale or zero point"))
    return {};
  const int64_t rank = shape.getRank();
  if (!q.blockSize) {
    if (type.getNumElements() == 1 && type.getRank() <= 1)
      return n.reshape(n[input], {});
    const int64_t size = rank ? shape.getDimSize(q.axis) : 1;
    if (type.getRank() != 1 || (!ShapedType::isDynamic(size) && size != type.getNumElements())) {
      (void)n.error("input " + Twine(input) + ": need a scale or zero point of one number or of the " +
                    graph::toString(graph::dimsOf(shape)) + " along axis " + Twine(q.axis) + ", have " +
                    graph::toString(graph::dimsOf(type)));
      return {};
    }
    Ints dims(rank - q.axis, 1);
    dims[0] = type.getNumElements();
    return n.reshape(n[input], dims);
  }
  // One for each block: repeated along the block, the last of which may be cut short.
  Ints dims(type.getShape());
  bool fits = type.getRank() == rank;
  for (int64_t d = 0; fits && d < rank; ++d)
    fits = dims[d] == (d == q.axis ? (shape.getDimSize(d) + q.blockSize - 1) / q.blockSize : shape.getDimSize(d));
  if (!fits) {
    (void)n.error("input " + Twine(input) + ": need one scale or zero point for each block of " + Twine(q.blockSize) +
                  " along axis " + Twine(q.axis) + " of " + graph::toString(graph::dimsOf(shape)) + ", have " +
                  graph::toString(graph::dimsOf(type)));
    return {};
  }
  const bool whole = shape.getDimSize(q.axis) % q.blockSize == 0;
  dims.insert(dims.begin() + q.axis + 1, 1);
  Value blocks = n.reshape(n[input], dims);
  if (whole) // blocks of the tensor, too, become a dimension: see blocksOf
    return blocks;
  dims[q.axis + 1] = q.blockSize;
  Value repeated = n.make<graph::BroadcastOp>(blocks, dims);
  dims.erase(dims.begin() + q.axis);
  dims[q.axis] = n.type(input).getDimSize(q.axis) * q.blockSize;
  repeated = n.reshape(repeated, dims);
  return n.make<graph::SliceOp>(repeated, Ints(rank, 0), Ints(shape.getShape()), Ints(rank, 1));
}

std::optional<Quantization> plim::onnx::readQuantization(NodeImporter &n, RankedTensorType shape, unsigned scale,
                                                         unsigned zero, int64_t axis, int64_t blockSize) {
  Quantization q;
  q.axis = axis;
  q.blockSize = blockSize;
  if (blockSize < 0) {
    (void)n.error("attribute 'block_size' is " + Twine(blockSize) + ": need at least 0");
    return std::nullopt;
  }
  if (blockSize && !shape.hasStaticShape()) {
    (void)n.error("blocks need static dimensions, have " + graph::toString(graph::dimsOf(shape)));
    return std::nullopt;
  }
  if (!checkScale(n, scale))
    return std::nullopt;
  if (n[zero] && n.type(zero).getShape() != n.type(scale).getShape() &&
      (n.type(zero).getNumElements() != 1 || n.type(scale).getNumElements() != 1)) {
    (void)n.error("input " + Twine(zero) + ": need a zero point of the scale's shape " +
                  graph::toString(graph::dimsOf(n.type(scale))) + ", have " +
                  graph::toString(graph::dimsOf(n.type(zero))));
    return std::nullopt;
  }
  q.scale = spread(n, scale, shape, q);
  if (n[zero] && !n.hasFailed())
    q.zero = spread(n, zero, shape, q);
  if (n.hasFailed())
    return std::nullopt;
  if (isKnownZero(q.zero))
    q.zero = Value();
  return q;
}

std::optional<Quantization> plim::onnx::readQuantization(NodeImporter &n, unsigned of, unsigned scale, unsigned zero) {
  if (n[zero] && n.type(zero).getElementType() != n.type(of).getElementType()) {
    (void)n.error("input " + Twine(zero) + ": need a zero point of the type of input " + Twine(of));
    return std::nullopt;
  }
  return readQuantization(n, RankedTensorType::get({}, n.type(of).getElementType()), scale, zero, 0, 0);
}

/// The tensor with whole blocks as a dimension of their own, where there are such.
static Value blocksOf(NodeImporter &n, Value x, const Quantization &q, Ints &shape) {
  if (!x || !q.blockSize)
    return x;
  shape = Ints(NodeImporter::typeOf(x).getShape());
  if (shape[q.axis] % q.blockSize)
    return x;
  Ints dims = shape;
  dims[q.axis] /= q.blockSize;
  dims.insert(dims.begin() + q.axis + 1, q.blockSize);
  return n.reshape(x, dims);
}

/// Back to the shape without blocks.
static Value whole(NodeImporter &n, Value x, const Ints &shape) { return shape.empty() ? x : n.reshape(x, shape); }

Value plim::onnx::dequantized(NodeImporter &n, Value x, const Quantization &q) {
  if (n.hasFailed())
    return {};
  const Type element = graph::elementTypeOf(q.scale);
  Ints shape;
  // Integers of 16 and 32 bits less their zero point may not fit a half.
  const Type wide = element.getIntOrFloatBitWidth() < 32 ? Type(n.b.getF32Type()) : element;
  Value centred = n.cast(blocksOf(n, x, q, shape), wide);
  if (q.zero)
    centred = n.make<graph::SubOp>(centred, n.cast(q.zero, wide));
  Value product = n.make<graph::MulOp>(centred, n.cast(q.scale, wide));
  return whole(n, n.cast(product, element), shape);
}

Value plim::onnx::saturated(NodeImporter &n, Value x, Value zero, IntegerType target) {
  const double span = double(int64_t(1) << target.getWidth()), least = target.isUnsigned() ? 0 : -span / 2;
  Value rounded = n.make<graph::RoundOp>(x);
  if (n.hasFailed())
    return {};
  if (zero)
    rounded = n.make<graph::AddOp>(rounded, n.cast(zero, graph::elementTypeOf(x)));
  Value clipped = n.make<graph::ClipOp>(rounded, n.b.getF64FloatAttr(least), n.b.getF64FloatAttr(least + span - 1));
  return n.cast(clipped, target);
}

Value plim::onnx::quantized(NodeImporter &n, Value x, const Quantization &q, IntegerType target) {
  if (n.hasFailed())
    return {};
  // Integers of 16 bits do not fit the mantissa of half floats.
  Type element = graph::elementTypeOf(x);
  if (!isa<FloatType>(element) || element.getIntOrFloatBitWidth() < 32)
    element = n.b.getF32Type();
  Ints shape;
  Value scaled = n.make<graph::DivOp>(n.cast(blocksOf(n, x, q, shape), element), n.cast(q.scale, element));
  return whole(n, saturated(n, scaled, q.zero, target), shape);
}

DynamicQuantization plim::onnx::quantizedDynamically(NodeImporter &n, Value x) {
  const auto byte = IntegerType::get(n.b.getContext(), 8, IntegerType::Unsigned);
  const Type element = graph::elementTypeOf(x);
  const auto axes = llvm::to_vector(llvm::seq<int64_t>(0, graph::rankOf(x)));
  Value none = n.scalar(0.0, element), steps = n.scalar(255.0, element);
  // The range always has 0 in it, so that 0 is exact.
  Value high = n.make<graph::MaxOp>(n.make<graph::ReduceOp>(graph::ReduceKind::Max, x, axes, false), none);
  Value low = n.make<graph::MinOp>(n.make<graph::ReduceOp>(graph::ReduceKind::Min, x, axes, false), none);
  Value step = n.make<graph::DivOp>(n.make<graph::SubOp>(high, low), steps);
  // A tensor of zeros has any scale.
  Value scale = n.make<graph::SelectOp>(n.make<graph::EqualOp>(high, low), n.scalar(1.0, element), step);
  Value zero = saturated(n, n.make<graph::DivOp>(n.make<graph::NegOp>(low), scale), {}, byte);
  return {saturated(n, n.make<graph::DivOp>(x, scale), zero, byte), scale, zero};
}

bool plim::onnx::isKnownZero(Value value) {
  const auto numbers = NodeImporter::constantReals(value);
  return numbers && llvm::all_of(*numbers, [](double number) { return number == 0; });
}

bool plim::onnx::needBytes(NodeImporter &n, unsigned input, StringRef name) {
  if (n.type(input).getElementType().isInteger(8))
    return true;
  std::string have;
  llvm::raw_string_ostream(have) << n.type(input).getElementType();
  (void)n.error("input " + Twine(input) + " '" + name + "': need integers of 8 bits, have " + have);
  return false;
}
