//===- NormalizeScalars.cpp - Scalars as a step table holds them ------------------------------------------===//
//
// A table has scalar slots: a dimension is a number or a slot, a loop's carried scalar is one slot that the body
// writes, and both regions of a branch write the slots that it gives. So expressions in shapes become plan.eval steps,
// and what loops and ifs hand on is copied by a plan.eval of its own.
//
//===----------------------------------------------------------------------------------------------===//

#include "compiler/Lowering/PlanProblem/PlanProblem.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace plim::plan;

/// The value of an expression of non-negative scalars.
static Value expand(OpBuilder &builder, Location loc, AffineExpr expr, ValueRange symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIndexOp::create(builder, loc, constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = expand(builder, loc, binary.getLHS(), symbols), rhs = expand(builder, loc, binary.getRHS(), symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::Mod:
    return arith::RemSIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::FloorDiv:
    return arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::CeilDiv:
    return arith::CeilDivSIOp::create(builder, loc, lhs, rhs);
  default:
    llvm_unreachable("symbols and constants were handled, dimensions do not occur");
  }
}

namespace {

/// Rewrites the shapes of one launch to numbers and symbols, in the order of their first use.
class ShapeNormalizer {
public:
  explicit ShapeNormalizer(LaunchOp launch) : launch(launch), builder(launch), context(launch.getContext()) {
    inputs.assign(launch.getDims().begin(), launch.getDims().end());
  }

  void run() {
    SmallVector<Attribute> accesses;
    for (AccessAttr access : launch.getAccesses().getAsRange<AccessAttr>())
      accesses.push_back(AccessAttr::get(context, access.getMode(), access.getOffset(), access.getSpan(),
                                         normalize(access.getShape())));
    SmallVector<Value> dims = scalarsOfExpressions();
    launch.setAccessesAttr(builder.getArrayAttr(accesses));
    launch.getDimsMutable().assign(dims);
  }

private:
  ShapeAttr normalize(ShapeAttr shape) {
    if (shape.isStatic())
      return shape;
    SmallVector<AffineExpr> dims, strides(shape.getStrides());
    SmallVector<int64_t> strideBounds(shape.getStrideBounds());
    for (AffineExpr dim : shape.getDims())
      dims.push_back(use(dim));
    if (strides.empty() && !shape.isTableForm()) {
      // Products of dimensions are no affine expressions: they stand for themselves until they are evaluated.
      strides.resize(dims.size());
      strideBounds = shape.getStridesAtBounds();
      for (size_t i = 0; i < dims.size(); ++i)
        strides[i] = useProduct(ArrayRef<AffineExpr>(shape.getDims()).drop_front(i + 1));
    } else {
      for (AffineExpr &stride : strides)
        stride = use(stride);
    }
    return ShapeAttr::getNormalized(context, shape.getDtype(), shape.getLayout(), dims, shape.getBounds(), strides,
                                    strideBounds);
  }

  AffineExpr use(AffineExpr expr) { return isa<AffineConstantExpr>(expr) ? expr : useProduct({expr}); }

  /// The symbol of a product of expressions: of a number, the number.
  AffineExpr useProduct(ArrayRef<AffineExpr> factors) {
    SmallVector<AffineExpr> key;
    int64_t constant = 1;
    for (AffineExpr factor : factors)
      if (auto number = dyn_cast<AffineConstantExpr>(factor))
        constant *= number.getValue();
      else
        key.push_back(factor);
    if (key.empty())
      return getAffineConstantExpr(constant, context);
    if (constant != 1)
      key.push_back(getAffineConstantExpr(constant, context));
    auto *known = llvm::find(products, key);
    unsigned position = known - products.begin();
    if (known == products.end())
      products.push_back(key);
    return getAffineSymbolExpr(position, context);
  }

  /// A scalar for each product: the launch's own where it is one, else results of one plan.eval.
  SmallVector<Value> scalarsOfExpressions() {
    SmallVector<Value> values(products.size());
    SmallVector<unsigned> computed;
    for (auto [i, product] : llvm::enumerate(products)) {
      auto symbol = product.size() == 1 ? dyn_cast<AffineSymbolExpr>(product.front()) : AffineSymbolExpr(nullptr);
      if (symbol)
        values[i] = inputs[symbol.getPosition()];
      else
        computed.push_back(i);
    }
    if (computed.empty())
      return values;
    SmallVector<Type> types(computed.size(), builder.getIndexType());
    auto eval = EvalOp::create(builder, launch.getLoc(), types, inputs, IntegerAttr(), launch.getSourceAttr());
    OpBuilder::InsertionGuard guard(builder);
    SmallVector<Location> locations(inputs.size(), launch.getLoc());
    Block *body =
        builder.createBlock(&eval.getBody(), {}, SmallVector<Type>(inputs.size(), builder.getIndexType()), locations);
    SmallVector<Value> results;
    for (auto [i, result] : llvm::zip_equal(computed, eval.getResults())) {
      Value value;
      for (AffineExpr factor : products[i]) {
        Value next = expand(builder, launch.getLoc(), factor, body->getArguments());
        value = value ? Value(arith::MulIOp::create(builder, launch.getLoc(), value, next)) : next;
      }
      results.push_back(value);
      values[i] = result;
    }
    YieldOp::create(builder, launch.getLoc(), results);
    return values;
  }

  LaunchOp launch;
  OpBuilder builder;
  MLIRContext *context;
  SmallVector<Value> inputs;
  SmallVector<SmallVector<AffineExpr>> products; // by new symbol
};

} // namespace

/// A plan.eval that hands its inputs on, at the builder's place.
static ValueRange copyScalars(OpBuilder &builder, Location loc, ValueRange values, StringAttr source) {
  SmallVector<Type> types(values.size(), builder.getIndexType());
  auto eval = EvalOp::create(builder, loc, types, values, IntegerAttr(), source);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&eval.getBody(), {}, types, SmallVector<Location>(values.size(), loc));
  YieldOp::create(builder, loc, body->getArguments());
  return eval.getResults();
}

