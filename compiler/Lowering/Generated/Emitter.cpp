//===- Emitter.cpp - Functions, coordinates and values of a region --------===//
#include "compiler/Lowering/Generated/Emitter.h"
#include "compiler/Lowering/Generated/Bf16.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>
#include <map>

using namespace mlir;
namespace plim::gen {

SmallVector<unsigned> emitLoops(ModuleOp module, const Schedule &schedule, StringRef name) {
  Emitter e(module, schedule, name);
  switch (schedule.form) {
  case LoopForm::Rows:
    e.emitRows();
    break;
  case LoopForm::Columns:
    e.emitColumns();
    break;
  case LoopForm::Transposed:
    e.emitTransposed();
    break;
  }
  return e.buffers;
}

Emitter::Emitter(ModuleOp module, const Schedule &schedule, StringRef name)
    : b(module.getLoc(), module.getBodyRegion()), s(schedule), f32(b.getF32Type()) {
  b.setInsertionPointToEnd(module.getBody());
  openFunction(name);
}

Value Emitter::index(int64_t v) { return arith::ConstantIndexOp::create(b, v); }
Value Emitter::plus(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
Value Emitter::times(Value x, int64_t k) { return k == 1 ? x : Value(arith::MulIOp::create(b, x, index(k))); }

void Emitter::openFunction(StringRef name) {
  std::map<unsigned, std::pair<int64_t, plim_dtype>> used; // buffer: elements, type
  for (const Operand &o : r().operands) {
    auto [it, isNew] = used.try_emplace(o.arg, 0, o.dtype);
    int64_t elements = extentBytes(o, r().space) / plim_dtype_bytes(o.dtype);
    it->second.first = std::max(it->second.first, elements);
  }
  SmallVector<Type> types;
  for (auto [arg, buffer] : used) {
    buffers.push_back(arg);
    types.push_back(MemRefType::get({std::max<int64_t>(buffer.first, 1)}, storageType(buffer.second)));
  }
  types.push_back(MemRefType::get({std::max<int64_t>(s.scratchBytes / 4, 1)}, f32));
  types.append(2, b.getI64Type());
  auto f = func::FuncOp::create(b, name, b.getFunctionType(types, {}));
  Block *entry = f.addEntryBlock();
  b.setInsertionPointToEnd(entry);
  for (auto [i, arg] : llvm::enumerate(buffers))
    args[arg] = entry->getArgument(i);
  scratch = entry->getArgument(buffers.size());
  begin = arith::IndexCastOp::create(b, b.getIndexType(), entry->getArgument(buffers.size() + 1));
  end = arith::IndexCastOp::create(b, b.getIndexType(), entry->getArgument(buffers.size() + 2));
  // As constants, LLVM would take a choice between one NaN and another for none.
  auto opaque = [&](Type integer, TypedAttr bits, Type type) {
    Value constant = arith::ConstantOp::create(b, bits);
    auto dialect = LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT);
    auto copy = LLVM::InlineAsmOp::create(b, integer, constant, /*asm_string=*/"", /*constraints=*/"=r,0",
                                          /*has_side_effects=*/false, /*is_align_stack=*/false,
                                          LLVM::TailCallKind::None, dialect, /*operand_attrs=*/ArrayAttr());
    return arith::BitcastOp::create(b, type, copy.getRes());
  };
  nan32 = opaque(b.getI32Type(), b.getI32IntegerAttr(0x7fc00000), f32);
  nan64 = opaque(b.getI64Type(), b.getI64IntegerAttr(0x7ff8000000000000), b.getF64Type());
  func::ReturnOp::create(b);
  b.setInsertionPoint(entry->getTerminator());
}

Value Emitter::openUnits() {
  auto f = scf::ForOp::create(b, begin, end, index(1));
  b.setInsertionPointToStart(f.getBody());
  return f.getInductionVar();
}

SmallVector<Value> Emitter::coordinates(Value &unit, int64_t dims, int64_t inner) {
  SmallVector<Value> coords(dims);
  Value rest = unit;
  if (inner > 1) {
    rest = arith::DivUIOp::create(b, unit, index(inner));
    unit = arith::RemUIOp::create(b, unit, index(inner));
  } else {
    unit = index(0);
  }
  for (int64_t d = dims - 1; d >= 0; --d) {
    coords[d] = d ? Value(arith::RemUIOp::create(b, rest, index(r().space[d]))) : rest;
    if (d)
      rest = arith::DivUIOp::create(b, rest, index(r().space[d]));
  }
  return coords;
}

/// Sets base[] for these outer coordinates.
void Emitter::placeRow(ArrayRef<Value> coords) {
  base.clear();
  for (const Operand &o : r().operands) {
    Value at = index(o.offset);
    for (auto [c, stride] : llvm::zip(coords, o.strides))
      if (stride)
        at = plus(at, times(c, stride));
    base.push_back(at);
  }
}

Span Emitter::columnsOf(Value chunk) {
  const int64_t columns = r().space.back();
  if (s.chunks == 1)
    return {index(0), index(columns), columns, 1};
  Value lo = times(chunk, s.chunk);
  Value hi = arith::MinUIOp::create(b, plus(lo, index(s.chunk)), index(columns));
  return {lo, hi, columns % s.chunk ? -1 : s.chunk, std::gcd(columns, s.chunk)};
}

static double identityOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return 0;
  case ReduceKind::Product:
    return 1;
  case ReduceKind::Max:
    return -INFINITY;
  case ReduceKind::Min:
    return INFINITY;
  }
  llvm_unreachable("reduction");
}

