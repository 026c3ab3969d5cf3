//===- Shape.cpp - Dimensions with bounds, and the shape rules that ops share --------------------------===//

#include "dialects/Graph/Shape.h"
#include "dialects/Graph/GraphDialect.h"

using namespace mlir;

namespace plim::graph {

static int64_t saturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  return a == Dim::kUnbounded || b == Dim::kUnbounded || __builtin_add_overflow(a, b, &sum) ? Dim::kUnbounded : sum;
}

static int64_t saturatingMul(int64_t a, int64_t b) {
  if (a == 0 || b == 0)
    return 0;
  int64_t product;
  return a == Dim::kUnbounded || b == Dim::kUnbounded || __builtin_mul_overflow(a, b, &product) ? Dim::kUnbounded
                                                                                                : product;
}

Dim operator+(Dim a, Dim b) { return {saturatingAdd(a.lo, b.lo), saturatingAdd(a.hi, b.hi)}; }
Dim operator*(Dim a, Dim b) { return {saturatingMul(a.lo, b.lo), saturatingMul(a.hi, b.hi)}; }
Dim subtract(Dim a, int64_t b) {
  return {std::max<int64_t>(0, a.lo - b), a.isBounded() ? std::max<int64_t>(0, a.hi - b) : Dim::kUnbounded};
}
Dim divideDown(Dim a, int64_t b) { return {a.lo / b, a.isBounded() ? a.hi / b : Dim::kUnbounded}; }

Dims dimsOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  auto bounds = dyn_cast_or_null<BoundsAttr>(tensor.getEncoding());
  Dims dims;
  for (auto [i, size] : llvm::enumerate(tensor.getShape())) {
    if (!ShapedType::isDynamic(size))
      dims.push_back(size);
    else if (bounds)
      dims.push_back({bounds.getLower()[i], bounds.getUpper()[i]});
    else
      dims.push_back({});
  }
  return dims;
}

RankedTensorType tensorOf(ArrayRef<Dim> dims, Type element) {
  SmallVector<int64_t> shape, lower, upper;
  bool bounded = false;
  for (Dim dim : dims) {
    shape.push_back(dim.isStatic() ? dim.lo : ShapedType::kDynamic);
    lower.push_back(dim.lo);
    upper.push_back(dim.hi);
    bounded |= !dim.isStatic() && (dim.lo != 0 || dim.isBounded());
  }
  Attribute encoding;
  if (bounded)
    encoding = BoundsAttr::get(element.getContext(), lower, upper);
  return RankedTensorType::get(shape, element, encoding);
}

Type elementTypeOf(Type type) { return cast<RankedTensorType>(type).getElementType(); }
Type elementTypeOf(Value value) { return elementTypeOf(value.getType()); }
int64_t rankOf(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

Dim elementsOf(ArrayRef<Dim> dims) {
  Dim product(1);
  for (Dim dim : dims)
    product = product * dim;
  return product;
}

int64_t elementBytes(Type element) { return (element.getIntOrFloatBitWidth() + 7) / 8; }

std::optional<int64_t> bytesOf(Type type) {
  Dims dims = dimsOf(type);
  if (layoutOf(type) == StorageLayout::Panel32)
    dims[1] = (dims[1].lo + 31) / 32 * 32;
  Dim count = elementsOf(dims);
  if (!count.isStatic() || !count.isBounded())
    return std::nullopt;
  return count.lo * elementBytes(elementTypeOf(type));
}

std::string toString(ArrayRef<Dim> dims) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(dims, os, [&](Dim dim) {
    if (dim.isStatic())
      os << dim.lo;
    else if (dim.isBounded())
      os << dim.lo << " to " << dim.hi;
    else
      os << '?';
  });
  os << ']';
  return text;
}

bool canBeEqual(Dim a, Dim b) { return a.lo <= b.hi && b.lo <= a.hi; }
Dim meet(Dim a, Dim b) { return {std::max(a.lo, b.lo), std::min(a.hi, b.hi)}; }

