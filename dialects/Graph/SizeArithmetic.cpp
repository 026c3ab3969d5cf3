//===- SizeArithmetic.cpp - What shape arithmetic computes, without running it -------------------------===//

#include "dialects/Graph/SizeArithmetic.h"

using namespace mlir;

namespace plim::graph {
namespace {

/// No shape has more entries; a tensor that is larger is data.
constexpr int64_t kMostEntries = 1024;

/// Chains of shape arithmetic are short; longer ones are not worth their stack.
constexpr unsigned kMostDepth = 200;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = Dim::kUnbounded;

ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

/// Ends of intervals stop at those of int64_t.
int64_t clamped(__int128 value) { return int64_t(std::clamp<__int128>(value, kLeast, kMost)); }

} // namespace

bool holdsSizes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa<IntegerType>(tensor.getElementType()) && tensor.hasStaticShape() && !layoutOf(tensor) &&
         tensor.getNumElements() <= kMostEntries;
}

bool detail::fits(Type element, Dim range) {
  unsigned bits = element.getIntOrFloatBitWidth();
  if (element.isInteger(1))
    return range.lo >= 0 && range.hi <= 1;
  if (element.isUnsignedInteger())
    return range.lo >= 0 && (bits == 64 || range.hi < int64_t(1) << bits);
  return bits == 64 || (range.lo >= -(int64_t(1) << (bits - 1)) && range.hi < int64_t(1) << (bits - 1));
}

std::optional<SmallVector<std::pair<unsigned, int64_t>>>
detail::movedEntries(Operation *op, function_ref<std::optional<int64_t>(unsigned, int64_t)> index) {
  ArrayRef<int64_t> to = shapeOf(op->getResult(0));
  SmallVector<std::pair<unsigned, int64_t>> moved;
  int64_t count = ShapedType::getNumElements(to);
  // One operand, at the coordinates that a function makes of the result's.
  auto through = [&](auto coordinatesIn) {
    for (int64_t i = 0; i < count; ++i)
      moved.push_back({0, indexOf(coordinatesIn(coordinatesOf(i, to)), shapeOf(op->getOperand(0)))});
    return moved;
  };
  using Coordinates = SmallVector<int64_t>;
  if (isa<ReshapeOp, DynamicReshapeOp>(op)) {
    if (ShapedType::getNumElements(shapeOf(op->getOperand(0))) != count)
      return std::nullopt;
    for (int64_t i = 0; i < count; ++i)
      moved.push_back({0, i});
    return moved;
  }
  if (isa<BroadcastOp, DynamicBroadcastOp>(op)) {
    for (int64_t i : broadcastIndices(shapeOf(op->getOperand(0)), to))
      moved.push_back({0, i});
    return moved;
  }
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return through([&](Coordinates at) {
      Coordinates from(at.size());
      for (auto [coordinate, axis] : llvm::zip(at, transpose.getPermutation()))
        from[axis] = coordinate;
      return from;
    });
  if (auto slice = dyn_cast<SliceOp>(op)) {
    SmallVector<int64_t> steps = slice.getFullSteps();
    return through([&](Coordinates at) {
      for (auto [coordinate, start, step] : llvm::zip(at, slice.getStarts(), steps))
        coordinate = start + coordinate * step;
      return at;
    });
  }
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    for (int64_t i = 0; i < count; ++i) {
      Coordinates at = coordinatesOf(i, to);
      unsigned operand = 0;
      int64_t &position = at[concat.getAxis()];
      while (position >= shapeOf(concat.getInputs()[operand])[concat.getAxis()])
        position -= shapeOf(concat.getInputs()[operand++])[concat.getAxis()];
      moved.push_back({operand, indexOf(at, shapeOf(concat.getInputs()[operand]))});
    }
    return moved;
  }
  auto gather = dyn_cast<GatherOp>(op);
  if (!gather)
    return std::nullopt;
  ArrayRef<int64_t> from = shapeOf(gather.getInput()), indices = shapeOf(gather.getIndices());
  size_t axis = size_t(gather.getAxis());
  for (int64_t i = 0; i < count; ++i) {
    Coordinates at = coordinatesOf(i, to);
    ArrayRef<int64_t> inner = ArrayRef(at).slice(axis, indices.size());
    std::optional<int64_t> picked = index(1, indexOf(inner, indices));
    if (!picked || *picked < -from[axis] || *picked >= from[axis])
      return std::nullopt;
    Coordinates source(at.begin(), at.begin() + axis);
    source.push_back(*picked < 0 ? *picked + from[axis] : *picked);
    source.append(at.begin() + axis + indices.size(), at.end());
    moved.push_back({0, indexOf(source, from)});
  }
  return moved;
}

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

std::optional<Dim> SizeIntervals::add(Dim a, Dim b) {
  return Dim(a.lo == kLeast || b.lo == kLeast ? kLeast : clamped(__int128(a.lo) + b.lo),
             a.hi == kMost || b.hi == kMost ? kMost : clamped(__int128(a.hi) + b.hi));
}

std::optional<Dim> SizeIntervals::sub(Dim a, Dim b) {
  return Dim(a.lo == kLeast || b.hi == kMost ? kLeast : clamped(__int128(a.lo) - b.hi),
             a.hi == kMost || b.lo == kLeast ? kMost : clamped(__int128(a.hi) - b.lo));
}

std::optional<Dim> SizeIntervals::mul(Dim a, Dim b) {
  int64_t ends[] = {clamped(__int128(a.lo) * b.lo), clamped(__int128(a.lo) * b.hi), clamped(__int128(a.hi) * b.lo),
                    clamped(__int128(a.hi) * b.hi)};
  return Dim(*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4));
}

std::optional<Dim> SizeIntervals::div(Dim a, Dim b) { return Dim(a.lo / b.hi, a.hi == kMost ? kMost : a.hi / b.lo); }

std::optional<Dim> SizeIntervals::mod(Dim a, Dim b) { return Dim(0, std::min(a.hi, b.hi - 1)); }

std::optional<SizeIntervals::Entries> SizeIntervals::entriesOf(Value value) {
  if (!holdsSizes(value.getType()))
    return std::nullopt;
  if (auto found = known.find(value); found != known.end())
    return found->second;
  std::optional<Entries> result;
  if (Operation *op = value.getDefiningOp(); op && depth < kMostDepth) {
    ++depth;
    result = evaluate(op, [this](Value operand) { return entriesOf(operand); });
    --depth;
  }
  if (!result)
    result = Entries(cast<RankedTensorType>(value.getType()).getNumElements());
  // What is not known is any number.
  Dim any = graph::elementTypeOf(value).isInteger(1) ? Dim(0, 1) : Dim(kLeast, kMost);
  for (std::optional<Dim> &entry : *result)
    entry = entry.value_or(any);
  return known[value] = result;
}

} // namespace plim::graph
