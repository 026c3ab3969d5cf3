//===- DynamicSizeRules.cpp - Sizes that are values of the run ----------------------------===//
#include "compiler/Lowering/GraphToPlan/SymbolicDims.h"

using namespace mlir;

namespace plim::lowering {

FailureOr<Sizes> SizeRule::given(Value sizes, function_ref<graph::Dim(size_t)> bounds) {
  auto type = cast<RankedTensorType>(sizes.getType());
  auto found = known.entries.find(sizes);
  Sizes entries = found != known.entries.end() ? found->second : Sizes(size_t(type.getNumElements()));
  for (auto [i, entry] : llvm::enumerate(entries))
    if (!entry)
      entry = known.define({SymbolicDims::Definition::Load, 0, op, sizes, int64_t(i), {}, {}}, bounds(i));
  return known.given[sizes] = entries;
}

FailureOr<Sizes> SizeRule::resultSizes(Value sizes, function_ref<int64_t(size_t)> most) {
  // A bound that the user gave is in the type of the result.
  graph::Dims declared = graph::dimsOf(op->getResult(0).getType());
  std::optional<size_t> open;
  FailureOr<Sizes> result = given(sizes, [&](size_t d) {
    graph::Dim bounds(declared[d].lo, std::min(declared[d].hi, most(d)));
    if (!bounds.isBounded() && !open)
      open = d;
    return bounds;
  });
  if (open) {
    auto names = op->getAttrOfType<ArrayAttr>("graph.outputs");
    std::string name = names && !names.empty() ? cast<StringAttr>(names[0]).str() : "NAME";
    return refuse("dimension " + Twine(*open) +
                  " of its result is known only when the model runs; give it a bound by "
                  "--bound '" +
                  name + "." + Twine(*open) + "=LEAST..MOST'");
  }
  for (auto [d, size] : llvm::enumerate(*result))
    if (known.rangeOf(size).lo < 0)
      need(size, 0, graph::Dim::kUnbounded, "a size is negative");
  return result;
}

/// The bounds of each size, and of their product.
static graph::Dim elementRange(const SymbolicDims &known, SizesRef sizes) {
  graph::Dims dims = llvm::map_to_vector<6>(sizes, [&](AffineExpr e) { return known.rangeOf(e); });
  return graph::elementsOf(dims);
}

FailureOr<Sizes> SizeRule::dynamicReshape(graph::DynamicReshapeOp reshape) {
  Sizes from = of(reshape.getInput());
  // No size is larger than there are elements, but where there are none: then the sizes are those of the input, in
  // another order, in all that models do.
  int64_t most = std::max<int64_t>(elementRange(known, from).hi, 1);
  for (AffineExpr size : from)
    most = std::max(most, known.rangeOf(size).hi);
  FailureOr<Sizes> result = resultSizes(reshape.getShape(), [&](size_t) { return most; });
  if (failed(result))
    return failure();
  AffineExpr before = number(1), after = number(1);
  // What both have need not be multiplied out to be equal.
  Sizes left(from);
  for (AffineExpr size : *result) {
    auto *same = llvm::find(left, size);
    if (same != left.end() && !constantOf(size))
      left.erase(same);
    else
      after = after * size;
  }
  for (AffineExpr size : left)
    before = before * size;
  equal(before, after);
  return result;
}

FailureOr<Sizes> SizeRule::dynamicBroadcast(graph::DynamicBroadcastOp broadcast) {
  Sizes from = of(broadcast.getInput());
  size_t rank = size_t(graph::rankOf(broadcast.getResult())), missing = rank - from.size();
  auto old = [&](size_t d) { return d < missing ? number(1) : from[d - missing]; };
  FailureOr<Sizes> result = resultSizes(broadcast.getShape(), [&](size_t d) {
    graph::Dim range = known.rangeOf(old(d));
    return range.lo > 1 ? range.hi : graph::Dim::kUnbounded;
  });
  if (failed(result))
    return failure();
  for (auto [d, size] : llvm::enumerate(*result)) {
    if (old(d) == number(1))
      continue;
    // A dimension that is 1 in some runs only is not repeated: strides are the same in every run.
    equal(size, old(d));
    size = old(d);
  }
  return result;
}

FailureOr<Sizes> SizeRule::dynamicSlice(graph::DynamicSliceOp slice) {
  Sizes from = of(slice.getInput());
  auto most = [&](size_t d) { return known.rangeOf(from[d]).hi; };
  FailureOr<Sizes> starts = given(slice.getStarts(), [&](size_t d) { return graph::Dim(0, most(d)); });
  FailureOr<Sizes> sizes = resultSizes(slice.getSizes(), most);
  if (failed(sizes))
    return failure();
  for (auto [d, step] : llvm::enumerate(slice.getSteps())) {
    AffineExpr start = (*starts)[d], size = (*sizes)[d];
    if (start == number(0) && size == from[d] && step == 1)
      continue;
    // An empty slice may start at the end.
    need(start, 0, graph::Dim::kUnbounded, "a slice starts before dimension " + Twine(d));
    if (step != 1)
      need(known.simplified(from[d] - start), 0, graph::Dim::kUnbounded, "a slice starts beyond dimension " + Twine(d));
    AffineExpr last = start + (size - 1) * step;
    need(known.simplified(from[d] - 1 - last), 0, graph::Dim::kUnbounded, "a slice ends beyond dimension " + Twine(d));
  }
  return sizes;
}

FailureOr<Sizes> SizeRule::nonzero(graph::NonzeroOp nonzero) {
  int64_t most = elementRange(known, of(nonzero.getInput())).hi;
  FailureOr<Sizes> count = resultSizes(nonzero.getCount(), [&](size_t) { return most; });
  if (succeeded(count))
    count->push_back(number(graph::rankOf(nonzero.getInput())));
  return count;
}

/// Those of the ops inside, whose needs are the fused op's.
FailureOr<SmallVector<Sizes>> SizeRule::fused(graph::FusedOp fused) {
  for (auto [argument, input] : llvm::zip_equal(fused.getBody().getArguments(), fused.getInputs()))
    known.sizes[argument] = of(input);
  size_t before = conditions.size();
  for (Operation &inner : fused.getBody().front().without_terminator()) {
    if (failed(known.addResults(&inner))) {
      reason = "an op inside has none";
      return failure();
    }
  }
  for (SymbolicDims::Condition &condition : llvm::MutableArrayRef(conditions).drop_front(before))
    condition.op = fused;
  SmallVector<Sizes> results;
  for (Value value : fused.getYield().getOperands())
    results.push_back(of(value));
  return results;
}

FailureOr<SmallVector<Sizes>> SizeRule::unique(graph::UniqueOp unique) {
  Sizes from = of(unique.getInput());
  AffineExpr slices = number(1);
  if (unique.getAxis() != -1)
    slices = from[size_t(unique.getAxis())];
  else
    for (AffineExpr size : from)
      slices = slices * size;
  return SmallVector<Sizes>{{slices}, {slices}, {slices}, {}};
}

FailureOr<SmallVector<Sizes>> SizeRule::nonMaxSuppression(graph::NonMaxSuppressionOp suppression) {
  Sizes boxes = of(suppression.getBoxes()), scores = of(suppression.getScores());
  equal(boxes[0], scores[0]);
  equal(boxes[1], scores[2]);
  equal(boxes[2], number(4));
  AffineExpr limit = known.smaller(scores[2], number(suppression.getLimit()), op);
  return SmallVector<Sizes>{{scores[0] * scores[1] * limit, number(3)}, {}};
}

} // namespace plim::lowering
