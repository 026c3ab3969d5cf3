//===- ReductionOps.cpp - Reductions, softmax, scans, selections -------------------------------------------===//

#include "dialects/Graph/Folding.h"
#include "mlir/IR/OpImplementation.h"
#include <cmath>

using namespace mlir;
using namespace plim::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/ReductionOps.cpp.inc"

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  Dims dims = dimsOf(adaptor.getInput().getType()), result;
  int64_t last = -1;
  for (int64_t axis : adaptor.getAxes()) {
    if (failed(checkAxis(loc, "graph.reduce", axis, dims.size())))
      return failure();
    if (axis <= last)
      return shapeError(loc, "graph.reduce", "needs axes that ascend, has " + Twine(axis) + " after " + Twine(last));
    last = axis;
  }
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (!llvm::is_contained(adaptor.getAxes(), static_cast<int64_t>(i)))
      result.push_back(dim);
    else if (adaptor.getKeepDims())
      result.push_back(1);
  }
  types.push_back(tensorOf(result, elementTypeOf(adaptor.getInput())));
  return success();
}

/// Folds the kinds that shape arithmetic uses, over all elements or along axes.
OpFoldResult ReduceOp::fold(FoldAdaptor adaptor) {
  ReduceKind kind = getKind();
  bool keepsValues =
      llvm::is_contained({ReduceKind::Sum, ReduceKind::Mean, ReduceKind::Max, ReduceKind::Min, ReduceKind::Prod}, kind);
  if (getAxes().empty() && keepsValues && getInput().getType() == getType())
    return getInput();
  std::optional<Elements> input = Elements::read(adaptor.getInput());
  RankedTensorType type = foldableType(getType());
  if (!input || input->isFloat || !type || !keepsValues || kind == ReduceKind::Mean)
    return {};
  ArrayRef<int64_t> shape = input->type.getShape();
  Elements result{type, false, {}, {}};
  result.ints.assign(type.getNumElements(), 0);
  SmallVector<bool> seen(type.getNumElements(), false);
  for (int64_t i = 0; i < input->size(); ++i) {
    SmallVector<int64_t> source = coordinatesOf(i, shape), target;
    for (auto [axis, coordinate] : llvm::enumerate(source)) {
      if (!llvm::is_contained(getAxes(), static_cast<int64_t>(axis)))
        target.push_back(coordinate);
      else if (getKeepDims())
        target.push_back(0);
    }
    int64_t j = indexOf(target, type.getShape()), value = input->ints[i];
    int64_t &sum = result.ints[j];
    if (!seen[j])
      sum = value;
    else if (kind == ReduceKind::Sum)
      sum = static_cast<int64_t>(uint64_t(sum) + uint64_t(value));
    else if (kind == ReduceKind::Prod)
      sum = static_cast<int64_t>(uint64_t(sum) * uint64_t(value));
    else
      sum = kind == ReduceKind::Max ? std::max(sum, value) : std::min(sum, value);
    seen[j] = true;
  }
  // An empty reduction has a value for sum and prod only.
  for (auto [value, wasSeen] : llvm::zip(result.ints, seen)) {
    if (!wasSeen && kind != ReduceKind::Sum && kind != ReduceKind::Prod)
      return {};
    if (!wasSeen && kind == ReduceKind::Prod)
      value = 1;
  }
  return result.write();
}

FailureOr<SmallVector<Value>> ReduceOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  Value x = getInput();
  auto reduce = [&](ReduceKind kind, Value input) -> Value {
    return ReduceOp::create(b, loc, kind, input, getAxes(), getKeepDims());
  };
  switch (getKind()) {
  case ReduceKind::L1:
    return SmallVector<Value>{reduce(ReduceKind::Sum, AbsOp::create(b, loc, x))};
  case ReduceKind::SumSquare:
    return SmallVector<Value>{reduce(ReduceKind::Sum, MulOp::create(b, loc, x, x))};
  default:
    break;
  }
  if (!isa<FloatType>(elementTypeOf(x)))
    return failure();
  switch (getKind()) {
  case ReduceKind::L2:
    return SmallVector<Value>{SqrtOp::create(b, loc, reduce(ReduceKind::Sum, MulOp::create(b, loc, x, x)))};
  case ReduceKind::LogSum:
    return SmallVector<Value>{LogOp::create(b, loc, reduce(ReduceKind::Sum, x))};
  case ReduceKind::LogSumExp: {
    // log(sum(exp(x - max))) + max: no overflow.
    Value kept = ReduceOp::create(b, loc, ReduceKind::Max, x, getAxes(), true);
    Value e = ExpOp::create(b, loc, SubOp::create(b, loc, x, kept));
    Value sum = LogOp::create(b, loc, reduce(ReduceKind::Sum, e));
    return SmallVector<Value>{AddOp::create(b, loc, sum, reduce(ReduceKind::Max, x))};
  }
  default:
    return failure();
  }
}