/// True where the scalars are the results of one plan.eval, each used once: a former run has made their slots.
static bool haveSlots(ValueRange values, Block *block) {
  auto eval = values.front().getDefiningOp<EvalOp>();
  return eval && eval->getBlock() == block && eval.getNumResults() == values.size() &&
         llvm::equal(eval.getResults(), values) && llvm::all_of(values, [](Value v) { return v.hasOneUse(); });
}

LogicalResult plim::plan::normalizeScalars(ProgramOp program) {
  program.walk([](LaunchOp launch) {
    if (!launch.getDims().empty())
      ShapeNormalizer(launch).run();
  });
  auto copyYield = [](Region &region, StringAttr source) {
    Operation *yield = &region.front().back();
    if (yield->getNumOperands() == 0 || haveSlots(yield->getOperands(), &region.front()))
      return;
    OpBuilder builder(yield);
    yield->setOperands(copyScalars(builder, yield->getLoc(), yield->getOperands(), source));
  };
  program.walk([&](Operation *op) {
    if (auto branch = dyn_cast<IfOp>(op)) {
      copyYield(branch.getThenRegion(), branch.getSourceAttr());
      if (!branch.getElseRegion().empty())
        copyYield(branch.getElseRegion(), branch.getSourceAttr());
      // An else region without steps is none; where there are results it has the copies.
      if (!branch.getElseRegion().empty() && llvm::hasSingleElement(branch.getElseRegion().front()))
        branch.getElseRegion().getBlocks().clear();
    } else if (auto loop = dyn_cast<LoopOp>(op); loop && !loop.getInits().empty()) {
      OpBuilder builder(loop);
      if (!haveSlots(loop.getInits(), loop->getBlock()))
        loop.getInitsMutable().assign(copyScalars(builder, loop.getLoc(), loop.getInits(), loop.getSourceAttr()));
      copyYield(loop.getBody(), loop.getSourceAttr());
    }
  });
  return success();
}
