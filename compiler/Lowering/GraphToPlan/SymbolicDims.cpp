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

Sizes SymbolicDims::stridesOf(Value value) const { return rowMajor(sizesOf(value)); }

graph::Dim SymbolicDims::rangeOf(AffineExpr size) const {
  if (auto constant = dyn_cast<AffineConstantExpr>(size))
    return graph::Dim(constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(size))
    return allSymbols[symbol.getPosition()].bounds;
  auto binary = cast<AffineBinaryOpExpr>(size);
  graph::Dim a = rangeOf(binary.getLHS()), b = rangeOf(binary.getRHS());
  auto each = [&](auto function) {
    int64_t ends[] = {function(a.lo, b.lo), function(a.lo, b.hi), function(a.hi, b.lo), function(a.hi, b.hi)};
    return graph::Dim(*std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4));
  };
  switch (size.getKind()) {
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

AffineExpr SymbolicDims::symbol(StringRef name, graph::Dim bounds) {
  for (auto [position, known] : llvm::enumerate(allSymbols))
    if (known.name == name) {
      known.bounds = graph::meet(known.bounds, bounds);
      return getAffineSymbolExpr(position, context);
    }
  allSymbols.push_back({name.str(), bounds});
  return getAffineSymbolExpr(allSymbols.size() - 1, context);
}

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
  bool fixed = llvm::all_of(op->getOperands(), isStatic) && llvm::all_of(op->getResults(), isStatic);
  if (fixed) {
    for (Value result : op->getResults())
      sizes[result] = constants(result, context);
    return success();
  }
  auto refuse = [&](const Twine &why) {
    return op->emitError("'") << sourceName(op) << "': no expression of the open dimensions gives the sizes of '"
                              << op->getName() << "': " << why;
  };
  SizeRule rule(op, *this, allConditions);
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
      graph::Dim range = rangeOf(given[d]);
      if (range.lo < 0)
        return refuse("dimension " + Twine(d) + " would be " + Twine(range.lo) + " at the lower bounds");
      if (!range.isBounded())
        return refuse("dimension " + Twine(d) + " is too large at the upper bounds");
    }
    sizes[result] = std::move(given);
  }
  return success();
}

FailureOr<SymbolicDims> SymbolicDims::analyse(func::FuncOp function) {
  SymbolicDims dims(function.getContext());
  if (failed(dims.addArguments(function)))
    return failure();
  bool ok = true;
  for (Operation &op : function.getBody().front().without_terminator()) {
    // What depends on an op that was refused has no sizes either; its error would say nothing new.
    if (llvm::any_of(op.getOperands(), [&](Value v) { return !dims.sizes.count(v); }))
      continue;
    ok &= succeeded(dims.addResults(&op));
  }
  if (!ok)
    return failure();
  return dims;
}

} // namespace plim::lowering