bool areCompatible(TypeRange inferred, TypeRange declared) {
  if (inferred.size() != declared.size())
    return false;
  for (auto [a, b] : llvm::zip(inferred, declared)) {
    auto x = dyn_cast<RankedTensorType>(a), y = dyn_cast<RankedTensorType>(b);
    if (!x || !y || x.getElementType() != y.getElementType() || x.getRank() != y.getRank() ||
        layoutOf(x) != layoutOf(y))
      return false;
    for (auto [m, n] : llvm::zip(dimsOf(x), dimsOf(y)))
      if (!canBeEqual(m, n))
        return false;
  }
  return true;
}

LogicalResult shapeError(std::optional<Location> location, StringRef op, const Twine &message) {
  return emitOptionalError(location, "'", op, "' op ", message);
}

FailureOr<Dims> broadcastDims(std::optional<Location> location, StringRef op, ArrayRef<Dim> a, ArrayRef<Dim> b) {
  size_t rank = std::max(a.size(), b.size());
  Dims result(rank);
  for (size_t i = 0; i < rank; ++i) {
    // From the last dimension on; a missing one is 1.
    Dim x = i < a.size() ? a[a.size() - 1 - i] : Dim(1), y = i < b.size() ? b[b.size() - 1 - i] : Dim(1);
    Dim &out = result[rank - 1 - i];
    if (x == Dim(1))
      out = y;
    else if (y == Dim(1))
      out = x;
    else if (x.isStatic() && y.isStatic() && x != y)
      return shapeError(location, op,
                        "needs operands that broadcast to one shape, has " + Twine(toString(a)) + " and " +
                            toString(b));
    else if (x.isStatic() || y.isStatic())
      out = x.isStatic() ? x : y;
    else if (x.lo > 1 && y.lo > 1) {
      if (!canBeEqual(x, y))
        return shapeError(location, op,
                          "needs operands that broadcast to one shape, has " + Twine(toString(a)) + " and " +
                              toString(b));
      out = meet(x, y);
    } else
      out = {std::max(x.lo, y.lo), std::max(x.hi, y.hi)};
  }
  return result;
}

bool broadcastsTo(ArrayRef<Dim> from, ArrayRef<Dim> to) {
  if (from.size() > to.size())
    return false;
  for (auto [a, b] : llvm::zip(from, to.take_back(from.size())))
    if (a != Dim(1) && !canBeEqual(a, b))
      return false;
  return true;
}

LogicalResult inferElementwise(std::optional<Location> location, StringRef op, ValueRange operands, Type element,
                               SmallVectorImpl<Type> &types) {
  Dims dims = dimsOf(operands.front().getType());
  for (Value operand : operands) {
    if (layoutOf(operand.getType()))
      return shapeError(location, op, "needs operands in row-major layout, has a packed one");
    FailureOr<Dims> joint = broadcastDims(location, op, dims, dimsOf(operand.getType()));
    if (failed(joint))
      return failure();
    dims = *joint;
  }
  types.push_back(tensorOf(dims, element));
  return success();
}

LogicalResult checkAxis(std::optional<Location> location, StringRef op, int64_t axis, int64_t rank) {
  if (axis >= 0 && axis < rank)
    return success();
  return shapeError(location, op,
                    "needs an axis in [0, " + Twine(rank) + ") for an operand of rank " + Twine(rank) + ", has " +
                        Twine(axis));
}

LogicalResult checkPermutation(std::optional<Location> location, StringRef op, ArrayRef<int64_t> permutation,
                               int64_t rank) {
  SmallVector<bool> seen(rank, false);
  bool valid = static_cast<int64_t>(permutation.size()) == rank;
  for (int64_t axis : permutation) {
    valid &= axis >= 0 && axis < rank && !seen[axis];
    if (!valid)
      break;
    seen[axis] = true;
  }
  if (valid)
    return success();
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(permutation, os);
  return shapeError(location, op, "needs a permutation of " + Twine(rank) + " dimensions, has [" + text + "]");
}

} // namespace plim::graph
