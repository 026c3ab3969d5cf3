//===- AttentionMask.cpp - What a mask of constants hides -----------------------------------------------------===//
//
// Models write the causal mask as a triangle of constants: trilu of ones, or a comparison of two ranges. Its elements
// are computed line by line from the ops that make it.
//
//===----------------------------------------------------------------------------------------------------===//

#include "compiler/Transforms/Graph/AttentionPattern.h"
#include "dialects/Graph/Folding.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;

namespace plim::graph {
namespace {

using Coordinates = SmallVector<int64_t, 6>;

/// What an elementwise op computes of one element of each operand.
template <typename Visit> bool visitFormula(Operation *op, Visit visit) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](AddOp) { return visit([](double a, double b, double) { return a + b; }); })
      .Case([&](SubOp) { return visit([](double a, double b, double) { return a - b; }); })
      .Case([&](MulOp) { return visit([](double a, double b, double) { return a * b; }); })
      .Case([&](LessOp) { return visit([](double a, double b, double) -> double { return a < b; }); })
      .Case([&](LessEqualOp) { return visit([](double a, double b, double) -> double { return a <= b; }); })
      .Case([&](GreaterOp) { return visit([](double a, double b, double) -> double { return a > b; }); })
      .Case([&](GreaterEqualOp) { return visit([](double a, double b, double) -> double { return a >= b; }); })
      .Case([&](EqualOp) { return visit([](double a, double b, double) -> double { return a == b; }); })
      .Case([&](NotEqualOp) { return visit([](double a, double b, double) -> double { return a != b; }); })
      .Case([&](AndOp) { return visit([](double a, double b, double) -> double { return a != 0 && b != 0; }); })
      .Case([&](OrOp) { return visit([](double a, double b, double) -> double { return a != 0 || b != 0; }); })
      .Case([&](NotOp) { return visit([](double a, double, double) -> double { return a == 0; }); })
      .Case([&](SelectOp) { return visit([](double a, double b, double c) { return a != 0 ? b : c; }); })
      .Case([&](CastOp cast) {
        if (cast.getTo().isInteger(1))
          return visit([](double a, double, double) -> double { return a != 0; });
        if (isa<FloatType>(cast.getTo()))
          return visit([](double a, double, double) { return a; });
        return visit([](double a, double, double) { return std::trunc(a); });
      })
      .Default(false);
}

/// Elements along the innermost axis; all the same one where there is one only.
using Line = SmallVector<double, 0>;
double elementOf(const Line &line, int64_t i) { return line[line.size() == 1 ? 0 : i]; }

/// Evaluates values that depend on constants alone: whole lines where ops go element by element, single elements where
/// they move them.
class ConstantEvaluator {
public:
  /// The elements at `where`, whose last entry counts for nothing, along the last axis.
  std::optional<Line> line(Value value, Coordinates where) {
    if (!hasStaticShape(value))
      return std::nullopt;
    if (std::optional<double> splat = splatOf(value))
      return Line(1, *splat);
    int64_t length = where.empty() ? 1 : shapeOf(value).back();
    Operation *op = value.getDefiningOp();
    if (!op || (steps += length) > mostSteps)
      return std::nullopt;
    if (isa<BroadcastOp>(op))
      return line(op->getOperand(0), broadcast(shapeOf(op->getOperand(0)), where));
    if (movesLines(op)) {
      where.back() = 0;
      std::optional<Line> source = line(op->getOperand(0), moved(op, where));
      if (auto slice = dyn_cast<SliceOp>(op); slice && source && source->size() > 1) {
        Line part(length);
        for (int64_t j = 0; j < length; ++j)
          part[j] = (*source)[slice.getStarts().back() + j * slice.getFullSteps().back()];
        return part;
      }
      return source;
    }
    SmallVector<Line, 3> x;
    auto combine = [&](auto formula) {
      // Operands that are not there, or are one element, are read again and again.
      const double none = 0;
      const double *from[3] = {&none, &none, &none};
      int64_t step[3] = {0, 0, 0};
      for (auto [i, elements] : llvm::enumerate(x))
        from[i] = elements.data(), step[i] = elements.size() > 1;
      Line out(length);
      for (int64_t j = 0; j < length; ++j)
        out[j] = formula(from[0][j * step[0]], from[1][j * step[1]], from[2][j * step[2]]);
      result = std::move(out);
      return true;
    };
    if (visitFormula(op, [](auto) { return true; })) {
      for (Value operand : op->getOperands()) {
        std::optional<Line> elements = line(operand, broadcast(shapeOf(operand), where));
        if (!elements)
          return std::nullopt;
        x.push_back(std::move(*elements));
      }
      visitFormula(op, combine);
      return std::move(result);
    }
    if (where.empty())
      return std::nullopt; // a number that is not known
    where.back() = 0;
    if (isa<ConstantOp, RangeOp>(op))
      return leaves(op, indexOf(where, shapeOf(value)), length);
    Line out(length);
    for (int64_t j = 0; j < length; ++j) {
      where.back() = j;
      std::optional<double> element = at(value, where);
      if (!element)
        return std::nullopt;
      out[j] = *element;
    }
    return out;
  }

private:
  /// Whether a line of the op's result is one of its operand, or a part of one.
  static bool movesLines(Operation *op) {
    if (!isa<ReshapeOp, TransposeOp, SliceOp>(op) || shapeOf(op->getResult(0)).empty())
      return false;
    if (auto transpose = dyn_cast<TransposeOp>(op))
      return transpose.getPermutation().back() == static_cast<int64_t>(transpose.getPermutation().size()) - 1;
    ArrayRef<int64_t> from = shapeOf(op->getOperand(0));
    return isa<SliceOp>(op) || (!from.empty() && from.back() == shapeOf(op->getResult(0)).back());
  }