Value Emitter::identity(ReduceKind kind, int64_t lanes) {
  auto type = VectorType::get({lanes}, f32);
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, float(identityOf(kind))));
}

/// A NaN on either side stays a NaN, at the price of one compare more than x86's own maximum.
Value Emitter::combine(ReduceKind kind, Value acc, Value v) {
  if (kind == ReduceKind::Sum)
    return arith::AddFOp::create(b, acc, v);
  if (kind == ReduceKind::Product)
    return arith::MulFOp::create(b, acc, v);
  auto predicate = kind == ReduceKind::Max ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
  Value better = arith::CmpFOp::create(b, predicate, v, acc);
  Value best = arith::SelectOp::create(b, better, v, acc);
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, v, v);
  return arith::SelectOp::create(b, isNan, v, best);
}

/// Halves a vector until `lanes` are left. A tree, so the result does not depend on how a machine adds up a vector.
Value Emitter::fold(ReduceKind kind, Value v, int64_t lanes) {
  for (int64_t n = cast<VectorType>(v.getType()).getDimSize(0); n > lanes;) {
    n /= 2;
    Value low = vector::ExtractStridedSliceOp::create(b, v, {0}, {n}, {1});
    Value high = vector::ExtractStridedSliceOp::create(b, v, {n}, {n}, {1});
    v = combine(kind, low, high);
  }
  return v;
}

Type Emitter::storageType(plim_dtype dtype) {
  switch (dtype) {
  case PLIM_F32:
    return f32;
  case PLIM_F16:
    return b.getF16Type();
  case PLIM_F64:
    return b.getF64Type();
  default: // bf16 as its bits
    return b.getIntegerType(8 * plim_dtype_bytes(dtype));
  }
}

Value Emitter::widen(Value v, plim_dtype dtype) {
  Type t = v.getType();
  if (dtype == PLIM_F16)
    return arith::ExtFOp::create(b, withElement(t, f32), v);
  if (dtype == PLIM_BF16)
    return widenBf16(b, v);
  if (dtype == PLIM_BOOL)
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, v, splatConstant(b, t, b.getI8IntegerAttr(0)));
  return v;
}

Value Emitter::narrow(Value v, plim_dtype dtype) {
  Type t = v.getType();
  if (dtype == PLIM_F16)
    return arith::TruncFOp::create(b, withElement(t, b.getF16Type()), v);
  if (dtype == PLIM_BOOL)
    return arith::ExtUIOp::create(b, withElement(t, b.getI8Type()), v);
  return dtype == PLIM_BF16 ? roundToBf16(b, v) : v;
}

/// Which of two NaN an instruction passes on depends on the order of its operands, that is on the machine code.
Value Emitter::stored(int node, Value v, const Operand &o) {
  if (isa<FloatType>(s.type[node]) && r().nodes[node].kind != NodeKind::Load) {
    Value nan = s.type[node].isF32() ? nan32 : nan64;
    if (isa<VectorType>(v.getType()))
      nan = vector::BroadcastOp::create(b, v.getType(), nan);
    Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, v, v);
    v = arith::SelectOp::create(b, isNan, nan, v);
  }
  return narrow(v, o.dtype);
}

Value Emitter::scalar(int i) {
  if (Value v = uniform.lookup(i))
    return v;
  const Node &n = r().nodes[i];
  Value v;
  if (n.kind == NodeKind::Load) {
    v = widen(memref::LoadOp::create(b, args[operand(n).arg], base[n.operand]), operand(n).dtype);
  } else {
    SmallVector<Value> in;
    for (int k : n.inputs)
      in.push_back(scalar(k));
    v = n.apply(b, in);
  }
  return uniform[i] = v;
}

/// Computes, and then stores, what is equal along the row and belongs to this phase.
void Emitter::computeUniforms(int inPhase, llvm::function_ref<bool(int)> wanted) {
  for (int i = 0, n = r().nodes.size(); i < n; ++i)
    if (s.phase[i] == inPhase && !s.isVector[i] && wanted(i) &&
        (r().nodes[i].kind == NodeKind::Load || r().nodes[i].kind == NodeKind::Apply))
      scalar(i);
  for (int i = 0, n = r().nodes.size(); i < n; ++i) {
    const Node &node = r().nodes[i];
    if (s.phase[i] != inPhase || s.isVector[i] || node.kind != NodeKind::Store || !wanted(i))
      continue;
    Value v = stored(node.inputs[0], scalar(node.inputs[0]), operand(node));
    memref::StoreOp::create(b, v, args[operand(node).arg], base[node.operand]);
  }
}

Value Emitter::vector(int i, Lanes l, Cache &cache, int inPhase) {
  if (Value v = cache.lookup(i))
    return v;
  const Node &n = r().nodes[i];
  Value v;
  if (!s.isVector[i]) {
    v = vector::BroadcastOp::create(b, VectorType::get({l.count}, s.type[i]), uniform.lookup(i));
  } else if (i == s.kept && s.keptPhase < inPhase) {
    v = loadVector(keptRow(), keptAt(l), l);
  } else if (n.kind == NodeKind::Load) {
    v = load(n, l);
  } else if (n.kind == NodeKind::Reduce) {
    Value at = plus(arith::SubIOp::create(b, l.column, firstColumn), index(slot.lookup(i)));
    v = loadVector(scratch, at, l);
  } else {
    SmallVector<Value> in;
    for (int k : n.inputs)
      in.push_back(vector(k, l, cache, inPhase));
    v = n.apply(b, in);
  }
  return cache[i] = v;
}

} // namespace plim::gen
