//===- EmitRows.cpp - Sweeps over rows, phase by phase --------------------===//
#include "compiler/Lowering/Generated/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
namespace plim::gen {

Value Emitter::loadVector(Value buffer, Value at, Lanes l) {
  auto t = VectorType::get({l.count}, cast<MemRefType>(buffer.getType()).getElementType());
  if (!l.mask)
    return vector::LoadOp::create(b, t, buffer, at);
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(t));
  return vector::MaskedLoadOp::create(b, t, buffer, at, l.mask, zero);
}

void Emitter::storeVector(Value v, Value buffer, Value at, Lanes l) {
  if (l.mask)
    vector::MaskedStoreOp::create(b, buffer, at, l.mask, v);
  else
    vector::StoreOp::create(b, v, buffer, at);
}

Value Emitter::load(const Node &n, Lanes l) {
  const Operand &o = operand(n);
  Value buffer = args[o.arg], v;
  if (s.form == LoopForm::Transposed || o.strides.back() == 1) {
    v = loadVector(buffer, plus(base[n.operand], l.column), l);
  } else {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < l.count; ++i) {
      Value at = plus(base[n.operand], times(plus(l.column, index(i)), o.strides.back()));
      elements.push_back(memref::LoadOp::create(b, buffer, at));
    }
    v = vector::FromElementsOp::create(b, VectorType::get({l.count}, elements[0].getType()), elements);
  }
  return widen(v, o.dtype);
}

void Emitter::store(const Node &n, Value v, Lanes l) {
  const Operand &o = operand(n);
  v = stored(n.inputs[0], v, o);
  if (o.strides.back() == 1)
    return storeVector(v, args[o.arg], plus(base[n.operand], l.column), l);
  for (int64_t i = 0; i < l.count; ++i) {
    Value at = plus(base[n.operand], times(plus(l.column, index(i)), o.strides.back()));
    memref::StoreOp::create(b, vector::ExtractOp::create(b, v, ArrayRef<int64_t>{i}), args[o.arg], at);
  }
}

Value Emitter::keptRow() { return s.keptOperand < 0 ? scratch : args[r().operands[s.keptOperand].arg]; }
Value Emitter::keptAt(Lanes l) { return s.keptOperand < 0 ? l.column : plus(base[s.keptOperand], l.column); }

void Emitter::storeAll(ArrayRef<int> stores, Lanes l, Cache &cache, int inPhase) {
  SmallVector<Value> values;
  for (int i : stores)
    values.push_back(vector(r().nodes[i].inputs[0], l, cache, inPhase));
  for (auto [i, v] : llvm::zip(stores, values))
    store(r().nodes[i], v, l);
  if (s.kept < 0 || s.keptPhase != inPhase)
    return;
  if (Value v = cache.lookup(s.kept))
    storeVector(v, keptRow(), keptAt(l), l);
}

/// Runs `body` over the span's columns. Carries and returns one accumulator for each kind.
SmallVector<Value> Emitter::sweep(Span span, ArrayRef<ReduceKind> kinds, Body body) {
  SmallVector<Value> acc;
  Value at = span.lo;
  int64_t left = span.length; // -1: unknown
  auto loop = [&](int64_t step) {
    if (left >= 0 && left < step)
      return;
    Value trips = arith::DivUIOp::create(b, arith::SubIOp::create(b, span.hi, at), index(step));
    Value to = plus(at, times(trips, step));
    auto f = scf::ForOp::create(b, at, to, index(step), acc);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(f.getBody());
    SmallVector<Value> next = body({step, f.getInductionVar()}, f.getRegionIterArgs());
    if (!next.empty())
      scf::YieldOp::create(b, next);
    acc.assign(f.result_begin(), f.result_end());
    at = to;
    left = left < 0 ? left : left % step;
  };
  auto fold = [&](int64_t lanes) {
    for (auto [kind, a] : llvm::zip(kinds, acc))
      a = this->fold(kind, a, lanes);
  };
  SmallVector<int64_t, 2> widths{mainLanes, tailLanes};
  if (s.strided)
    widths = {tailLanes, 1};
  for (ReduceKind kind : kinds)
    acc.push_back(identity(kind, widths[0]));
  loop(widths[0]);
  fold(widths[1]);
  if (left < 0 && span.multiple % widths[0] == 0)
    left = 0;
  loop(widths[1]);
  if (left == 0 || s.strided || span.multiple % tailLanes == 0)
    return acc;
  Value count = arith::SubIOp::create(b, span.hi, at);
  auto emitTail = [&] {
    Value mask = vector::CreateMaskOp::create(b, VectorType::get({tailLanes}, b.getI1Type()), count);
    SmallVector<Value> next = body({tailLanes, at, mask}, acc);
    for (auto [n, a] : llvm::zip(next, acc))
      n = arith::SelectOp::create(b, mask, n, a);
    return next;
  };
  if (left > 0)
    return emitTail();
  Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, count, index(0));
  auto tail = scf::IfOp::create(b, ValueRange(acc).getTypes(), any, /*withElse=*/!acc.empty());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(tail.thenBlock());
  SmallVector<Value> next = emitTail();
  if (acc.empty())
    return acc;
  scf::YieldOp::create(b, next);
  b.setInsertionPointToStart(tail.elseBlock());
  scf::YieldOp::create(b, acc);
  return llvm::to_vector(ValueRange(tail.getResults()));
}

void Emitter::emitPhases(Span span) {
  uniform.clear();
  for (int p = 0; p < s.phases; ++p) {
    computeUniforms(p, [](int) { return true; });
    SmallVector<int> reductions, stores;
    SmallVector<ReduceKind> kinds;
    for (auto [i, n] : llvm::enumerate(r().nodes)) {
      if (s.phase[i] != p)
        continue;
      if (n.kind == NodeKind::Reduce)
        reductions.push_back(i), kinds.push_back(n.reduce);
      else if (n.kind == NodeKind::Store && s.isVector[i])
        stores.push_back(i);
    }
    if (reductions.empty() && stores.empty())
      continue;
    SmallVector<Value> acc = sweep(span, kinds, [&](Lanes l, ValueRange acc) {
      Cache cache;
      SmallVector<Value> next;
      for (auto [i, a] : llvm::zip(reductions, acc))
        next.push_back(combine(r().nodes[i].reduce, a, vector(r().nodes[i].inputs[0], l, cache, p)));
      storeAll(stores, l, cache, p);
      return next;
    });
    for (auto [i, a] : llvm::zip(reductions, acc))
      uniform[i] = vector::ExtractOp::create(b, fold(r().nodes[i].reduce, a, 1), ArrayRef<int64_t>{0});
  }
}

void Emitter::emitRows() {
  Value unit = openUnits();
  SmallVector<Value> coords = coordinates(unit, s.parallelDims, s.chunks);
  Span span = columnsOf(unit);
  for (int64_t d = s.parallelDims, outer = r().space.size() - 1; d < outer; ++d) {
    auto g = scf::ForOp::create(b, index(0), index(r().space[d]), index(1));
    b.setInsertionPointToStart(g.getBody());
    coords.push_back(g.getInductionVar());
  }
  placeRow(coords);
  emitPhases(span);
}

} // namespace plim::gen
