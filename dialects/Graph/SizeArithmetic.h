//===- SizeArithmetic.h - What shape arithmetic computes, without running it ---------------------------===//
//
// Models compute shapes by small integer tensors: shape_of, gather, mul, concat, reshape. This evaluates such ops entry
// by entry over a domain of the caller's, such as intervals or expressions of open dimensions. An entry that the domain
// cannot say is nullopt, a tensor that is no such thing has no entries at all.
//
//===----------------------------------------------------------------------------------------------------===//
#ifndef PLIM_DIALECTS_GRAPH_SIZEARITHMETIC_H
#define PLIM_DIALECTS_GRAPH_SIZEARITHMETIC_H

#include "dialects/Graph/Folding.h"
#include "llvm/ADT/DenseMap.h"

namespace plim::graph {

/// Whether a tensor is one that shapes are computed by: integers or truth values, row-major, few of them.
bool holdsSizes(mlir::Type type);

namespace detail {
/// Whether integers of a type can have all values of a range.
bool fits(mlir::Type element, Dim range);
} // namespace detail

template <typename Entry> class SizeArithmetic {
public:
  using Entries = llvm::SmallVector<std::optional<Entry>>;
  virtual ~SizeArithmetic() = default;

  /// Entries of the result of an op that has one, from those of its operands.
  std::optional<Entries> evaluate(mlir::Operation *op,
                                  llvm::function_ref<std::optional<Entries>(mlir::Value)> entriesOf);

protected:
  /// What is known of an entry; an end that is not known is that of int64_t.
  virtual Dim rangeOf(Entry entry) = 0;
  /// Whether two entries are equal in every run.
  virtual bool areEqual(Entry a, Entry b) = 0;
  virtual Entry number(int64_t value) = 0;
  virtual std::optional<Entry> sizeOf(mlir::Value tensor, unsigned dim) = 0;
  virtual std::optional<Entry> add(Entry a, Entry b) = 0;
  virtual std::optional<Entry> sub(Entry a, Entry b) = 0;
  virtual std::optional<Entry> mul(Entry a, Entry b) = 0;
  /// Of a >= 0 and b > 0.
  virtual std::optional<Entry> div(Entry a, Entry b) = 0;
  virtual std::optional<Entry> mod(Entry a, Entry b) = 0;
  virtual std::optional<Entry> min(Entry a, Entry b) = 0;
  virtual std::optional<Entry> max(Entry a, Entry b) = 0;
  /// One of the two, which one is not known.
  virtual std::optional<Entry> either(Entry a, Entry b) = 0;

private:
  std::optional<Entry> binary(mlir::Operation *op, Entry a, Entry b);
  std::optional<Entry> smaller(Entry a, Entry b);
  std::optional<Entry> larger(Entry a, Entry b);
  std::optional<bool> compare(mlir::Operation *op, Entry a, Entry b);
  std::optional<Entry> elementwise(mlir::Operation *op, llvm::ArrayRef<std::optional<Entry>> args);
  std::optional<Entry> reduce(ReduceKind kind, llvm::ArrayRef<std::optional<Entry>> entries);
};

/// The domain of intervals: what the types of the tensors say.
class SizeIntervals : public SizeArithmetic<Dim> {
public:
  /// Entries of any value, through the ops that define it; what is not known is from end to end.
  std::optional<Entries> entriesOf(mlir::Value value);

protected:
  Dim rangeOf(Dim entry) override { return entry; }
  bool areEqual(Dim a, Dim b) override { return a == b && a.isStatic(); }
  Dim number(int64_t value) override { return Dim(value); }
  std::optional<Dim> sizeOf(mlir::Value tensor, unsigned dim) override { return dimsOf(tensor.getType())[dim]; }
  std::optional<Dim> add(Dim a, Dim b) override;
  std::optional<Dim> sub(Dim a, Dim b) override;
  std::optional<Dim> mul(Dim a, Dim b) override;
  std::optional<Dim> div(Dim a, Dim b) override;
  std::optional<Dim> mod(Dim a, Dim b) override;
  std::optional<Dim> min(Dim a, Dim b) override { return Dim(std::min(a.lo, b.lo), std::min(a.hi, b.hi)); }
  std::optional<Dim> max(Dim a, Dim b) override { return Dim(std::max(a.lo, b.lo), std::max(a.hi, b.hi)); }
  std::optional<Dim> either(Dim a, Dim b) override { return Dim(std::min(a.lo, b.lo), std::max(a.hi, b.hi)); }

private:
  llvm::DenseMap<mlir::Value, std::optional<Entries>> known;
  unsigned depth = 0;
};

//===----------------------------------------------------------------------===//
// Implementation
//===----------------------------------------------------------------------===//

template <typename Entry> std::optional<Entry> SizeArithmetic<Entry>::binary(mlir::Operation *op, Entry a, Entry b) {
  Dim x = rangeOf(a), y = rangeOf(b);
  if (llvm::isa<AddOp>(op))
    return add(a, b);
  if (llvm::isa<SubOp>(op))
    return sub(a, b);
  if (llvm::isa<MulOp>(op))
    return mul(a, b);
  // Quotients of integers are cut off towards 0, which is down where nothing is negative.
  if (llvm::isa<DivOp>(op))
    return x.lo >= 0 && y.lo > 0 ? div(a, b) : std::nullopt;
  if (llvm::isa<ModOp>(op))
    return x.lo >= 0 && y.lo > 0 ? mod(a, b) : std::nullopt;
  if (llvm::isa<MinOp>(op))
    return smaller(a, b);
  if (llvm::isa<MaxOp>(op))
    return larger(a, b);
  return std::nullopt;
}

template <typename Entry> std::optional<Entry> SizeArithmetic<Entry>::smaller(Entry a, Entry b) {
  Dim x = rangeOf(a), y = rangeOf(b);
  return x.hi <= y.lo ? a : y.hi <= x.lo ? b : min(a, b);
}

template <typename Entry> std::optional<Entry> SizeArithmetic<Entry>::larger(Entry a, Entry b) {
  Dim x = rangeOf(a), y = rangeOf(b);
  return x.lo >= y.hi ? a : y.lo >= x.hi ? b : max(a, b);
}

template <typename Entry> std::optional<bool> SizeArithmetic<Entry>::compare(mlir::Operation *op, Entry a, Entry b) {
  Dim x = rangeOf(a), y = rangeOf(b);
  auto less = [](Dim p, Dim q) -> std::optional<bool> {
    return p.hi < q.lo ? std::optional(true) : p.lo >= q.hi ? std::optional(false) : std::nullopt;
  };
  auto inverse = [](std::optional<bool> known) { return known ? std::optional(!*known) : std::nullopt; };
  auto equal = [&]() -> std::optional<bool> {
    if (areEqual(a, b))
      return true;
    return canBeEqual(x, y) ? std::nullopt : std::optional(false);
  };
  if (llvm::isa<EqualOp>(op))
    return equal();
  if (llvm::isa<NotEqualOp>(op))
    return inverse(equal());
  if (llvm::isa<LessOp>(op))
    return less(x, y);
  if (llvm::isa<GreaterOp>(op))
    return less(y, x);
  if (llvm::isa<LessEqualOp>(op))
    return inverse(less(y, x));
  if (llvm::isa<GreaterEqualOp>(op))
    return inverse(less(x, y));
  // Of truth values.
  auto truth = [](Dim p) { return p.lo > 0 ? std::optional(true) : p == Dim(0) ? std::optional(false) : std::nullopt; };
  std::optional<bool> p = truth(x), q = truth(y);
  if (llvm::isa<AndOp>(op))
    return p == false || q == false ? std::optional(false) : p && q ? std::optional(true) : std::nullopt;
  if (llvm::isa<OrOp>(op))
    return p == true || q == true ? std::optional(true) : p && q ? std::optional(false) : std::nullopt;
  return std::nullopt;
}

template <typename Entry>
std::optional<Entry> SizeArithmetic<Entry>::elementwise(mlir::Operation *op,
                                                        llvm::ArrayRef<std::optional<Entry>> args) {
  if (llvm::isa<SelectOp>(op)) {
    Dim condition = args[0] ? rangeOf(*args[0]) : Dim(0, 1);
    if (condition.lo > 0)
      return args[1];
    if (condition.hi == 0)
      return args[2];
    if (!args[1] || !args[2])
      return std::nullopt;
    return areEqual(*args[1], *args[2]) ? args[1] : either(*args[1], *args[2]);
  }
  if (!llvm::all_of(args, [](const std::optional<Entry> &arg) { return arg.has_value(); }))
    return std::nullopt;
  if (llvm::isa<CastOp>(op)) {
    if (!elementTypeOf(op->getResult(0)).isInteger(1))
      return args[0];
    Dim range = rangeOf(*args[0]);
    return range.lo > 0 ? std::optional(number(1)) : range == Dim(0) ? std::optional(number(0)) : std::nullopt;
  }
  if (llvm::isa<ReluOp>(op))
    return larger(*args[0], number(0));
  if (auto clip = llvm::dyn_cast<ClipOp>(op)) {
    std::optional<Entry> entry = args[0];
    if (clip.getMin())
      entry = larger(*entry, number(int64_t(*clip.getMin())));
    if (entry && clip.getMax())
      entry = smaller(*entry, number(int64_t(*clip.getMax())));
    return entry;
  }
  if (llvm::isa<NegOp>(op))
    return sub(number(0), *args[0]);
  if (llvm::isa<AbsOp>(op))
    return rangeOf(*args[0]).lo >= 0 ? args[0] : std::nullopt;
  if (llvm::isa<NotOp>(op)) {
    Dim range = rangeOf(*args[0]);
    return range.isStatic() ? std::optional(number(range.lo == 0)) : std::nullopt;
  }
  if (args.size() != 2)
    return std::nullopt;
  if (std::optional<bool> truth = compare(op, *args[0], *args[1]))
    return number(*truth);
  return binary(op, *args[0], *args[1]);
}

template <typename Entry>
std::optional<Entry> SizeArithmetic<Entry>::reduce(ReduceKind kind, llvm::ArrayRef<std::optional<Entry>> entries) {
  std::optional<Entry> result;
  for (const std::optional<Entry> &entry : entries) {
    if (!entry)
      return std::nullopt;
    if (!result)
      result = entry;
    else if (kind == ReduceKind::Prod)
      result = mul(*result, *entry);
    else if (kind == ReduceKind::Sum)
      result = add(*result, *entry);
    else if (kind == ReduceKind::Max)
      result = max(*result, *entry);
    else if (kind == ReduceKind::Min)
      result = min(*result, *entry);
    else
      return std::nullopt;
    if (!result)
      return std::nullopt;
  }
  if (result)
    return result;
  if (kind == ReduceKind::Prod)
    return number(1);
  return kind == ReduceKind::Sum ? std::optional(number(0)) : std::nullopt;
}

template <typename Entry>
std::optional<typename SizeArithmetic<Entry>::Entries>
SizeArithmetic<Entry>::evaluate(mlir::Operation *op,
                                llvm::function_ref<std::optional<Entries>(mlir::Value)> entriesOf) {
  if (op->getNumResults() != 1 || !holdsSizes(op->getResult(0).getType()))
    return std::nullopt;
  llvm::ArrayRef<int64_t> shape = llvm::cast<mlir::RankedTensorType>(op->getResult(0).getType()).getShape();
  int64_t count = mlir::ShapedType::getNumElements(shape);
  Entries result;
  if (auto constant = llvm::dyn_cast<ConstantOp>(op)) {
    auto elements = llvm::dyn_cast<mlir::DenseIntElementsAttr>(constant.getValue());
    if (!elements)
      return std::nullopt;
    bool isUnsigned = elements.getElementType().isUnsignedInteger() || elements.getElementType().isInteger(1);
    for (const llvm::APInt &element : elements.template getValues<llvm::APInt>())
      result.push_back(number(isUnsigned ? int64_t(element.getZExtValue()) : element.getSExtValue()));
    return result;
  }
  if (auto fill = llvm::dyn_cast<FillOp>(op)) {
    result.assign(count, number(int64_t(fill.getValue())));
    return result;
  }
  if (auto shapeOf = llvm::dyn_cast<ShapeOfOp>(op)) {
    for (int64_t d = 0; d < count; ++d)
      result.push_back(sizeOf(shapeOf.getInput(), unsigned(d)));
    return result;
  }
  llvm::SmallVector<Entries> operands;
  for (mlir::Value operand : op->getOperands()) {
    std::optional<Entries> entries = entriesOf(operand);
    if (!entries)
      return std::nullopt;
    operands.push_back(std::move(*entries));
  }
  auto index = [&](unsigned operand, int64_t i) -> std::optional<int64_t> {
    const std::optional<Entry> &entry = operands[operand][i];
    Dim range = entry ? rangeOf(*entry) : Dim(0, 1);
    return range.isStatic() ? std::optional(range.lo) : std::nullopt;
  };
  if (auto moved = movedEntries(op, index)) {
    for (auto [operand, i] : *moved)
      result.push_back(operands[operand][i]);
    return result;
  }
  if (llvm::isa<ScalarBodyOpInterface>(op)) {
    llvm::SmallVector<llvm::SmallVector<int64_t>> indices;
    for (mlir::Value operand : op->getOperands())
      indices.push_back(broadcastIndices(llvm::cast<mlir::RankedTensorType>(operand.getType()).getShape(), shape));
    for (int64_t i = 0; i < count; ++i) {
      llvm::SmallVector<std::optional<Entry>> args;
      for (auto [entries, from] : llvm::zip_equal(operands, indices))
        args.push_back(entries[from[i]]);
      std::optional<Entry> entry = elementwise(op, args);
      // What does not fit the type would wrap.
      result.push_back(entry && detail::fits(elementTypeOf(op->getResult(0)), rangeOf(*entry)) ? entry : std::nullopt);
    }
    return result;
  }
  if (auto reduction = llvm::dyn_cast<ReduceOp>(op); reduction && count == 1) {
    result.push_back(reduce(reduction.getKind(), operands.front()));
    return result;
  }
  return std::nullopt;
}

} // namespace plim::graph

#endif
