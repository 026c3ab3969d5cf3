//===- Axes.cpp - Which dimensions of tensors are one loop ----------------===//
#include "compiler/Lowering/Generated/Axes.h"
#include "dialects/Graph/GraphDialect.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
namespace plim::gen {

LogicalResult refuse(EmitError emitError, const Twine &message) {
  if (emitError)
    emitError() << message;
  return failure();
}

int Axes::fresh(int64_t size) {
  if (size == 1)
    return -1;
  axes.push_back({int(axes.size()), size});
  return int(axes.size()) - 1;
}

int Axes::find(int axis) const {
  while (axis >= 0 && axes[axis].parent != axis)
    axis = axes[axis].parent;
  return axis;
}

/// Either may be -1, for none.
int Axes::tie(int a, int b) {
  a = find(a);
  b = find(b);
  if (a < 0 || b < 0 || a == b)
    return std::max(a, b);
  axes[b].parent = a;
  axes[a].reduced |= axes[b].reduced;
  return a;
}

static ArrayRef<int64_t> shapeOf(Value v) { return cast<RankedTensorType>(v.getType()).getShape(); }

SmallVector<int> Axes::freshFor(Value v) {
  SmallVector<int> result;
  for (int64_t size : shapeOf(v))
    result.push_back(fresh(size));
  return result;
}

SmallVector<int> Axes::of(Value v) const {
  SmallVector<int> result = dims.lookup(v);
  for (int &axis : result)
    axis = find(axis);
  return result;
}

LogicalResult Axes::visit(Operation &op, EmitError emitError) {
  if (op.getNumResults() != 1)
    return refuse(emitError, "'" + op.getName().getStringRef() + "' has more than one result");
  Value result = op.getResult(0);
  ArrayRef<int64_t> shape = shapeOf(result);
  SmallVector<int> &mine = dims[result];
  if (isa<graph::ConstantOp, graph::FillOp>(op)) {
    // One value everywhere: no loop of its own.
    mine.assign(shape.size(), -1);
    return success();
  }
  if (isa<graph::ScalarBodyOpInterface, graph::BroadcastOp>(op)) {
    mine.assign(shape.size(), -1);
    for (Value operand : op.getOperands()) {
      SmallVector<int> theirs = dims.lookup(operand);
      for (size_t d = 0; d < theirs.size(); ++d)
        mine[shape.size() - 1 - d] = tie(mine[shape.size() - 1 - d], theirs[theirs.size() - 1 - d]);
    }
    for (auto [axis, size] : llvm::zip(mine, shape))
      if (axis < 0)
        axis = fresh(size);
    return success();
  }
  SmallVector<int> from = dims.lookup(op.getOperand(0));
  if (auto reduce = dyn_cast<graph::ReduceOp>(op)) {
    SmallVector<int> &folds = reductions.emplace_back();
    for (auto [d, axis] : llvm::enumerate(from)) {
      bool folded = llvm::is_contained(reduce.getAxes(), int64_t(d));
      if (folded && axis >= 0) {
        axes[find(axis)].reduced = true;
        folds.push_back(axis);
      }
      if (!folded)
        mine.push_back(axis);
      else if (reduce.getKeepDims())
        mine.push_back(-1);
    }
    return success();
  }
  if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
    for (int64_t d : transpose.getPermutation())
      mine.push_back(from[d]);
    return success();
  }
  if (isa<graph::ReshapeOp>(op)) {
    llvm::erase(from, -1);
    size_t next = 0;
    for (int64_t size : shape) {
      if (size != 1 && (next == from.size() || axes[find(from[next])].size != size))
        return refuse(emitError, "a reshape in a fused region may add and drop dimensions of size 1 only");
      mine.push_back(size == 1 ? -1 : from[next++]);
    }
    return success();
  }
  return refuse(emitError, "'" + op.getName().getStringRef() + "' is no loop over the dimensions of its operands");
}

LogicalResult Axes::build(Block &body, ValueRange results, EmitError emitError) {
  auto isStatic = [&](Value v) {
    auto type = dyn_cast<RankedTensorType>(v.getType());
    return type && type.hasStaticShape();
  };
  for (BlockArgument a : body.getArguments()) {
    if (a.use_empty() && !llvm::is_contained(results, Value(a)))
      continue;
    if (!isStatic(a))
      return refuse(emitError, "a generated kernel needs static shapes");
    dims[a] = freshFor(a);
    values.push_back(a);
  }
  for (Operation &op : body) {
    if (!llvm::all_of(op.getResults(), isStatic))
      return refuse(emitError, "a generated kernel needs static shapes");
    if (failed(visit(op, emitError)))
      return failure();
    values.push_back(op.getResult(0));
  }
  // A result that is one value everywhere is written everywhere.
  for (Value v : results)
    for (auto [axis, size] : llvm::zip(dims[v], shapeOf(v)))
      if (axis < 0 && size != 1)
        axis = fresh(size);
  // A region folds one set of axes: a reduction over some of them would be taken for one over all.
  llvm::SmallSet<int, 8> all;
  for (int axis = 0; axis < int(axes.size()); ++axis)
    if (axes[axis].parent == axis && axes[axis].reduced)
      all.insert(axis);
  for (ArrayRef<int> folded : reductions) {
    llvm::SmallSet<int, 8> mine;
    for (int axis : folded)
      mine.insert(find(axis));
    if (!mine.empty() && mine.size() != all.size())
      return refuse(emitError, "reductions of a fused region are over different dimensions");
  }
  for (Value v : values) {
    llvm::SmallSet<int, 8> seen;
    for (int axis : of(v))
      if (axis >= 0 && !seen.insert(axis).second)
        return refuse(emitError, "two dimensions of one tensor would be one loop");
  }
  return success();
}

FailureOr<SmallVector<int>> Axes::order(ValueRange results, EmitError emitError) const {
  llvm::SmallSet<int, 8> all;
  for (Value v : values)
    for (int axis : of(v))
      if (axis >= 0)
        all.insert(axis);
  SmallVector<Value> candidates(results);
  llvm::append_range(candidates, values);
  for (Value v : candidates) {
    SmallVector<int> axes = of(v);
    llvm::erase(axes, -1);
    if (axes.size() != all.size())
      continue;
    auto lastReduced = llvm::find_if(llvm::reverse(axes), [&](int axis) { return isReduced(axis); });
    std::stable_partition(axes.begin(), lastReduced.base(), [&](int axis) { return !isReduced(axis); });
    return axes;
  }
  return refuse(emitError, "no tensor of the fused region has all of its dimensions");
}

} // namespace plim::gen
