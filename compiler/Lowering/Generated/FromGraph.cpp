//===- FromGraph.cpp - Graph ops to regions -------------------------------===//
#include "compiler/Lowering/Generated/FromGraph.h"
#include "compiler/Lowering/Generated/Bf16.h"
#include "compiler/Lowering/KernelType.h"
#include "dialects/Graph/GraphDialect.h"
#include "dialects/Graph/ScalarBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
namespace plim::gen {

FailureOr<plim_dtype> dtypeOf(Type element) {
  uint8_t type = kernelType(element);
  return type ? FailureOr<plim_dtype>(plim_dtype(type)) : FailureOr<plim_dtype>();
}

SmallVector<int64_t> rowMajor(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t d = int64_t(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

namespace {
/// A copy of the op's computation as primitive ops in one block, whose arguments are the operands. Scalar functions of
/// the region share it, because they ask its ops for their bodies.
struct Body {
  explicit Body(Location loc) : holder(ModuleOp::create(loc)) {}
  Block &block() { return *holder->getBody(); }

  OwningOpRef<ModuleOp> holder;
  SmallVector<Value> results;
};

class Bridge {
public:
  Bridge(Operation *op, EmitError emitError, ArrayRef<View> views)
      : op(op), emitError(emitError), views(views), body(std::make_shared<Body>(op->getLoc())) {}
  FailureOr<Region> run();

private:
  void copyOp();
  LogicalResult copyRepeating(graph::FusedOp fused, ArrayRef<int64_t> repeats);
  LogicalResult decompose();
  LogicalResult addOperands(Region &r, ArrayRef<int> order);
  FailureOr<int> add(Region &r, Operation &primitive);
  LogicalResult shapeSpace(Region &r, ArrayRef<int> order);
  SmallVector<int64_t> stridesOf(Value v, const View &view, ArrayRef<int> order) const;
  View viewOf(unsigned buffer) const { return buffer < views.size() ? views[buffer] : View(); }

  Operation *op;
  EmitError emitError;
  ArrayRef<View> views;
  std::shared_ptr<Body> body;
  Axes axes;
  DenseMap<Value, int> node;
};
} // namespace

/// Repeats of the resizes of a fused op by dimension of its space; empty where there are none.
static FailureOr<SmallVector<int64_t>> repeatsOf(graph::FusedOp fused, EmitError emitError) {
  SmallVector<int64_t> joint;
  for (auto resize : fused.getBody().getOps<graph::ResizeOp>()) {
    if (!graph::joinRepeats(joint, *resize.getRepeats()))
      return refuse(emitError, "resizes in one fused region must repeat alike");
  }
  return joint;
}

/// As copyOp, with each repeating dimension split in two, outer and repeated: [H * r] is [H, r], and the operand of the
/// resize is [H, 1], which broadcasts. Row-major tensors keep their bytes under it.
LogicalResult Bridge::copyRepeating(graph::FusedOp fused, ArrayRef<int64_t> repeats) {
  Block *block = &body->block();
  OpBuilder b = OpBuilder::atBlockBegin(block);
  auto split = [&](Type type, bool isRepeated) -> Type {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> dims;
    int64_t missing = int64_t(repeats.size()) - tensor.getRank();
    for (auto [d, size] : llvm::enumerate(tensor.getShape())) {
      int64_t r = repeats[size_t(int64_t(d) + missing)];
      bool whole = size == 1 || isRepeated;
      dims.push_back(whole ? size : size / r);
      if (r != 1)
        dims.push_back(whole ? 1 : r);
    }
    return RankedTensorType::get(dims, tensor.getElementType());
  };
  if (!views.empty())
    return refuse(emitError, "a resize in a fused region needs operands as they lie");
  DenseMap<Value, BlockArgument> first;
  IRMapping map;
  for (auto [operand, inner] : llvm::zip(fused.getOperands(), fused.getBody().getArguments())) {
    bool isRepeated = llvm::any_of(inner.getUsers(), llvm::IsaPred<graph::ResizeOp>);
    BlockArgument own = block->addArgument(split(operand.getType(), isRepeated), fused.getLoc());
    map.map(inner, first.try_emplace(operand, own).first->second);
  }
  for (Operation &inner : fused.getBody().front().without_terminator()) {
    if (isa<graph::ResizeOp>(inner)) {
      map.map(inner.getResult(0), map.lookup(inner.getOperand(0)));
      continue;
    }
    Type type = split(inner.getResult(0).getType(), false);
    if (auto constant = dyn_cast<graph::ConstantOp>(inner)) {
      auto value = cast<DenseElementsAttr>(constant.getValue()).reshape(cast<ShapedType>(type));
      map.map(inner.getResult(0), graph::ConstantOp::create(b, inner.getLoc(), value).getResult());
      continue;
    }
    if (!isa<graph::ScalarBodyOpInterface, graph::FillOp>(inner))
      return refuse(emitError, "a fused region with a resize must be elementwise");
    b.clone(inner, map)->getResult(0).setType(type);
  }
  for (Value v : fused.getYield().getOperands())
    body->results.push_back(map.lookup(v));
  return success();
}

void Bridge::copyOp() {
  Block *block = &body->block();
  OpBuilder b = OpBuilder::atBlockBegin(block);
  // A tensor that is several operands is read from the first of them, so that who reads what an output overwrites is
  // seen in one place.
  DenseMap<Value, BlockArgument> first;
  SmallVector<Value> arguments;
  for (Value v : op->getOperands()) {
    BlockArgument own = block->addArgument(v.getType(), op->getLoc());
    arguments.push_back(first.try_emplace(v, own).first->second);
  }
  if (auto fused = dyn_cast<graph::FusedOp>(op)) {
    IRMapping map;
    map.map(fused.getBody().getArguments(), arguments);
    for (Operation &inner : fused.getBody().front().without_terminator())
      b.clone(inner, map);
    for (Value v : fused.getYield().getOperands())
      body->results.push_back(map.lookup(v));
    return;
  }
  Operation *copy = op->clone();
  copy->setOperands(arguments);
  b.insert(copy);
  llvm::append_range(body->results, copy->getResults());
}

static bool isPrimitive(Operation &op) {
  auto reduce = dyn_cast<graph::ReduceOp>(op);
  if (!reduce)
    return !isa<graph::DecomposeOpInterface>(op) || isa<graph::ScalarBodyOpInterface>(op);
  using Kind = graph::ReduceKind;
  return llvm::is_contained({Kind::Sum, Kind::Mean, Kind::Max, Kind::Min, Kind::Prod}, reduce.getKind());
}

/// Replaces ops by what they decompose into until only primitive ones are left.
LogicalResult Bridge::decompose() {
  Block &block = body->block();
  for (auto it = block.begin(); it != block.end();) {
    Operation &current = *it;
    if (isPrimitive(current)) {
      ++it;
      continue;
    }
    OpBuilder b(&current);
    Operation *before = current.getPrevNode();
    FailureOr<SmallVector<Value>> values = cast<graph::DecomposeOpInterface>(current).decompose(b);
    if (failed(values))
      return refuse(emitError, "'" + current.getName().getStringRef() + "' has no form as loops");
    for (Value &result : body->results)
      for (auto [from, to] : llvm::zip(current.getResults(), *values))
        if (result == from)
          result = to;
    current.replaceAllUsesWith(*values);
    current.erase();
    it = before ? std::next(Block::iterator(before)) : block.begin();
  }
  // What a decomposition left unused would only widen the iteration space.
  for (Operation &current : llvm::make_early_inc_range(llvm::reverse(block)))
    if (current.use_empty() && !llvm::is_contained(body->results, current.getResult(0)))
      current.erase();
  return success();
}

SmallVector<int64_t> Bridge::stridesOf(Value v, const View &view, ArrayRef<int> order) const {
  SmallVector<int64_t> own = view.strides, result(order.size(), 0);
  if (own.empty())
    own = rowMajor(cast<RankedTensorType>(v.getType()).getShape());
  for (auto [axis, stride] : llvm::zip(axes.of(v), own))
    if (axis >= 0)
      result[llvm::find(order, axis) - order.begin()] = stride;
  return result;
}

/// Values of f16 and bf16 are f32 in a region.
static Type computedType(Type element, MLIRContext *context) {
  if (element.isF16() || element.isBF16())
    return Float32Type::get(context);
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(context, integer.getWidth());
  return element;
}

/// A cast where halves are f32 already: one to a half rounds, and comes back.
static Value emitCast(ImplicitLocOpBuilder &b, Value x, Type from, Type to) {
  auto widened = [&](Type t) { return t.isF16() || t.isBF16() ? Type(b.getF32Type()) : t; };
  Value y = graph::scalar::cast(b, b.getLoc(), x, widened(from), widened(to));
  if (widened(to) == to || from == to)
    return y;
  if (to.isBF16())
    return widenBf16(b, roundToBf16(b, y));
  Value rounded = arith::TruncFOp::create(b, withElement(y.getType(), to), y);
  return arith::ExtFOp::create(b, y.getType(), rounded);
}

static FailureOr<TypedAttr> splatValue(Operation &op) {
  Type element = cast<RankedTensorType>(op.getResult(0).getType()).getElementType();
  Type type = computedType(element, op.getContext());
  Attribute value;
  if (auto constant = dyn_cast<graph::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense || !dense.isSplat())
      return failure();
    value = dense.getSplatValue<Attribute>();
  } else {
    double number = cast<graph::FillOp>(op).getValue();
    return isa<FloatType>(type) ? TypedAttr(FloatAttr::get(type, number))
                                : TypedAttr(IntegerAttr::get(type, int64_t(number)));
  }
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return TypedAttr(IntegerAttr::get(type, integer.getValue()));
  if (auto number = dyn_cast<FloatAttr>(value))
    return TypedAttr(FloatAttr::get(type, number.getValueAsDouble()));
  return failure();
}

static ReduceKind reduceKindOf(graph::ReduceKind kind) {
  switch (kind) {
  case graph::ReduceKind::Max:
    return ReduceKind::Max;
  case graph::ReduceKind::Min:
    return ReduceKind::Min;
  case graph::ReduceKind::Prod:
    return ReduceKind::Product;
  default:
    return ReduceKind::Sum;
  }
}

/// The node of a primitive op whose operands have nodes.
FailureOr<int> Bridge::add(Region &r, Operation &primitive) {
  SmallVector<int> in;
  for (Value v : primitive.getOperands())
    in.push_back(node.lookup(v));
  if (isa<graph::ConstantOp, graph::FillOp>(primitive)) {
    FailureOr<TypedAttr> value = splatValue(primitive);
    if (failed(value))
      return refuse(emitError, "a constant in a fused region must have equal elements");
    TypedAttr attribute = *value;
    return r.apply(
        [attribute](ImplicitLocOpBuilder &b, ValueRange) -> Value { return arith::ConstantOp::create(b, attribute); },
        {});
  }
  if (auto cast = dyn_cast<graph::CastOp>(primitive)) {
    Type from = graph::elementTypeOf(cast.getInput()), to = cast.getTo();
    return r.apply([from, to](ImplicitLocOpBuilder &b, ValueRange x) { return emitCast(b, x[0], from, to); }, in);
  }
  if (isa<graph::ScalarBodyOpInterface>(primitive)) {
    auto emit = [keep = body, inner = &primitive](ImplicitLocOpBuilder &b, ValueRange x) {
      return ::llvm::cast<graph::ScalarBodyOpInterface>(inner).buildScalar(b, b.getLoc(), x);
    };
    return r.apply(emit, in);
  }
  auto reduce = dyn_cast<graph::ReduceOp>(primitive);
  if (!reduce)
    return in[0]; // broadcast, transpose, reshape: another view of the same value
  int64_t count = 1;
  for (int64_t d : reduce.getAxes())
    count *= ::llvm::cast<RankedTensorType>(reduce.getInput().getType()).getDimSize(d);
  if (count == 1)
    return in[0];
  Type element = computedType(graph::elementTypeOf(reduce.getInput()), op->getContext());
  if (!element.isF32())
    return refuse(emitError, "a generated kernel reduces floats of at most 32 bits");
  int value = r.reduce(reduceKindOf(reduce.getKind()), in[0]);
  if (reduce.getKind() == graph::ReduceKind::Mean)
    value = r.op<arith::DivFOp>({value, r.constant(double(count))});
  return value;
}

LogicalResult Bridge::addOperands(Region &r, ArrayRef<int> order) {
  Block &block = body->block();
  auto dtype = [&](Value v) { return dtypeOf(cast<RankedTensorType>(v.getType()).getElementType()); };
  auto known = [&](Value v) {
    bool plain = !cast<RankedTensorType>(v.getType()).getEncoding() || !graph::layoutOf(v.getType());
    return plain && succeeded(dtype(v)) ? success()
                                        : refuse(emitError, "a generated kernel cannot hold a tensor of this type");
  };
  for (BlockArgument a : block.getArguments()) {
    if (a.use_empty() && !llvm::is_contained(body->results, Value(a)))
      continue;
    if (failed(known(a)))
      return failure();
    View view = viewOf(a.getArgNumber());
    node[a] = r.load(a.getArgNumber(), *dtype(a), stridesOf(a, view, order), view.offset);
  }
  for (Operation &primitive : block) {
    FailureOr<int> value = add(r, primitive);
    if (failed(value))
      return failure();
    node[primitive.getResult(0)] = *value;
  }
  for (auto [i, v] : llvm::enumerate(body->results)) {
    if (failed(known(v)))
      return failure();
    // Units of the space must write disjoint elements.
    SmallVector<int> mine = axes.of(v);
    for (int axis : order)
      if (!axes.isReduced(axis) && !llvm::is_contained(mine, axis))
        return refuse(emitError, "a result of the fused region lacks a dimension of another");
    unsigned buffer = block.getNumArguments() + i;
    View view = viewOf(buffer);
    r.store(buffer, *dtype(v), stridesOf(v, view, order), node.lookup(v), view.offset);
  }
  return success();
}

/// Merges the reduced axes into one, which becomes the last dimension, or the one before a last, parallel one.
LogicalResult Bridge::shapeSpace(Region &r, ArrayRef<int> order) {
  auto isReduced = [&](int axis) { return axes.isReduced(axis); };
  int first = int(llvm::find_if(order, isReduced) - order.begin()), rank = int(order.size());
  if (first == rank)
    return success();
  int end = first;
  while (end < rank && axes.isReduced(order[end]))
    ++end;
  // Merges dimension d into d + 1.
  auto merge = [&](int d) {
    for (const Operand &o : r.operands)
      if (o.strides[d] != o.strides[d + 1] * r.space[d + 1])
        return false;
    r.space[d + 1] *= r.space[d];
    r.space.erase(r.space.begin() + d);
    for (Operand &o : r.operands)
      o.strides.erase(o.strides.begin() + d);
    return true;
  };
  for (; end - first > 1; --end)
    if (!merge(end - 2))
      return refuse(emitError, "the reduced dimensions of an operand do not lie one after the other");
  if (end == int(r.space.size()))
    return success();
  r.reduceRows = true;
  while (int(r.space.size()) > end + 1 && merge(int(r.space.size()) - 2))
    ;
  // Parallel dimensions that do not merge into the last one go outwards.
  int inner = int(r.space.size()) - 1 - end;
  std::rotate(r.space.begin() + first, r.space.begin() + end, r.space.begin() + end + inner);
  for (Operand &o : r.operands)
    std::rotate(o.strides.begin() + first, o.strides.begin() + end, o.strides.begin() + end + inner);
  return success();
}

FailureOr<Region> Bridge::run() {
  if (auto fused = dyn_cast<graph::FusedOp>(op)) {
    FailureOr<SmallVector<int64_t>> repeats = repeatsOf(fused, emitError);
    if (failed(repeats))
      return failure();
    if (!repeats->empty() && failed(copyRepeating(fused, *repeats)))
      return failure();
    if (repeats->empty())
      copyOp();
  } else {
    copyOp();
  }
  if (failed(decompose()) || failed(axes.build(body->block(), body->results, emitError)))
    return failure();
  FailureOr<SmallVector<int>> order = axes.order(body->results, emitError);
  if (failed(order))
    return failure();
  SmallVector<int64_t> space;
  for (int axis : *order)
    space.push_back(axes.size(axis));
  Region r(space);
  if (failed(addOperands(r, *order)) || failed(shapeSpace(r, *order)))
    return failure();
  if (r.space.empty()) { // single elements
    r.space.push_back(1);
    for (Operand &o : r.operands)
      o.strides.push_back(0);
  }
  return r;
}

FailureOr<SmallVector<Region>> regionsFromOp(Operation *op, EmitError emitError, ArrayRef<View> views) {
  if (isa<graph::ConcatOp, graph::SliceOp, graph::PadOp>(op) && !isOpen(op))
    return regionsFromMove(op, emitError, views);
  auto regionOf = [&](Operation *closed) { return Bridge(closed, emitError, views).run(); };
  FailureOr<Region> r = isOpen(op) ? regionOfRows(op, emitError, regionOf) : regionOf(op);
  if (failed(r))
    return failure();
  return SmallVector<Region>{std::move(*r)};
}

} // namespace plim::gen
