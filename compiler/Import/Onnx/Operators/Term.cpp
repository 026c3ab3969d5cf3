#include "compiler/Import/Onnx/Operators/Term.h"

#include <cmath>

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

Term Term::unsqueeze(int64_t axis) const {
  Ints to = openAsMinusOne(shape());
  if (value)
    to.insert(to.begin() + axis, 1);
  return reshape(to);
}

Term Term::slice(int64_t axis, int64_t start, int64_t size) const {
  if (!value)
    return *this;
  Ints starts(rank(), 0), sizes = openAsMinusOne(shape());
  starts[axis] = start;
  sizes[axis] = size;
  return apply<graph::SliceOp>(starts, sizes);
}

Term Term::pad(int64_t axis, int64_t low, int64_t high, double x) const {
  if (!value || (low == 0 && high == 0))
    return *this;
  Ints lows(rank(), 0), highs(rank(), 0);
  lows[axis] = low;
  highs[axis] = high;
  return apply<graph::PadOp>(lows, highs, graph::PadMode::Constant, x);
}

Term plim::onnx::concat(NodeImporter &n, ArrayRef<Term> terms, int64_t axis) {
  SmallVector<Value> values;
  for (Term term : terms) {
    if (!term)
      return Term(n, {});
    values.push_back(term);
  }
  return Term(n, values.size() == 1 ? values.front() : n.make<graph::ConcatOp>(values, axis));
}

Term plim::onnx::positions(NodeImporter &n, int64_t size, int64_t axis, int64_t rank, Type element) {
  Ints shape(rank, 1);
  if (rank)
    shape[axis] = size;
  return Term(n, n.indexGrid(size, 0, 0)).reshape(shape).cast(element);
}

Term plim::onnx::numbers(NodeImporter &n, ArrayRef<double> values, ArrayRef<int64_t> shape, Type element) {
  SmallVector<Attribute> attributes;
  for (double x : values) {
    if (!isa<FloatType>(element) && !(std::fabs(x) < 0x1p63)) {
      (void)n.error("the value " + Twine(std::to_string(x)) + " is none of its integers");
      return Term(n, {});
    }
    attributes.push_back(isa<FloatType>(element) ? Attribute(n.b.getFloatAttr(element, x))
                                                 : Attribute(n.b.getIntegerAttr(element, int64_t(x))));
  }
  return Term(n, n.make<graph::ConstantOp>(mlir::cast<ElementsAttr>(
                     DenseElementsAttr::get(RankedTensorType::get(shape, element), attributes))));
}

Term plim::onnx::gatherRows(Term data, Term indices) {
  NodeImporter &n = data.importer();
  if (!data || !indices)
    return Term(n, {});
  Term last = indices.unsqueeze(indices.rank());
  return last ? data.apply<graph::GatherNdOp>(Value(last), int64_t(1)) : last;
}
