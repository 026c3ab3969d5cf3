// Sizes that are not known yet: numbers where they are, else values of the graph. A size is an i64[1]; arithmetic on
// constants folds, and what remains is evaluated when the graph is lowered.
#include "compiler/Import/Onnx/ModelImporter.h"
#include "compiler/Import/Onnx/NodeImporter.h"
#include "dialects/Graph/SizeArithmetic.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

/// What is known of the entries of a shape-like value; everything is possible where nothing is known.
static std::optional<SmallVector<graph::Dim>> rangesOf(Value value) {
  if (!value || NodeImporter::typeOf(value).getRank() > 1)
    return std::nullopt;
  auto entries = graph::SizeIntervals().entriesOf(value);
  if (!entries)
    return std::nullopt;
  return llvm::map_to_vector(*entries, [](const std::optional<graph::Dim> &entry) { return *entry; });
}

std::optional<SmallVector<std::optional<int64_t>>> NodeImporter::partialInts(Value value) {
  auto ranges = rangesOf(value);
  if (!ranges)
    return std::nullopt;
  return llvm::map_to_vector(
      *ranges, [](graph::Dim range) { return range.isStatic() ? std::optional(range.lo) : std::nullopt; });
}

graph::Dim NodeImporter::rangeOf(Value size) {
  auto ranges = rangesOf(size);
  return ranges && ranges->size() == 1 ? ranges->front() : graph::Dim(INT64_MIN, graph::Dim::kUnbounded);
}

std::optional<int64_t> NodeImporter::knownSize(Value size) {
  graph::Dim range = rangeOf(size);
  return range.isStatic() ? std::optional(range.lo) : std::nullopt;
}

Value NodeImporter::entry(Value list, int64_t i) {
  if (failed)
    return {};
  if (auto ranges = rangesOf(list); ranges && (*ranges)[i].isStatic())
    return constant({(*ranges)[i].lo});
  Value entries = cast(list, b.getI64Type());
  if (!failed && typeOf(entries).getRank() != 1)
    entries = reshape(entries, {typeOf(entries).getNumElements()});
  return make<graph::SliceOp>(entries, ArrayRef<int64_t>{i}, ArrayRef<int64_t>{1});
}

Value NodeImporter::dim(Value tensor, int64_t axis) {
  if (failed)
    return {};
  if (!typeOf(tensor).isDynamicDim(axis))
    return constant({typeOf(tensor).getDimSize(axis)});
  return entry(make<graph::ShapeOfOp>(tensor), axis);
}

Value NodeImporter::product(ArrayRef<Value> sizes) {
  Value result = constant({1});
  for (Value size : sizes)
    result = knownSize(result) == 1 ? size : knownSize(size) == 1 ? result : make<graph::MulOp>(result, size);
  return result;
}

Value NodeImporter::clamp(Value size, Value least, Value most) {
  if (failed)
    return {};
  graph::Dim range = rangeOf(size), low = rangeOf(least), high = rangeOf(most);
  if (range.lo < low.hi)
    size = make<graph::MaxOp>(size, least);
  return most && range.hi > high.lo ? make<graph::MinOp>(size, most) : size;
}

Value NodeImporter::joined(ArrayRef<Value> sizes) {
  if (sizes.empty())
    return constant({});
  if (llvm::any_of(sizes, [](Value size) { return !size; }))
    return {};
  return sizes.size() == 1 ? sizes.front() : make<graph::ConcatOp>(sizes, uint64_t(0));
}

RankedTensorType NodeImporter::typeOfSizes(Value sizes, Type element) {
  graph::Dims dims;
  const auto ranges = rangesOf(sizes);
  for (graph::Dim range : *ranges)
    dims.push_back({std::max<int64_t>(range.lo, 0), std::max<int64_t>(range.hi, 0)});
  return graph::tensorOf(dims, element);
}

Value NodeImporter::reshapeTo(Value value, ArrayRef<Value> sizes) {
  if (failed || llvm::any_of(sizes, [](Value size) { return !size; }))
    return {};
  Ints target;
  unsigned open = 0;
  bool hasZero = false;
  for (Value size : sizes) {
    std::optional<int64_t> known = knownSize(size);
    open += !known;
    hasZero |= known == 0;
    target.push_back(known.value_or(-1));
  }
  // One size follows from the others, unless there are no elements to count.
  if (open == 0 || (open == 1 && !hasZero))
    return reshape(value, target);
  Value shape = joined(sizes);
  return failed ? Value()
                : makeTyped<graph::DynamicReshapeOp>(typeOfSizes(shape, typeOf(value).getElementType()), value, shape);
}

graph::Dim NodeImporter::boundOfResult(int64_t dim) const { return model.boundOf(outputName(0), dim); }

Value NodeImporter::broadcastTo(Value value, ArrayRef<Value> sizes, ArrayRef<int64_t> most) {
  if (failed || llvm::any_of(sizes, [](Value size) { return !size; }))
    return {};
  Ints target;
  for (Value size : sizes)
    if (std::optional<int64_t> known = knownSize(size))
      target.push_back(*known);
  if (target.size() == sizes.size())
    return make<graph::BroadcastOp>(value, target);
  Value shape = joined(sizes);
  if (failed)
    return {};
  graph::Dims dims = graph::dimsOf(typeOfSizes(shape, typeOf(value).getElementType()));
  for (auto [dim, bound] : llvm::zip(dims, most))
    dim.hi = std::max(std::min(dim.hi, bound), dim.lo);
  return makeTyped<graph::DynamicBroadcastOp>(graph::tensorOf(dims, typeOf(value).getElementType()), value, shape);
}

Value NodeImporter::sliceTo(Value value, ArrayRef<Value> starts, ArrayRef<Value> sizes, ArrayRef<int64_t> steps) {
  Value start = joined(starts), size = joined(sizes);
  if (failed || !start || !size)
    return {};
  graph::Dims dims = graph::dimsOf(typeOfSizes(size, typeOf(value).getElementType()));
  for (auto [dim, whole] : llvm::zip(dims, graph::dimsOf(typeOf(value))))
    dim = {std::min(dim.lo, whole.hi), std::min(dim.hi, whole.hi)};
  return makeTyped<graph::DynamicSliceOp>(graph::tensorOf(dims, typeOf(value).getElementType()), value, start, size,
                                          b.getDenseI64ArrayAttr(steps));
}

Value NodeImporter::firstOf(Value value, int64_t axis, Value count) {
  if (failed)
    return {};
  SmallVector<Value> starts, sizes;
  for (int64_t d = 0; d < typeOf(value).getRank(); ++d) {
    starts.push_back(constant({0}));
    sizes.push_back(d == axis ? count : dim(value, d));
  }
  return sliceTo(value, starts, sizes, Ints(starts.size(), 1));
}

Value NodeImporter::rangeOfSize(Value start, Value step, Value count) {
  if (failed || !start || !step || !count)
    return {};
  return makeTyped<graph::DynamicRangeOp>(typeOfSizes(count, typeOf(start).getElementType()), start, step, count);
}