  /// Elements from `first` on of a constant or a range.
  std::optional<Line> leaves(Operation *op, int64_t first, int64_t count) {
    Line out(count);
    if (auto range = dyn_cast<RangeOp>(op)) {
      std::optional<double> start = splatOf(range.getStart()), step = splatOf(range.getStep());
      if (!start || !step)
        return std::nullopt;
      for (int64_t i = 0; i < count; ++i)
        out[i] = *start + *step * static_cast<double>(first + i);
      return out;
    }
    auto [known, isNew] = constants.try_emplace(op);
    if (isNew)
      known->second = Elements::read(cast<ConstantOp>(op).getValue());
    const std::optional<Elements> &elements = known->second;
    if (!elements)
      return std::nullopt;
    for (int64_t i = 0; i < count; ++i)
      out[i] = elements->isFloat ? elements->floats[first + i] : static_cast<double>(elements->ints[first + i]);
    return out;
  }

  std::optional<double> at(Value value, ArrayRef<int64_t> where) {
    if (!hasStaticShape(value))
      return std::nullopt;
    if (std::optional<double> splat = splatOf(value))
      return splat;
    Operation *op = value.getDefiningOp();
    if (!op || (steps += stepsOfPoint) > mostSteps)
      return std::nullopt;
    if (isa<ConstantOp, RangeOp>(op)) {
      std::optional<Line> element = where.empty() ? std::nullopt : leaves(op, indexOf(where, shapeOf(value)), 1);
      return element ? std::optional((*element)[0]) : std::nullopt;
    }
    if (isa<ReshapeOp, TransposeOp, SliceOp, BroadcastOp>(op))
      return at(op->getOperand(0), moved(op, where));
    SmallVector<double, 3> x;
    std::optional<double> element;
    bool all = visitFormula(op, [](auto) { return true; }) && llvm::all_of(op->getOperands(), [&](Value operand) {
                 element = at(operand, broadcast(shapeOf(operand), where));
                 x.push_back(element.value_or(0));
                 return element.has_value();
               });
    if (!all)
      return std::nullopt;
    x.resize(3);
    visitFormula(op, [&](auto formula) { return element = formula(x[0], x[1], x[2]), true; });
    return element;
  }

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

  static constexpr int64_t mostSteps = int64_t(1) << 29; // elements of lines; about a second
  static constexpr int64_t stepsOfPoint = 32;
  int64_t steps = 0;
  Line result; // of the op that is combined
  llvm::DenseMap<Operation *, std::optional<Elements>> constants;
};

} // namespace

MaskKind kindOf(const ScoreMask &mask, int64_t queries, int64_t keys) {
  Value value = mask.added ? mask.added : mask.keep;
  ArrayRef<int64_t> shape = shapeOf(value);
  if (ShapedType::isDynamic(queries) || ShapedType::isDynamic(keys) || keys < queries || !hasStaticShape(value) ||
      llvm::any_of(shape.drop_back(std::min<size_t>(shape.size(), 2)), [](int64_t size) { return size != 1; }))
    return MaskKind::Other;
  ConstantEvaluator evaluator;
  bool hides = false, causal = true;
  for (int64_t i = 0; i < queries; ++i) {
    Coordinates where(shape.size(), 0);
    if (shape.size() >= 2 && shape[shape.size() - 2] != 1)
      where[where.size() - 2] = i;
    std::optional<Line> line = evaluator.line(value, where);
    if (!line)
      return MaskKind::Other;
    for (int64_t j = 0; j < keys; ++j) {
      double element = elementOf(*line, j);
      bool seen = mask.added ? element == 0 : (element != 0) != mask.keepIsInverted;
      if (mask.added && !seen && !(element <= mostHidden))
        return MaskKind::Other;
      hides |= !seen;
      causal &= seen == (j <= i + keys - queries);
    }
    if (hides && !causal)
      return MaskKind::Other;
  }
  return !hides ? MaskKind::Nothing : causal ? MaskKind::Causal : MaskKind::Other;
}

} // namespace plim::graph
