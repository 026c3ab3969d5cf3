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
