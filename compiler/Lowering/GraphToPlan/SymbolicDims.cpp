//===- SymbolicDims.cpp - The sizes of values as expressions of the caller's sizes --------===//
#include "compiler/Lowering/GraphToPlan/SymbolicDims.h"
#include "compiler/Lowering/GraphToPlan/GraphToPlan.h"

using namespace mlir;

namespace plim::lowering {
namespace {

bool isStatic(Value value) { return cast<RankedTensorType>(value.getType()).hasStaticShape(); }

Sizes constants(Value value, MLIRContext *context) {
  return llvm::map_to_vector(cast<RankedTensorType>(value.getType()).getShape(),
                             [&](int64_t size) { return getAffineConstantExpr(size, context); });
}

/// Products and sums of bounds end at the ends of int64_t.
int64_t clamped(__int128 value) {
  return int64_t(std::clamp<__int128>(value, -__int128(graph::Dim::kUnbounded), graph::Dim::kUnbounded));
}

} // namespace

SizesRef SymbolicDims::sizesOf(Value value) const { return sizes.at(value); }

Sizes SymbolicDims::stridesOf(Value value) const {
  auto state = states.heldIn.find(value);
  return state == states.heldIn.end() ? rowMajor(sizesOf(value)) : stridesOfState(state->second);
}

graph::Dim SymbolicDims::rangeOf(AffineExpr size) const {
  if (auto constant = dyn_cast<AffineConstantExpr>(size))
    return graph::Dim(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(size))
    return allSymbols[symbol.getPosition()].bounds;
  auto binary = cast<AffineBinaryOpExpr>(size);
  if (auto limit = states.limits.find(size); limit != states.limits.end()) {
    graph::Dim range = rangeOfBinary(binary);
    return {range.lo, std::min(range.hi, limit->second)};
  }
  return rangeOfBinary(binary);
}

graph::Dim SymbolicDims::rangeOfBinary(AffineBinaryOpExpr binary) const {
  graph::Dim a = rangeOf(binary.getLHS()), b = rangeOf(binary.getRHS());
  auto each = [&](auto function) {
    int64_t ends[] = {function(a.lo, b.lo), function(a.lo, b.hi), function(a.hi, b.lo), function(a.hi, b.hi)};
    return graph::Dim(*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4));
  };
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    return {clamped(__int128(a.lo) + b.lo), clamped(__int128(a.hi) + b.hi)};
  case AffineExprKind::Mul:
    return each([](int64_t x, int64_t y) { return clamped(__int128(x) * y); });
  case AffineExprKind::FloorDiv:
    return each([](int64_t x, int64_t y) { return llvm::divideFloorSigned(x, std::max<int64_t>(y, 1)); });
  case AffineExprKind::CeilDiv:
    return each([](int64_t x, int64_t y) { return llvm::divideCeilSigned(x, std::max<int64_t>(y, 1)); });
  case AffineExprKind::Mod:
    return {0, std::max<int64_t>(b.hi - 1, 0)};
  default:
    llvm_unreachable("dimensions do not occur");
  }
}

int64_t SymbolicDims::largestBytes(Value value) const {
  if (isStatic(value))
    return *graph::bytesOf(value.getType());
  graph::Dims dims = llvm::map_to_vector<6>(sizesOf(value), [&](AffineExpr e) { return graph::Dim(largest(e)); });
  return graph::elementsOf(dims).hi * graph::elementBytes(graph::elementTypeOf(value));
}

AffineExpr SymbolicDims::symbol(StringRef name, graph::Dim bounds, bool isState) {
  for (auto [position, known] : llvm::enumerate(allSymbols))
    if (known.name == name && known.isState == isState) {
      known.bounds = graph::meet(known.bounds, bounds);
      return getAffineSymbolExpr(position, context);
    }
  allSymbols.push_back({name.str(), bounds, isState});
  ++(isState ? stateCount : callerCount);
  return getAffineSymbolExpr(allSymbols.size() - 1, context);
}

AffineExpr SymbolicDims::simplified(AffineExpr expr) const {
  return simplifyAffineExpr(expr, 0, unsigned(allSymbols.size()));
}

AffineExpr SymbolicDims::define(Definition definition, graph::Dim bounds) {
  for (const Definition &old : allDefinitions)
    if (old.kind == definition.kind && old.tensor == definition.tensor && old.element == definition.element &&
        old.a == definition.a && old.b == definition.b &&
        old.op->getParentRegion()->isAncestor(definition.op->getParentRegion()))
      return getAffineSymbolExpr(old.symbol, context);
  definition.symbol = unsigned(allSymbols.size());
  allSymbols.push_back({"", bounds});
  allDefinitions.push_back(definition);
  return getAffineSymbolExpr(definition.symbol, context);
}

