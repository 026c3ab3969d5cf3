//===- DequantizedWeight.cpp - Weights that are stored narrow and widened before use ----------------------===//

#include "compiler/Transforms/Graph/DequantizedWeight.h"
#include "compiler/Transforms/Graph/Matchers.h"
#include "llvm/ADT/APSInt.h"

using namespace mlir;

namespace plim::graph {
namespace {

bool isNarrow(Type element) { return element.isInteger(8) || element.isF16() || element.isBF16(); }

/// Whether each number of one type is a number of the other.
bool holds(Type narrow, Type wide) {
  if (narrow == wide)
    return true;
  auto from = dyn_cast<IntegerType>(narrow), to = dyn_cast<IntegerType>(wide);
  if (from && to)
    return from.getWidth() > 1 && to.getWidth() > from.getWidth() && (!to.isUnsigned() || from.isUnsigned());
  if (from) // with sign and all: 8 bits fit the mantissa of every float but bf16's, which has 8
    return from.getWidth() == 8 || (from.getWidth() == 16 && !wide.isF16() && !wide.isBF16());
  if (to)
    return false;
  return isNarrow(narrow) ? !isNarrow(wide) : wide.isF64();
}

/// The numbers of a constant as 8-bit integers of a type, where all of them are such.
DenseElementsAttr asBytes(Value value, Type element) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!dense || !element.isInteger(8))
    return {};
  bool isSigned = !element.isUnsignedInteger();
  SmallVector<APInt> bytes;
  auto push = [&](int64_t number) {
    bool fits = isSigned ? number >= -128 && number <= 127 : number >= 0 && number <= 255;
    if (fits)
      bytes.push_back(APInt(8, uint64_t(number), isSigned));
    return fits;
  };
  if (isa<FloatType>(dense.getElementType())) {
    for (const APFloat &number : dense.getValues<APFloat>()) {
      APSInt whole(64, /*isUnsigned=*/false);
      bool exact = false;
      if (number.convertToInteger(whole, APFloat::rmTowardZero, &exact) != APFloat::opOK || !exact ||
          !push(whole.getExtValue()))
        return {};
    }
  } else {
    bool isUnsigned = dense.getElementType().isUnsignedInteger();
    for (const APInt &number : dense.getValues<APInt>())
      if (number.getActiveBits() > 63 || !push(isUnsigned ? int64_t(number.getZExtValue()) : number.getSExtValue()))
        return {};
  }
  return DenseElementsAttr::get(RankedTensorType::get(shapeOf(value), element), bytes);
}

/// The value under casts between integers that keep every number.
Value narrowest(Value value) {
  while (auto cast = value.getDefiningOp<CastOp>()) {
    if (!isa<IntegerType>(elementTypeOf(cast.getInput())) ||
        !holds(elementTypeOf(cast.getInput()), elementTypeOf(cast.getResult())))
      break;
    value = cast.getInput();
  }
  return value;
}

/// Whether integers, however wide, are numbers of 8 bits or the difference of two such.
bool isSmall(Value value) {
  Value under = narrowest(value);
  if (auto sub = under.getDefiningOp<SubOp>())
    return isSmall(sub.getLhs()) && isSmall(sub.getRhs());
  Builder b(value.getContext());
  return elementTypeOf(under).isInteger(8) || asBytes(under, b.getI8Type()) ||
         asBytes(under, IntegerType::get(value.getContext(), 8, IntegerType::Unsigned));
}

/// The value under casts that keep every number.
Value uncast(Value value) {
  while (auto cast = value.getDefiningOp<CastOp>()) {
    Type from = elementTypeOf(cast.getInput()), to = elementTypeOf(cast.getResult());
    bool fits = isa<IntegerType>(from) && isa<FloatType>(to) && !to.isBF16() && isSmall(cast.getInput());
    if (!fits && !holds(from, to))
      break;
    value = cast.getInput();
  }
  return value;
}

