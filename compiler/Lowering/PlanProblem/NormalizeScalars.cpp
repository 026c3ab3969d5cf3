//===- NormalizeScalars.cpp - Scalars as a step table holds them ------------------------------------------===//
//
// A table has scalar slots: a dimension is a number or a slot, a loop's carried scalar is one slot that the body
// writes, and both regions of a branch write the slots that it gives. So expressions in shapes become plan.eval steps,
// and what loops and ifs hand on is copied by a plan.eval of its own. Expressions of the program's symbols alone are
// evaluated together at its start. An output's size that is no symbol is a scalar that plan.return gives.
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

/// One plan.eval of products of expressions over `symbols`.
static ValueRange evalProducts(OpBuilder &builder, Location loc, ArrayRef<SmallVector<AffineExpr>> products,
                               ValueRange symbols, StringAttr source) {
  SmallVector<Type> types(products.size(), builder.getIndexType()), inputs(symbols.size(), builder.getIndexType());
  auto eval = EvalOp::create(builder, loc, types, symbols, IntegerAttr(), source);
  OpBuilder::InsertionGuard guard(builder);
  Block *body = builder.createBlock(&eval.getBody(), {}, inputs, SmallVector<Location>(symbols.size(), loc));
  SmallVector<Value> results;
  for (ArrayRef<AffineExpr> product : products) {
    Value value;
    for (AffineExpr factor : product) {
      Value next = expand(builder, loc, factor, body->getArguments());
      value = value ? Value(arith::MulIOp::create(builder, loc, value, next)) : next;
    }
    results.push_back(value);
  }
  YieldOp::create(builder, loc, results);
  return eval.getResults();
}

ValueRange plim::plan::evalExpressions(OpBuilder &builder, Location loc, ArrayRef<AffineExpr> values,
                                       ValueRange symbols, StringAttr source) {
  auto products = llvm::map_to_vector(values, [](AffineExpr value) { return SmallVector<AffineExpr>{value}; });
  return evalProducts(builder, loc, products, symbols, source);
}

namespace {

/// Factors whose product is a size or a stride.
using Product = SmallVector<AffineExpr>;

/// Expressions of the program's symbols, and the scalars that hold their values.
class ProgramScalars {
public:
  explicit ProgramScalars(ProgramOp program)
      : program(program), symbols(llvm::to_vector_of<Value>(program.getSymbolArguments())) {
    for (Operation &op : *program.getBlock()) {
      if (isa<LaunchOp, CopyOp, FillOp, IfOp, LoopOp>(op))
        break;
      if (auto load = dyn_cast<LoadScalarOp>(op)) {
        symbols.push_back(load.getValue());
        lastLoad = load;
      }
    }
  }

  /// Whether all of these are symbols of the program, or loaded at its start.
  bool cover(ValueRange values) const {
    return llvm::all_of(values, [&](Value v) { return llvm::is_contained(symbols, v); });
  }
  /// The number of a product of expressions over `inputs`, which it covers.
  unsigned add(const Product &product, ValueRange inputs) {
    Product own;
    SmallVector<AffineExpr> positions = llvm::map_to_vector(inputs, [&](Value v) {
      return getAffineSymbolExpr(llvm::find(symbols, v) - symbols.begin(), program.getContext());
    });
    for (AffineExpr factor : product)
      own.push_back(factor.replaceSymbols(positions));
    auto *known = llvm::find(products, own);
    unsigned number = known - products.begin();
    if (known == products.end())
      products.push_back(own);
    return number;
  }
  /// Makes the scalars; from then on valueOf() gives them.
  void evaluate();
  Value valueOf(unsigned number) const { return values[number]; }

private:
  ProgramOp program;
  SmallVector<Value> symbols;
  Operation *lastLoad = nullptr;
  SmallVector<Product> products;
  SmallVector<Value> values;
};

/// Rewrites the shapes of one launch to numbers and symbols, in the order of their first use.
class ShapeNormalizer {
public:
  ShapeNormalizer(LaunchOp launch, ProgramScalars &shared)
      : launch(launch), shared(shared), builder(launch), context(launch.getContext()) {
    inputs.assign(launch.getDims().begin(), launch.getDims().end());
  }

