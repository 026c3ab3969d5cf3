// Sequences of tensors: their lengths are known when a model is imported, so that they are lists of values then and
// nothing in the graph. Optional values likewise: one is there or not.
#include "compiler/Import/Onnx/Operators/Term.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

namespace {

bool needSequence(NodeImporter &n, unsigned i) {
  if (NodeImporter::isSequence(n[i]))
    return true;
  (void)n.error("input " + Twine(i) + " is a tensor, need a sequence");
  return false;
}

/// A place in a list of `size`, counted from its end where it is negative; `size` itself with `orEnd`.
std::optional<int64_t> placeIn(NodeImporter &n, unsigned i, int64_t size, bool orEnd) {
  const auto given = n.needInt(i, "position");
  if (!given)
    return std::nullopt;
  const int64_t most = orEnd ? size : size - 1;
  if (*given < -size || *given > most) {
    (void)n.error("position " + Twine(*given) + " of a sequence of " + Twine(size));
    return std::nullopt;
  }
  return *given < 0 ? *given + size : *given;
}

LogicalResult construct(NodeImporter &n) {
  const Type element = n.type(0).getElementType();
  for (unsigned i = 1; i < n.numInputs(); ++i)
    if (n.type(i).getElementType() != element)
      return n.error("tensors of one sequence have one element type; input " + Twine(i) + " has another");
  return n.finish(n.sequence(n.inputs));
}

LogicalResult empty(NodeImporter &n) {
  n.ignore({"dtype"});
  return n.finish(n.sequence({}));
}

LogicalResult at(NodeImporter &n) {
  if (!needSequence(n, 0))
    return failure();
  const auto elements = NodeImporter::elementsOf(n[0]);
  const auto place = placeIn(n, 1, elements.size(), false);
  return place ? n.finish(elements[*place]) : failure();
}

LogicalResult insert(NodeImporter &n) {
  if (!needSequence(n, 0))
    return failure();
  if (NodeImporter::isSequence(n[1]))
    return n.error("input 1 is a sequence, need a tensor");
  SmallVector<Value> elements(NodeImporter::elementsOf(n[0]));
  const auto place = n[2] ? placeIn(n, 2, elements.size(), true) : int64_t(elements.size());
  if (!place)
    return failure();
  elements.insert(elements.begin() + *place, n[1]);
  return n.finish(n.sequence(elements));
}

LogicalResult erase(NodeImporter &n) {
  if (!needSequence(n, 0))
    return failure();
  SmallVector<Value> elements(NodeImporter::elementsOf(n[0]));
  if (elements.empty())
    return n.error("nothing to erase: the sequence is empty");
  const auto place = n[1] ? placeIn(n, 1, elements.size(), false) : int64_t(elements.size()) - 1;
  if (!place)
    return failure();
  elements.erase(elements.begin() + *place);
  return n.finish(n.sequence(elements));
}

LogicalResult length(NodeImporter &n) {
  if (!needSequence(n, 0))
    return failure();
  return n.finish(n.scalar(int64_t(NodeImporter::elementsOf(n[0]).size())));
}

LogicalResult concatFromSequence(NodeImporter &n) {
  if (!needSequence(n, 0))
    return failure();
  const bool newAxis = n.integer("new_axis", 0) != 0;
  const auto elements = NodeImporter::elementsOf(n[0]);
  if (elements.empty())
    return n.error("need a sequence of at least 1 tensor");
  if (!n.has("axis"))
    return n.error("attribute 'axis' is missing");
  const auto axis = n.axisOf(n.integer("axis", 0), NodeImporter::typeOf(elements[0]).getRank() + newAxis);
  if (!axis)
    return failure();
  SmallVector<Term> parts;
  for (Value element : elements)
    parts.push_back(newAxis ? Term(n, element).unsqueeze(*axis) : Term(n, element));
  return n.finish(concat(n, parts, *axis));
}

/// Parts of the sizes in `split`, of one size where it is a scalar, single slices without it.
LogicalResult splitToSequence(NodeImporter &n) {
  const int64_t rank = n.type(0).getRank();
  const auto axis = n.axisOf(n.integer("axis", 0), rank);
  const bool keep = n.integer("keepdims", 1) != 0;
  if (!axis)
    return failure();
  const int64_t size = n.type(0).getDimSize(*axis);
  if (ShapedType::isDynamic(size))
    return n.error("the split dimension must be static");
  constexpr int64_t mostParts = 4096;
  Ints parts;
  if (n[1]) {
    const auto given = n.needInts(1, "split");
    if (!given)
      return failure();
    if (n.type(1).getRank() == 0) {
      if (given->front() < 1 || size / given->front() > mostParts)
        return n.error("need at most " + Twine(mostParts) + " parts of " + Twine(size) + ", each of size " +
                       Twine(given->front()));
      for (int64_t left = size; left > 0; left -= given->front())
        parts.push_back(std::min(left, given->front()));
    } else {
      parts = *given;
    }
  } else {
    if (size > mostParts)
      return n.error("need at most " + Twine(mostParts) + " parts, have a dimension of " + Twine(size));
    parts.assign(size, 1);
  }
  int64_t sum = 0;
  for (int64_t part : parts) {
    if (part < 0 || part > size)
      return n.error("a part has size " + Twine(part) + " of " + Twine(size));
    sum += part;
  }
  if (sum != size || parts.size() > size_t(mostParts))
    return n.error("need at most " + Twine(mostParts) + " parts of " + Twine(size) + " in sum, have " +
                   Twine(parts.size()) + " of " + Twine(sum));
  Ints without = openAsMinusOne(n.type(0).getShape());
  without.erase(without.begin() + *axis);
  SmallVector<Value> elements;
  int64_t start = 0;
  for (int64_t part : parts) {
    Term cut = Term(n, n[0]).slice(*axis, start, part);
    elements.push_back(!n[1] && !keep ? cut.reshape(without) : cut);
    start += part;
  }
  return n.finish(n.sequence(elements));
}

/// The body once for each element of the first sequence; others give their element at the same place, tensors
/// themselves.
LogicalResult map(NodeImporter &n) {
  const wire::Graph *body = n.graph("body");
  if (!body)
    return n.error("attribute 'body' is missing");
  if (!needSequence(n, 0))
    return failure();
  const size_t count = NodeImporter::elementsOf(n[0]).size();
  SmallVector<SmallVector<Value>> results(n.numOutputs());
  for (size_t i = 0; i < count; ++i) {
    SmallVector<Value> arguments, yields;
    for (Value input : n.inputs) {
      if (!NodeImporter::isSequence(input)) {
        arguments.push_back(input);
        continue;
      }
      const auto elements = NodeImporter::elementsOf(input);
      if (elements.size() != count)
        return n.error("need sequences of one length, have " + Twine(count) + " and " + Twine(elements.size()));
      arguments.push_back(elements[i]);
    }
    if (failed(n.importRegion(*body, n.b.getInsertionBlock(), arguments, yields)))
      return failure();
    if (yields.size() < results.size())
      return n.error("need a body of " + Twine(results.size()) + " outputs, have " + Twine(yields.size()));
    for (auto [list, value] : llvm::zip(results, yields))
      list.push_back(value);
  }
  SmallVector<Value> sequences;
  for (const SmallVector<Value> &list : results)
    sequences.push_back(n.sequence(list));
  return n.finish(sequences);
}

LogicalResult same(NodeImporter &n) {
  n.ignore({"type"});
  return n[0] ? n.finish(n[0]) : n.error("an optional value that is not there is not supported");
}

LogicalResult hasElement(NodeImporter &n) { return n.finish(Term(n, n.fill({}, n[0] ? 1 : 0, n.b.getI1Type()))); }

constexpr const char *constantPlace = "the position must be known at compile time";

constexpr OperatorRow rows[] = {
    {"ConcatFromSequence", 1, 1, concatFromSequence, 11, noVersion, "", "", true},
    {"Identity", 1, 1, same, 7, noVersion, "", "", true},
    {"Optional", 1, 1, same, 15, noVersion, "", "values that are there", true},
    {"OptionalGetElement", 1, 1, same, 15, noVersion, "", "", true},
    {"OptionalHasElement", 0, 1, hasElement, 15, noVersion, "", "", true},
    {"SequenceAt", 2, 2, at, 11, noVersion, "", constantPlace, true},
    {"SequenceConstruct", 1, anyNumber, construct, 11},
    {"SequenceEmpty", 0, 0, empty, 11, noVersion, "", "", true},
    {"SequenceErase", 1, 2, erase, 11, noVersion, "", constantPlace, true},
    {"SequenceInsert", 2, 3, insert, 11, noVersion, "", constantPlace, true},
    {"SequenceLength", 1, 1, length, 11, noVersion, "", "", true},
    {"SequenceMap", 1, anyNumber, map, 17, noVersion, "", "", true},
    {"SplitToSequence", 1, 2, splitToSequence, 11, noVersion, "", "a static dimension; sizes known at compile time"},
};

} // namespace

ArrayRef<OperatorRow> plim::onnx::sequenceOperators() { return rows; }