/// Where a reshape only splits one dimension in two: its place in the larger shape.
std::optional<size_t> splitDimension(ArrayRef<int64_t> whole, ArrayRef<int64_t> split) {
  if (split.size() != whole.size() + 1)
    return std::nullopt;
  size_t at = 0;
  while (at < whole.size() && whole[at] == split[at])
    ++at;
  if (at == whole.size() || split[at] * split[at + 1] != whole[at] ||
      split.drop_front(at + 2) != whole.drop_front(at + 1))
    return std::nullopt;
  return at;
}

} // namespace

/// (stored - zero) * scale under a value, where `accepts` what is stored.
static std::optional<DequantizedWeight> dequantized(Value value, function_ref<bool(Value)> accepts) {
  DequantizedWeight weight;
  if (!value.getDefiningOp() || !isa<FloatType>(elementTypeOf(value)))
    return std::nullopt;
  Type wide = elementTypeOf(value);
  auto fromSide = [&](Value side) {
    if (shapeOf(side) != shapeOf(value))
      return false;
    Value inner = uncast(side);
    weight.zero = Value();
    weight.stored = inner;
    if (auto sub = inner.getDefiningOp<SubOp>(); sub && shapeOf(sub.getLhs()) == shapeOf(inner)) {
      Value zero = uncast(sub.getRhs());
      weight.stored = uncast(sub.getLhs());
      weight.zero = splatOf(zero) == 0.0 ? Value() : zero;
      Type element = elementTypeOf(weight.stored);
      if (!element.isInteger(8) || !isSetupValue(zero) ||
          (weight.zero && elementTypeOf(zero) != element && !asBytes(zero, element)))
        return false;
    }
    return isNarrow(elementTypeOf(weight.stored)) && accepts(weight.stored);
  };
  if (auto mul = value.getDefiningOp<MulOp>()) {
    for (auto [side, other] : {std::pair<Value, Value>(mul.getLhs(), mul.getRhs()), {mul.getRhs(), mul.getLhs()}})
      if (isSetupValue(other) && fromSide(side)) {
        weight.scale = other;
        break;
      }
    if (!weight.scale)
      return std::nullopt;
  } else if (!fromSide(value)) {
    return std::nullopt;
  }
  if (weight.stored == value || elementTypeOf(weight.stored) == wide)
    return std::nullopt;
  return weight;
}

std::optional<DequantizedWeight> DequantizedWeight::of(Value value) {
  Value blocks;
  if (!hasStaticShape(value))
    return std::nullopt;
  if (auto reshape = value.getDefiningOp<ReshapeOp>()) {
    if (!splitDimension(shapeOf(value), shapeOf(reshape.getInput())))
      return std::nullopt;
    blocks = value = reshape.getInput();
  }
  std::optional<DequantizedWeight> weight = dequantized(value, isSetupValue);
  if (weight)
    weight->blocks = blocks;
  return weight;
}

static bool isOneNumber(Value value) {
  return !value || (hasStaticShape(value) && ShapedType::getNumElements(shapeOf(value)) == 1);
}

std::optional<DequantizedWeight> DequantizedWeight::ofActivation(Value value) {
  auto accepts = [](Value stored) { return elementTypeOf(stored).isInteger(8) && !isSetupValue(stored); };
  std::optional<DequantizedWeight> activation = dequantized(value, accepts);
  if (activation && isOneNumber(activation->scale) && isOneNumber(activation->zero))
    return activation;
  return std::nullopt;
}

Value DequantizedWeight::zeroAs(PatternRewriter &rewriter, Location loc, ArrayRef<int64_t> dims) const {
  if (!zero)
    return {};
  Value bytes = zero;
  if (elementTypeOf(zero) != elementTypeOf(stored))
    bytes = ConstantOp::create(rewriter, loc, asBytes(zero, elementTypeOf(stored)));
  return rewriter.createOrFold<ReshapeOp>(loc, bytes, dims);
}