AffineExpr SymbolicDims::smaller(AffineExpr a, AffineExpr b, Operation *op) {
  graph::Dim x = rangeOf(a), y = rangeOf(b), difference = rangeOf(simplified(a - b));
  if (difference.hi <= 0 || difference.lo >= 0)
    return difference.hi <= 0 ? a : b;
  return define({Definition::Min, 0, op, {}, 0, a, b}, {std::min(x.lo, y.lo), std::min(x.hi, y.hi)});
}

AffineExpr SymbolicDims::larger(AffineExpr a, AffineExpr b, Operation *op) {
  graph::Dim x = rangeOf(a), y = rangeOf(b), difference = rangeOf(simplified(a - b));
  if (difference.hi <= 0 || difference.lo >= 0)
    return difference.lo >= 0 ? a : b;
  return define({Definition::Max, 0, op, {}, 0, a, b}, {std::max(x.lo, y.lo), std::max(x.hi, y.hi)});
}

bool SymbolicDims::namesOnly(AffineExpr value, size_t count) {
  bool only = true;
  value.walk([&](AffineExpr part) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
      only &= symbol.getPosition() < count;
  });
  return only;
}

//===----------------------------------------------------------------------===//
// Shape arithmetic
//===----------------------------------------------------------------------===//

/// The domain of expressions.
class SymbolicDims::Arithmetic : public graph::SizeArithmetic<AffineExpr> {
public:
  Arithmetic(SymbolicDims &dims, Operation *op) : dims(dims), op(op) {}

protected:
  using Result = std::optional<AffineExpr>;
  graph::Dim rangeOf(AffineExpr entry) override { return dims.rangeOf(entry); }
  bool areEqual(AffineExpr a, AffineExpr b) override { return a == b; }
  AffineExpr number(int64_t value) override { return getAffineConstantExpr(value, dims.context); }
  Result sizeOf(Value tensor, unsigned dim) override { return dims.sizesOf(tensor)[dim]; }
  Result add(AffineExpr a, AffineExpr b) override { return dims.simplified(a + b); }
  Result sub(AffineExpr a, AffineExpr b) override { return dims.simplified(a - b); }
  Result mul(AffineExpr a, AffineExpr b) override { return dims.simplified(a * b); }
  Result div(AffineExpr a, AffineExpr b) override { return dims.quotient(a, b); }
  Result mod(AffineExpr a, AffineExpr b) override { return dims.simplified(a % b); }
  Result min(AffineExpr a, AffineExpr b) override { return dims.smaller(a, b, op); }
  Result max(AffineExpr a, AffineExpr b) override { return dims.larger(a, b, op); }
  Result either(AffineExpr, AffineExpr) override { return std::nullopt; }

private:
  SymbolicDims &dims;
  Operation *op;
};

void SymbolicDims::addEntries(Operation *op) {
  Arithmetic arithmetic(*this, op);
  auto found = arithmetic.evaluate(op, [&](Value value) -> std::optional<Arithmetic::Entries> {
    auto known = entries.find(value);
    if (known != entries.end())
      return llvm::map_to_vector(known->second, [](AffineExpr e) { return e ? std::optional(e) : std::nullopt; });
    if (graph::holdsSizes(value.getType()))
      return Arithmetic::Entries(cast<RankedTensorType>(value.getType()).getNumElements());
    return std::nullopt;
  });
  if (found)
    entries[op->getResult(0)] =
        llvm::map_to_vector(*found, [](std::optional<AffineExpr> e) { return e.value_or(AffineExpr()); });
}

bool SymbolicDims::isMadeOfSizes(Value value) const {
  auto found = entries.find(value);
  // Numbers alone are a table that is computed as any other, in @setup.
  return found != entries.end() && value.getDefiningOp()->getNumOperands() > 0 &&
         llvm::all_of(found->second, [](AffineExpr e) { return bool(e); }) &&
         !llvm::all_of(found->second, llvm::IsaPred<AffineConstantExpr>);
}

Sizes SymbolicDims::entriesOf(Value value) const { return given.at(value); }

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

