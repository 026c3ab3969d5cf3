//===- RunSizes.cpp - Sizes as scalars of a run, and checks of them --------------------------===//
#include "compiler/Lowering/GraphToPlan/ProgramLowering.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace plim::lowering {

/// Appends the symbols from number `callers` on that an expression names.
static void collectSymbols(AffineExpr expr, size_t callers, SmallVectorImpl<unsigned> &used) {
  expr.walk([&](AffineExpr part) {
    auto symbol = dyn_cast<AffineSymbolExpr>(part);
    if (symbol && symbol.getPosition() >= callers && !llvm::is_contained(used, symbol.getPosition()))
      used.push_back(symbol.getPosition());
  });
}

SmallVector<AffineExpr> ProgramLowering::placesIn(ArrayRef<unsigned> used) const {
  size_t callers = sizes.callerSymbols().size();
  SmallVector<AffineExpr> places;
  for (unsigned k = 0; k < sizes.symbolCount(); ++k)
    places.push_back(getAffineSymbolExpr(k, context));
  for (auto [i, symbol] : llvm::enumerate(used))
    places[symbol] = getAffineSymbolExpr(unsigned(callers + i), context);
  return places;
}

SmallVector<Value> ProgramLowering::valuesOf(ArrayRef<unsigned> used) const {
  SmallVector<Value> values(ArrayRef(symbolValues).take_front(sizes.callerSymbols().size()));
  for (unsigned symbol : used)
    values.push_back(symbolValues[symbol]);
  return values;
}

SmallVector<Value> ProgramLowering::scalarsOf(SizesRef values, StringAttr source) {
  if (values.empty())
    return {};
  SmallVector<unsigned> used;
  for (AffineExpr value : values)
    collectSymbols(value, sizes.callerSymbols().size(), used);
  SmallVector<AffineExpr> places = placesIn(used);
  Sizes placed = llvm::map_to_vector(values, [&](AffineExpr e) { return e.replaceSymbols(places); });
  return llvm::to_vector_of<Value>(plan::evalExpressions(b, function.getLoc(), placed, valuesOf(used), source));
}

plan::ShapeAttr ProgramLowering::placedShape(plan::ShapeAttr shape, SmallVectorImpl<unsigned> &used) const {
  if (shape.isStatic())
    return shape;
  size_t before = used.size();
  for (AffineExpr dim : shape.getDims())
    collectSymbols(dim, sizes.callerSymbols().size(), used);
  for (AffineExpr stride : shape.getStrides())
    collectSymbols(stride, sizes.callerSymbols().size(), used);
  if (used.empty() && before == 0)
    return shape;
  SmallVector<AffineExpr> places = placesIn(used);
  auto place = [&](AffineExpr e) { return e.replaceSymbols(places); };
  return plan::ShapeAttr::getNormalized(context, shape.getDtype(), shape.getLayout(),
                                        llvm::map_to_vector(shape.getDims(), place), shape.getBounds(),
                                        llvm::map_to_vector(shape.getStrides(), place), shape.getStrideBounds());
}

void ProgramLowering::addChecks(ArrayRef<SymbolicDims::Condition> conditions) {
  if (conditions.empty())
    return;
  Sizes values = llvm::map_to_vector(conditions, [](const SymbolicDims::Condition &c) { return c.value; });
  SmallVector<Value> scalars = scalarsOf(values, b.getStringAttr("sizes"));
  for (auto [condition, scalar] : llvm::zip_equal(conditions, scalars))
    plan::CheckOp::create(b, condition.op->getLoc(), scalar, condition.lower, condition.upper, condition.message,
                          b.getStringAttr(sourceName(condition.op)));
}

/// What a region needs is checked where the region runs.
bool ProgramLowering::isCheckedAtStart(const SymbolicDims::Condition &condition) const {
  return condition.op->getParentOp() == function && sizes.isKnownAtStart(condition.value);
}

/// What the ops need of the sizes that the caller gives, before the first launch.
void ProgramLowering::addConditions() {
  SmallVector<SymbolicDims::Condition> early;
  llvm::copy_if(sizes.conditions(), std::back_inserter(early),
                [&](const SymbolicDims::Condition &c) { return isCheckedAtStart(c); });
  addChecks(early);
}

void ProgramLowering::addDefinitions(Operation *op) {
  using Definition = SymbolicDims::Definition;
  StringAttr source = b.getStringAttr(sourceName(op));
  for (const Definition &definition : sizes.definitions()) {
    if (definition.op != op)
      continue;
    Value &value = symbolValues[definition.symbol];
    if (definition.kind == Definition::Load) {
      graph::Dim bounds = sizes.rangeOf(getAffineSymbolExpr(definition.symbol, context));
      plan::ShapeAttr shape = shapeAttr(naturalOperand(definition.tensor));
      value = plan::LoadScalarOp::create(
          b, op->getLoc(), b.getIndexType(), bufferOf(definition.tensor, source.getValue()),
          definition.element * shape.getElementBytes(), shape.getDtype(), bounds.lo, bounds.hi, source);
      continue;
    }
    SmallVector<Value> operands = scalarsOf({definition.a, definition.b}, source);
    auto eval = plan::EvalOp::create(b, op->getLoc(), TypeRange{b.getIndexType()}, operands, IntegerAttr(), source);
    OpBuilder::InsertionGuard guard(b);
    Block *body =
        b.createBlock(&eval.getBody(), {}, {b.getIndexType(), b.getIndexType()}, {op->getLoc(), op->getLoc()});
    Value x = body->getArgument(0), y = body->getArgument(1);
    Value result = definition.kind == Definition::Min ? Value(arith::MinSIOp::create(b, op->getLoc(), x, y))
                                                      : Value(arith::MaxSIOp::create(b, op->getLoc(), x, y));
    plan::YieldOp::create(b, op->getLoc(), ValueRange{result});
    value = eval.getResult(0);
  }
  SmallVector<SymbolicDims::Condition> late;
  llvm::copy_if(sizes.conditions(), std::back_inserter(late),
                [&](const SymbolicDims::Condition &c) { return c.op == op && !isCheckedAtStart(c); });
  addChecks(late);
}

void ProgramLowering::lowerSizes(Operation *op) {
  Value result = op->getResult(0);
  std::string source = sourceName(op);
  SmallVector<graph::KernelCandidate, 1> list;
  Candidates candidates{sizes, list};
  LaunchBuilder(candidates).write(result).offer("fill.scalars", {});
  SmallVector<Value> scalars = scalarsOf(sizes.arithmeticOf(result), b.getStringAttr(source));
  createLaunch(op->getLoc(), list.front(), bufferOf(result, source), source, scalars);
}

} // namespace plim::lowering
