//===- AttentionMask.cpp - What a mask of constants hides -----------------------------------------------------===//
//
// Models write the causal mask as a triangle of constants: trilu of ones, or a comparison of two ranges. Its elements
// are computed one at a time from the ops that make it.
//
//===----------------------------------------------------------------------------------------------------===//

#include "compiler/Transforms/Graph/AttentionPattern.h"
#include "dialects/Graph/Folding.h"
#include <cmath>

using namespace mlir;

namespace plim::graph {
namespace {

using Coordinates = SmallVector<int64_t, 6>;

/// Evaluates single elements of values that depend on constants alone.
class PointEvaluator {
public:
  std::optional<double> at(Value value, ArrayRef<int64_t> where) {
    if (!hasStaticShape(value))
      return std::nullopt;
    if (std::optional<double> splat = splatOf(value))
      return splat;
    Operation *op = value.getDefiningOp();
    if (!op || ++steps > mostSteps)
      return std::nullopt;
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      auto [known, isNew] = constants.try_emplace(op);
      if (isNew)
        known->second = Elements::read(constant.getValue());
      const std::optional<Elements> &elements = known->second;
      int64_t index = indexOf(where, shapeOf(value));
      if (!elements)
        return std::nullopt;
      return elements->isFloat ? elements->floats[index] : static_cast<double>(elements->ints[index]);
    }
    if (auto range = dyn_cast<RangeOp>(op)) {
      std::optional<double> start = splatOf(range.getStart()), step = splatOf(range.getStep());
      return start && step ? std::optional(*start + *step * static_cast<double>(where[0])) : std::nullopt;
    }
    if (isa<ReshapeOp, TransposeOp, SliceOp, BroadcastOp>(op))
      return at(op->getOperand(0), moved(op, where));
    return elementwise(op, where);
  }

private:
  /// Where an element of a movement's result comes from.
  static Coordinates moved(Operation *op, ArrayRef<int64_t> where) {
    ArrayRef<int64_t> from = shapeOf(op->getOperand(0));
    if (isa<ReshapeOp>(op))
      return Coordinates(coordinatesOf(indexOf(where, shapeOf(op->getResult(0))), from));
    Coordinates source(from.size());
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      for (auto [i, axis] : llvm::enumerate(transpose.getPermutation()))
        source[axis] = where[i];
    } else if (auto slice = dyn_cast<SliceOp>(op)) {
      SmallVector<int64_t> steps = slice.getFullSteps();
      for (size_t i = 0; i < source.size(); ++i)
        source[i] = slice.getStarts()[i] + where[i] * steps[i];
    } else {
      source = broadcast(from, where);
    }
    return source;
  }

  static Coordinates broadcast(ArrayRef<int64_t> from, ArrayRef<int64_t> where) {
    Coordinates source(where.take_back(from.size()));
    for (size_t i = 0; i < source.size(); ++i)
      source[i] = from[i] == 1 ? 0 : source[i];
    return source;
  }

  std::optional<double> elementwise(Operation *op, ArrayRef<int64_t> where) {
    if (!isa<AddOp, SubOp, MulOp, LessOp, LessEqualOp, GreaterOp, GreaterEqualOp, EqualOp, NotEqualOp, AndOp, OrOp,
             NotOp, SelectOp, CastOp>(op))
      return std::nullopt;
    SmallVector<double, 3> x;
    for (Value operand : op->getOperands()) {
      std::optional<double> element = at(operand, broadcast(shapeOf(operand), where));
      if (!element)
        return std::nullopt;
      x.push_back(*element);
    }
    if (isa<AddOp>(op))
      return x[0] + x[1];
    if (isa<SubOp>(op))
      return x[0] - x[1];
    if (isa<MulOp>(op))
      return x[0] * x[1];
    if (isa<LessOp>(op))
      return x[0] < x[1];
    if (isa<LessEqualOp>(op))
      return x[0] <= x[1];
    if (isa<GreaterOp>(op))
      return x[0] > x[1];
    if (isa<GreaterEqualOp>(op))
      return x[0] >= x[1];
    if (isa<EqualOp>(op))
      return x[0] == x[1];
    if (isa<NotEqualOp>(op))
      return x[0] != x[1];
    if (isa<AndOp>(op))
      return x[0] != 0 && x[1] != 0;
    if (isa<OrOp>(op))
      return x[0] != 0 || x[1] != 0;
    if (isa<NotOp>(op))
      return x[0] == 0;
    if (isa<SelectOp>(op))
      return x[0] != 0 ? x[1] : x[2];
    Type to = cast<CastOp>(op).getTo();
    if (to.isInteger(1))
      return x[0] != 0;
    return isa<FloatType>(to) ? x[0] : std::trunc(x[0]);
  }

  static constexpr int64_t mostSteps = int64_t(1) << 24; // a fraction of a second
  int64_t steps = 0;
  llvm::DenseMap<Operation *, std::optional<Elements>> constants;
};

} // namespace

MaskKind kindOf(const ScoreMask &mask, int64_t queries, int64_t keys) {
  Value value = mask.added ? mask.added : mask.keep;
  ArrayRef<int64_t> shape = shapeOf(value);
  if (ShapedType::isDynamic(queries) || ShapedType::isDynamic(keys) || keys < queries || !hasStaticShape(value) ||
      llvm::any_of(shape.drop_back(std::min<size_t>(shape.size(), 2)), [](int64_t size) { return size != 1; }))
    return MaskKind::Other;
  PointEvaluator evaluator;
  bool hides = false, causal = true;
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j) {
      Coordinates where(std::max<size_t>(shape.size(), 2), 0);
      where[where.size() - 2] = i, where[where.size() - 1] = j;
      Coordinates own(ArrayRef(where).take_back(shape.size()));
      for (size_t d = 0; d < own.size(); ++d)
        own[d] = shape[d] == 1 ? 0 : own[d];
      std::optional<double> element = evaluator.at(value, own);
      if (!element)
        return MaskKind::Other;
      bool seen = mask.added ? *element == 0 : (*element != 0) != mask.keepIsInverted;
      if (mask.added && !seen && !(*element <= -1e4))
        return MaskKind::Other;
      hides |= !seen;
      causal &= seen == (j <= i + keys - queries);
      if (hides && !causal)
        return MaskKind::Other;
    }
  return !hides ? MaskKind::Nothing : causal ? MaskKind::Causal : MaskKind::Other;
}

} // namespace plim::graph