LayoutBehaviour ReduceOp::getLayoutBehaviour() {
  return getKeepDims() ? LayoutBehaviour::Transparent : LayoutBehaviour::Blocks;
}

LogicalResult ReduceOp::permuteAttributes(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> axes;
  for (auto [i, axis] : llvm::enumerate(permutation))
    if (llvm::is_contained(getAxes(), axis))
      axes.push_back(i);
  setAxes(axes);
  return success();
}

//===----------------------------------------------------------------------===//
// arg_reduce, softmax, cumsum, top_k
//===----------------------------------------------------------------------===//

LogicalResult ArgReduceOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  Dims dims = dimsOf(adaptor.getInput().getType());
  if (failed(checkAxis(loc, "graph.arg_reduce", adaptor.getAxis(), dims.size())))
    return failure();
  if (adaptor.getKeepDims())
    dims[adaptor.getAxis()] = 1;
  else
    dims.erase(dims.begin() + adaptor.getAxis());
  types.push_back(tensorOf(dims, IntegerType::get(context, 64)));
  return success();
}

/// Ops along an axis whose result has the type of the operand.
static LogicalResult inferAlongAxis(std::optional<Location> loc, StringRef op, Value input, int64_t axis,
                                    SmallVectorImpl<Type> &types) {
  Dims dims = dimsOf(input.getType());
  if (failed(checkAxis(loc, op, axis, dims.size())))
    return failure();
  types.push_back(tensorOf(dims, elementTypeOf(input)));
  return success();
}

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  return inferAlongAxis(loc, "graph.softmax", adaptor.getInput(), adaptor.getAxis(), types);
}

FailureOr<SmallVector<Value>> SoftmaxOp::decompose(OpBuilder &b) {
  Location loc = getLoc();
  auto reduce = [&](ReduceKind kind, Value x) -> Value {
    return ReduceOp::create(b, loc, kind, x, ArrayRef<int64_t>(getAxis()), true);
  };
  Value shifted = SubOp::create(b, loc, getInput(), reduce(ReduceKind::Max, getInput()));
  Value e = ExpOp::create(b, loc, shifted);
  Value sum = reduce(ReduceKind::Sum, e);
  if (getLog())
    return SmallVector<Value>{SubOp::create(b, loc, shifted, LogOp::create(b, loc, sum))};
  return SmallVector<Value>{DivOp::create(b, loc, e, sum)};
}

SmallVector<plim::graph::Alias> SoftmaxOp::getAliases() { return {{0, 0, AliasKind::InPlace}}; }
LayoutBehaviour SoftmaxOp::getLayoutBehaviour() { return LayoutBehaviour::Transparent; }

LogicalResult SoftmaxOp::permuteAttributes(ArrayRef<int64_t> permutation) {
  setAxis(llvm::find(permutation, getAxis()) - permutation.begin());
  return success();
}

LogicalResult CumsumOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return inferAlongAxis(loc, "graph.cumsum", adaptor.getInput(), adaptor.getAxis(), types);
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  Dims dims = dimsOf(adaptor.getInput().getType());
  int64_t axis = adaptor.getAxis(), k = adaptor.getK();
  if (failed(checkAxis(loc, "graph.top_k", axis, dims.size())))
    return failure();
  if (k < 0 || k > dims[axis].hi)
    return shapeError(loc, "graph.top_k",
                      "needs k in [0, size of dimension " + Twine(axis) + "] of " + toString(dims) + ", has " +
                          Twine(k));
  dims[axis] = k;
  types.push_back(tensorOf(dims, elementTypeOf(adaptor.getInput())));
  types.push_back(tensorOf(dims, IntegerType::get(context, 64)));
  return success();
}