LogicalResult SymbolicDims::addArguments(func::FuncOp function) {
  bool ok = true;
  for (BlockArgument argument : function.getArguments()) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), "graph.name");
    auto dimNames = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), "graph.dim_names");
    std::string text = name ? name.str() : "arg" + std::to_string(argument.getArgNumber());
    Sizes &own = sizes[argument];
    for (auto [d, dim] : llvm::enumerate(graph::dimsOf(argument.getType()))) {
      if (dim.isStatic()) {
        own.push_back(getAffineConstantExpr(dim.lo, context));
        continue;
      }
      if (!dim.isBounded()) {
        function.emitError("input '") << text << "', dimension " << d << ": need an upper bound, have none";
        ok = false;
      }
      StringRef given = dimNames ? cast<StringAttr>(dimNames[d]).getValue() : StringRef();
      own.push_back(symbol(given.empty() ? text + "." + std::to_string(d) : given.str(), dim));
    }
  }
  for (const Symbol &s : allSymbols)
    if (s.bounds.lo > s.bounds.hi) {
      function.emitError("dimension '") << s.name << "': its inputs give bounds that no size is within";
      ok = false;
    }
  return success(ok);
}

LogicalResult SymbolicDims::addResults(Operation *op) {
  op->removeAttr(kCopies);
  bool fixed = llvm::all_of(op->getOperands(), isStatic) && llvm::all_of(op->getResults(), isStatic) &&
               llvm::none_of(op->getOpOperands(), graph::isSizeOperand);
  if (fixed) {
    for (Value result : op->getResults())
      sizes[result] = constants(result, context);
    return success();
  }
  auto refuse = [&](const Twine &why) {
    return op->emitError("'") << sourceName(op) << "': no expression of the open dimensions gives the sizes of '"
                              << op->getName() << "': " << why;
  };
  SizeRule rule(op, *this);
  FailureOr<SmallVector<Sizes>> inferred = rule.infer();
  if (failed(inferred))
    return refuse(rule.reason);
  for (auto [result, given] : llvm::zip_equal(op->getResults(), *inferred)) {
    for (auto [d, dim] : llvm::enumerate(graph::dimsOf(result.getType()))) {
      // A type may know more than the rule.
      if (dim.isStatic() && given[d] != getAffineConstantExpr(dim.lo, context)) {
        allConditions.push_back({given[d], dim.lo, dim.lo, op, "a size differs from the model's"});
        given[d] = getAffineConstantExpr(dim.lo, context);
      }
      // What a run reads is within the bounds that the user gave.
      if (auto symbol = dyn_cast<AffineSymbolExpr>(given[d]);
          symbol && symbol.getPosition() >= callerCount + stateCount) {
        graph::Dim &bounds = allSymbols[symbol.getPosition()].bounds;
        if (graph::canBeEqual(bounds, dim))
          bounds = graph::meet(bounds, dim);
      }
      graph::Dim range = rangeOf(given[d]);
      if (range.lo < 0)
        return refuse("dimension " + Twine(d) + " would be " + Twine(range.lo) + " at the lower bounds");
      if (!range.isBounded())
        return refuse("dimension " + Twine(d) + " is too large at the upper bounds");
    }
    sizes[result] = std::move(given);
    limitGrowth(result);
  }
  if (isa<graph::ReshapeOp, graph::DynamicReshapeOp>(op)) {
    if (largestBytes(op->getResult(0)) > largestBytes(op->getOperand(0)))
      op->setAttr(kCopies, UnitAttr::get(context));
  }
  return success();
}

FailureOr<SymbolicDims> SymbolicDims::analyse(func::FuncOp function) {
  SymbolicDims dims(function.getContext());
  if (failed(dims.addArguments(function)))
    return failure();
  dims.addStates(function);
  if (failed(dims.addBlock(function.getBody().front())) || failed(dims.addAssigned(function)))
    return failure();
  return dims;
}

LogicalResult SymbolicDims::addBlock(Block &block) {
  bool ok = true;
  for (Operation &op : block.without_terminator()) {
    // What depends on an op that was refused has no sizes either; its error would say nothing new.
    if (isa<graph::ReadOp, graph::AssignOp>(op) ||
        llvm::any_of(op.getOperands(), [&](Value v) { return !sizes.count(v); }))
      continue;
    if (auto branch = dyn_cast<graph::IfOp>(op)) {
      ok &= succeeded(addIf(branch));
    } else if (auto loop = dyn_cast<graph::LoopOp>(op)) {
      ok &= succeeded(addLoop(loop));
    } else if (succeeded(addResults(&op))) {
      addEntries(&op);
    } else {
      ok = false;
    }
  }
  return success(ok);
}

} // namespace plim::lowering