std::optional<QuantizedMatrix> QuantizedMatrix::of(const DequantizedWeight &weight, bool transposed) {
  QuantizedMatrix matrix{weight, transposed};
  SmallVector<int64_t> shape(shapeOf(weight.stored));
  if (weight.blocks) {
    // [G, K / G, N], or [N, G, K / G] where it is transposed, under a reshape to two dimensions.
    size_t at = transposed ? 1 : 0;
    if (shape.size() != 3)
      return std::nullopt;
    matrix.blockDimension = at + 1;
    shape[at] *= shape[at + 1];
    shape.erase(shape.begin() + at + 1);
  }
  if (shape.size() != 2 || llvm::is_contained(shape, 0))
    return std::nullopt;
  matrix.shape = shape;
  matrix.k = shape[transposed ? 1 : 0];
  matrix.n = shape[transposed ? 0 : 1];
  std::optional<SmallVector<int64_t>> scale, zero;
  if (weight.scale && !(scale = matrix.matrixShape(weight.scale)))
    return std::nullopt;
  if (weight.zero && !(zero = matrix.matrixShape(weight.zero)))
    return std::nullopt;
  auto rowsOf = [&](std::optional<SmallVector<int64_t>> &dims) { return dims ? (*dims)[transposed ? 1 : 0] : 1; };
  int64_t scaleRows = rowsOf(scale), zeroRows = rowsOf(zero);
  if (scaleRows == matrix.k && matrix.k > 1) {
    if ((*scale)[transposed ? 0 : 1] != 1 && matrix.n != 1)
      return std::nullopt;
    matrix.scalesRows = true;
    scaleRows = 1;
  }
  matrix.groups = std::max(scaleRows, zeroRows);
  if (matrix.groups == matrix.k && matrix.k > 1)
    return std::nullopt;
  return matrix;
}

std::optional<SmallVector<int64_t>> QuantizedMatrix::matrixShape(Value value) const {
  SmallVector<int64_t> dims(shapeOf(value));
  size_t rank = rankOf(weight.stored);
  if (dims.size() > rank)
    return std::nullopt;
  dims.insert(dims.begin(), rank - dims.size(), 1);
  if (blockDimension) {
    if (dims[*blockDimension] != 1) // differs within a block
      return std::nullopt;
    dims.erase(dims.begin() + *blockDimension);
  }
  return dims;
}

Value QuantizedMatrix::turned(PatternRewriter &rewriter, Location loc, Value matrix) const {
  return transposed ? rewriter.createOrFold<TransposeOp>(loc, matrix, ArrayRef<int64_t>{1, 0}) : matrix;
}

Value QuantizedMatrix::spread(PatternRewriter &rewriter, Location loc, Value value) const {
  Value matrix = turned(rewriter, loc, rewriter.createOrFold<ReshapeOp>(loc, value, *matrixShape(value)));
  if (shapeOf(matrix) == ArrayRef<int64_t>{groups, n})
    return matrix;
  return rewriter.createOrFold<BroadcastOp>(loc, matrix, ArrayRef<int64_t>{groups, n});
}

QuantizedMatrix::Operands QuantizedMatrix::build(PatternRewriter &rewriter, Location loc) const {
  Operands operands;
  if (weight.scale && scalesRows)
    operands.rows = rewriter.createOrFold<ReshapeOp>(loc, weight.scale, ArrayRef<int64_t>{k});
  else if (weight.scale)
    operands.scale = spread(rewriter, loc, weight.scale);
  if (weight.zero)
    operands.zero = spread(rewriter, loc, weight.zeroAs(rewriter, loc, shapeOf(weight.zero)));
  Value stored = weight.stored;
  if (weight.blocks)
    stored = rewriter.createOrFold<ReshapeOp>(loc, stored, shape);
  operands.stored = turned(rewriter, loc, stored);
  return operands;
}

} // namespace plim::graph