  /// The first half: shapes, and what the program's scalars must hold.
  void rewrite() {
    SmallVector<Attribute> accesses;
    for (AccessAttr access : launch.getAccesses().getAsRange<AccessAttr>())
      accesses.push_back(AccessAttr::get(context, access.getMode(), access.getOffset(), access.getSpan(),
                                         normalize(access.getShape())));
    isShared = shared.cover(inputs);
    for (const Product &product : products)
      if (isShared && !isInput(product))
        numbers.push_back(shared.add(product, inputs));
    launch.setAccessesAttr(builder.getArrayAttr(accesses));
  }
  /// The second half: the scalars of the shapes.
  void assignScalars() { launch.getDimsMutable().assign(scalars()); }

private:
  static bool isInput(const Product &product) { return product.size() == 1 && isa<AffineSymbolExpr>(product.front()); }

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
    Product key;
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

  /// A scalar for each product: the launch's own where it is one, else a result of an eval.
  SmallVector<Value> scalars() {
    ValueRange own;
    if (!isShared) {
      SmallVector<Product> computed;
      llvm::copy_if(products, std::back_inserter(computed), [](const Product &p) { return !isInput(p); });
      if (!computed.empty())
        own = evalProducts(builder, launch.getLoc(), computed, inputs, launch.getSourceAttr());
    }
    SmallVector<Value> values;
    unsigned next = 0;
    for (const Product &product : products)
      if (isInput(product))
        values.push_back(inputs[cast<AffineSymbolExpr>(product.front()).getPosition()]);
      else if (isShared)
        values.push_back(shared.valueOf(numbers[next++]));
      else
        values.push_back(own[next++]);
    return values;
  }

  LaunchOp launch;
  ProgramScalars &shared;
  OpBuilder builder;
  MLIRContext *context;
  SmallVector<Value> inputs;
  SmallVector<Product> products; // by new symbol
  bool isShared = false;
  SmallVector<unsigned> numbers; // in `shared`, of products that are no input
};

} // namespace

void ProgramScalars::evaluate() {
  if (products.empty())
    return;
  auto builder = OpBuilder::atBlockBegin(program.getBlock());
  if (lastLoad)
    builder.setInsertionPointAfter(lastLoad);
  llvm::append_range(values, evalProducts(builder, program.getLoc(), products, symbols, StringAttr()));
}

/// Sizes of outputs that are neither a number nor a symbol become scalars that plan.return gives, in the order of their
/// first use.
static void normalizeOutputs(ProgramOp program) {
  MLIRContext *context = program.getContext();
  auto end = cast<ReturnOp>(program.getBlock()->getTerminator());
  unsigned symbols = program.getSymbols().size();
  SmallVector<Value> known(program.getSymbolArguments());
  llvm::append_range(known, end.getSizes());
  SmallVector<AffineExpr> used, computed;
  SmallVector<Attribute> ios;
  for (IOAttr io : program.getIos().getAsRange<IOAttr>()) {
    SmallVector<AffineExpr> dims(io.getShape().getDims());
    for (AffineExpr &dim : dims) {
      auto symbol = dyn_cast<AffineSymbolExpr>(dim);
      if (isa<AffineConstantExpr>(dim) || (symbol && symbol.getPosition() < symbols))
        continue;
      auto *same = llvm::find(used, dim);
      size_t number = same - used.begin();
      if (same == used.end()) {
        used.push_back(dim);
        if (!symbol)
          computed.push_back(dim);
      }
      dim = getAffineSymbolExpr(symbols + number, context);
    }
    ShapeAttr shape = ShapeAttr::getNormalized(context, io.getShape().getDtype(), io.getShape().getLayout(), dims,
                                               io.getShape().getBounds(), {}, {});
    ios.push_back(IOAttr::get(context, io.getName(), io.getOutput(), shape, io.getState(), io.getReused()));
  }
  program.setIosAttr(ArrayAttr::get(context, ios));
  OpBuilder builder(end);
  ValueRange values;
  if (!computed.empty())
    values = evalExpressions(builder, end.getLoc(), computed, known);
  SmallVector<Value> sizes;
  for (AffineExpr size : used)
    if (auto symbol = dyn_cast<AffineSymbolExpr>(size))
      sizes.push_back(known[symbol.getPosition()]);
    else
      sizes.push_back(values[llvm::find(computed, size) - computed.begin()]);
  end.getSizesMutable().assign(sizes);
}

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
  ProgramScalars shared(program);
  std::vector<ShapeNormalizer> normalizers;
  program.walk([&](LaunchOp launch) {
    if (!launch.getDims().empty())
      normalizers.emplace_back(launch, shared).rewrite();
  });
  shared.evaluate();
  for (ShapeNormalizer &normalizer : normalizers)
    normalizer.assignScalars();
  normalizeOutputs(program);
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
