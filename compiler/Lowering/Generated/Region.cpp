//===- Region.cpp - Building and normalizing regions ----------------------===//
#include "compiler/Lowering/Generated/Region.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
namespace plim::gen {

int Region::load(unsigned arg, plim_dtype dtype, ArrayRef<int64_t> strides, int64_t offset) {
  operands.push_back({arg, dtype, SmallVector<int64_t>(strides), offset});
  nodes.push_back({NodeKind::Load, {}, int(operands.size()) - 1, ReduceKind::Sum, {}});
  return int(nodes.size()) - 1;
}

void Region::store(unsigned arg, plim_dtype dtype, ArrayRef<int64_t> strides, int value, int64_t offset) {
  operands.push_back({arg, dtype, SmallVector<int64_t>(strides), offset});
  nodes.push_back({NodeKind::Store, {value}, int(operands.size()) - 1, ReduceKind::Sum, {}});
}

int Region::apply(ScalarFn fn, ArrayRef<int> inputs) {
  nodes.push_back({NodeKind::Apply, SmallVector<int, 2>(inputs), -1, ReduceKind::Sum, std::move(fn)});
  return int(nodes.size()) - 1;
}

int Region::constant(double value) {
  auto emit = [value](ImplicitLocOpBuilder &b, ValueRange) -> Value {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(float(value)));
  };
  return apply(emit, {});
}

int Region::reduce(ReduceKind kind, int value) {
  nodes.push_back({NodeKind::Reduce, {value}, -1, kind, {}});
  return int(nodes.size()) - 1;
}

bool Region::hasReduction() const {
  return llvm::any_of(nodes, [](const Node &n) { return n.kind == NodeKind::Reduce; });
}

std::string Region::problem() const {
  if (space.empty())
    return "the iteration space has no dimension";
  if (open && space.size() < 2)
    return "an open iteration space needs a dimension inside of the open one";
  if (reduceRows && space.size() < 2)
    return "a reduction over rows needs two dimensions";
  if (llvm::any_of(space, [](int64_t n) { return n < 0; }))
    return "the iteration space has a negative size";
  for (auto [i, o] : llvm::enumerate(operands)) {
    if (o.strides.size() != space.size())
      return llvm::formatv("operand {0} has {1} strides, the space {2} dimensions", i, o.strides.size(), space.size());
    int64_t first = o.offset;
    for (auto [size, stride] : llvm::zip(space, o.strides))
      first += std::min<int64_t>(stride, 0) * std::max<int64_t>(size - 1, 0);
    if (first < 0)
      return llvm::formatv("operand {0} begins {1} elements before its buffer", i, -first);
    if (!plim_dtype_bytes(o.dtype))
      return llvm::formatv("operand {0} has the unknown type {1}", i, int(o.dtype));
    for (const Operand &other : operands)
      if (other.arg == o.arg && other.dtype != o.dtype)
        return llvm::formatv("buffer {0} has elements of types {1} and {2}", o.arg, int(other.dtype), int(o.dtype));
  }
  bool stores = false;
  for (auto [i, n] : llvm::enumerate(nodes)) {
    stores |= n.kind == NodeKind::Store;
    for (int in : n.inputs)
      if (in < 0 || in >= int(i) || nodes[in].kind == NodeKind::Store)
        return llvm::formatv("node {0} uses node {1}, which is no earlier value", i, in);
  }
  return stores ? "" : "the region stores nothing";
}

/// The dimension that all stores walk with stride 1; the last where there is none.
static int storedDim(const Region &r) {
  for (int d = int(r.space.size()) - 1; d >= 0; --d)
    if (llvm::all_of(r.nodes,
                     [&](const Node &n) { return n.kind != NodeKind::Store || r.operands[n.operand].strides[d] == 1; }))
      return d;
  return int(r.space.size()) - 1;
}

/// Moves dimension `from` to `to` >= from.
static void moveDim(Region &r, int from, int to) {
  std::rotate(r.space.begin() + from, r.space.begin() + from + 1, r.space.begin() + to + 1);
  for (Operand &o : r.operands)
    std::rotate(o.strides.begin() + from, o.strides.begin() + from + 1, o.strides.begin() + to + 1);
}

/// The dimension that all loads with an inner stride other than 0 and 1 walk with stride 1; -1 where there is none.
static int transposedDim(const Region &r) {
  int last = int(r.space.size()) - 1;
  int found = -1;
  for (const Node &n : r.nodes) {
    if (n.kind != NodeKind::Load || isDense(r.operands[n.operand].strides[last]))
      continue;
    const Operand &o = r.operands[n.operand];
    int d = found >= 0 ? found : int(llvm::find(o.strides, 1) - o.strides.begin());
    if (d >= last || o.strides[d] != 1)
      return -1;
    found = d;
  }
  return found;
}

void Region::normalize() {
  const bool reduces = hasReduction();
  const int keep = reduces ? 2 : 1; // trailing dimensions that must not be dropped
  auto erase = [&](int d) {
    space.erase(space.begin() + d);
    for (Operand &o : operands)
      o.strides.erase(o.strides.begin() + d);
  };
  if (reduces && space.size() == 1) {
    space.insert(space.begin(), 1);
    for (Operand &o : operands)
      o.strides.insert(o.strides.begin(), 0);
  }
  const int first = open ? 1 : 0; // an open dimension stays as it is
  for (int d = int(space.size()) - 1; d >= first && int(space.size()) > keep + first; --d)
    if (space[d] == 1 && (!reduces || d < int(space.size()) - 2))
      erase(d);
  if (!reduces)
    moveDim(*this, storedDim(*this), int(space.size()) - 1);
  for (int d = int(space.size()) - 2; d >= first; --d) {
    // Of a reducing region, the last two dimensions have roles of their own.
    if (reduces && d + 2 >= int(space.size()) - (reduceRows ? 1 : 0))
      continue;
    bool joint =
        llvm::all_of(operands, [&](const Operand &o) { return o.strides[d] == o.strides[d + 1] * space[d + 1]; });
    if (!joint)
      continue;
    int64_t merged = space[d] * space[d + 1];
    erase(d);
    space[d] = merged;
  }
  if (int from = reduces ? -1 : transposedDim(*this); from >= first)
    moveDim(*this, from, int(space.size()) - 2);
}

int64_t extentBytes(const Operand &o, ArrayRef<int64_t> space) {
  int64_t last = o.offset;
  for (auto [size, stride] : llvm::zip(space, o.strides)) {
    if (size == 0)
      return 0;
    last += (size - 1) * std::max<int64_t>(stride, 0);
  }
  return (last + 1) * plim_dtype_bytes(o.dtype);
}

} // namespace plim::gen
