//===- MoveRegions.cpp - Concat, slice and pad as copies ------------------===//
#include "compiler/Lowering/Generated/FromGraph.h"
#include "dialects/Graph/GraphDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
namespace plim::gen {

namespace {
/// One tensor of the move, in its buffer.
struct Tensor {
  unsigned buffer;
  plim_dtype dtype;
  SmallVector<int64_t> shape, strides;
  int64_t offset;

  int64_t at(ArrayRef<int64_t> coords) const {
    int64_t result = offset;
    for (auto [c, s] : llvm::zip(coords, strides))
      result += c * s;
    return result;
  }
};
} // namespace

static FailureOr<Tensor> tensorOf(Value v, unsigned buffer, ArrayRef<View> views, EmitError emitError) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  FailureOr<plim_dtype> dtype = type ? dtypeOf(type.getElementType()) : FailureOr<plim_dtype>();
  if (failed(dtype) || !type.hasStaticShape() || graph::layoutOf(type))
    return refuse(emitError, "a generated copy needs static, row-major tensors");
  View view = buffer < views.size() ? views[buffer] : View();
  if (view.strides.empty())
    view.strides = rowMajor(type.getShape());
  return Tensor{buffer, *dtype, SmallVector<int64_t>(type.getShape()), view.strides, view.offset};
}

/// Copies `shape` elements between places of two tensors; `steps` are those of the source.
static Region copyRegion(const Tensor &from, ArrayRef<int64_t> source, ArrayRef<int64_t> steps, const Tensor &to,
                         ArrayRef<int64_t> target, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> space(shape), read(from.strides), written(to.strides);
  for (auto [stride, step] : llvm::zip(read, steps))
    stride *= step;
  if (space.empty()) {
    space.push_back(1);
    read.push_back(0);
    written.push_back(0);
  }
  Region r(space);
  r.store(to.buffer, to.dtype, written, r.load(from.buffer, from.dtype, read, from.at(source)), to.at(target));
  return r;
}

static FailureOr<SmallVector<Region>> fromConcat(graph::ConcatOp op, EmitError emitError, ArrayRef<View> views) {
  FailureOr<Tensor> to = tensorOf(op.getResult(), op->getNumOperands(), views, emitError);
  if (failed(to))
    return failure();
  SmallVector<Region> parts;
  SmallVector<int64_t> target(to->shape.size(), 0), zeros(target), ones(target.size(), 1);
  for (auto [i, v] : llvm::enumerate(op.getInputs())) {
    FailureOr<Tensor> from = tensorOf(v, i, views, emitError);
    if (failed(from))
      return failure();
    if (!llvm::is_contained(from->shape, 0))
      parts.push_back(copyRegion(*from, zeros, ones, *to, target, from->shape));
    target[op.getAxis()] += from->shape[op.getAxis()];
  }
  return parts;
}

static FailureOr<SmallVector<Region>> fromSlice(graph::SliceOp op, EmitError emitError, ArrayRef<View> views) {
  FailureOr<Tensor> from = tensorOf(op.getInput(), 0, views, emitError);
  FailureOr<Tensor> to = tensorOf(op.getResult(), 1, views, emitError);
  if (failed(from) || failed(to))
    return failure();
  SmallVector<int64_t> zeros(to->shape.size(), 0);
  return SmallVector<Region>{copyRegion(*from, op.getStarts(), op.getFullSteps(), *to, zeros, to->shape)};
}

/// The interior is a copy; around it, for each dimension, two slabs that reach over the dimensions after it only.
static FailureOr<SmallVector<Region>> fromPad(graph::PadOp op, EmitError emitError, ArrayRef<View> views) {
  FailureOr<Tensor> from = tensorOf(op.getInput(), 0, views, emitError);
  FailureOr<Tensor> to = tensorOf(op.getResult(), 1, views, emitError);
  if (failed(from) || failed(to))
    return failure();
  ArrayRef<int64_t> low = op.getLow(), high = op.getHigh();
  auto isNegative = [](int64_t n) { return n < 0; };
  if (op.getMode() != graph::PadMode::Constant || llvm::any_of(low, isNegative) || llvm::any_of(high, isNegative))
    return refuse(emitError, "a generated padding is constant and not negative");
  SmallVector<Region> parts;
  SmallVector<int64_t> zeros(low.size(), 0), ones(low.size(), 1);
  if (!llvm::is_contained(from->shape, 0))
    parts.push_back(copyRegion(*from, zeros, ones, *to, low, from->shape));
  SmallVector<int64_t> at(low.size(), 0), shape(to->shape);
  for (size_t d = 0; d < low.size(); ++d) {
    for (auto [start, size] : {std::pair(int64_t(0), low[d]), std::pair(low[d] + from->shape[d], high[d])}) {
      if (size == 0)
        continue;
      at[d] = start;
      shape[d] = size;
      Region r(shape);
      Type element = cast<RankedTensorType>(op.getType()).getElementType();
      double value = op.getValue();
      auto fill = [element, value](ImplicitLocOpBuilder &b, ValueRange) -> Value {
        if (isa<IntegerType>(element))
          return arith::ConstantOp::create(
              b, b.getIntegerAttr(b.getIntegerType(element.getIntOrFloatBitWidth()), int64_t(value)));
        Type type = element.isF64() ? element : Type(b.getF32Type());
        return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
      };
      r.store(to->buffer, to->dtype, to->strides, r.apply(fill, {}), to->at(at));
      parts.push_back(std::move(r));
    }
    at[d] = low[d];
    shape[d] = from->shape[d];
  }
  return parts;
}

FailureOr<SmallVector<Region>> regionsFromMove(Operation *op, EmitError emitError, ArrayRef<View> views) {
  FailureOr<SmallVector<Region>> parts = failure();
  if (auto concat = dyn_cast<graph::ConcatOp>(op))
    parts = fromConcat(concat, emitError, views);
  else if (auto slice = dyn_cast<graph::SliceOp>(op))
    parts = fromSlice(slice, emitError, views);
  else
    parts = fromPad(cast<graph::PadOp>(op), emitError, views);
  if (failed(parts))
    return failure();
  for (const Region &r : *parts)
    if (std::string problem = r.problem(); !problem.empty())
      return refuse(emitError, problem);
  return parts;
}

} // namespace plim::gen
