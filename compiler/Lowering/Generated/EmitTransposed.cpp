//===- EmitTransposed.cpp - Tiles turned over in registers ----------------===//
//
// Some loads walk the dimension next to the vector axis with stride 1. Tiles of 16 x 16 are loaded along the loads'
// rows, transposed by shuffles, and used along the stores' rows.
//
//===----------------------------------------------------------------------===//
#include "compiler/Lowering/Generated/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
namespace plim::gen {

/// The tile of rows [row, row + rows) and columns [col, col + cols), neither more than 16.
void Emitter::tile(ArrayRef<Value> outer, Value row, Value col, int64_t rows, int64_t cols) {
  auto maskOf = [&](int64_t n) -> Value {
    if (n == tailLanes)
      return {};
    return vector::CreateMaskOp::create(b, VectorType::get({tailLanes}, b.getI1Type()), index(n));
  };
  auto square = VectorType::get({tailLanes, tailLanes}, f32);
  Value rowMask = maskOf(rows), colMask = maskOf(cols);
  SmallVector<Value> coords(outer);
  coords.push_back(row);
  placeRow(coords);
  Cache turned;
  for (auto [i, n] : llvm::enumerate(r().nodes)) {
    if (!s.transposed[i])
      continue;
    Value m = arith::ConstantOp::create(b, b.getZeroAttr(square));
    for (int64_t j = 0; j < cols; ++j) {
      Value from = times(plus(col, index(j)), operand(n).strides.back());
      m = vector::InsertOp::create(b, load(n, {tailLanes, from, rowMask}), m, ArrayRef<int64_t>{j});
    }
    turned[i] = vector::TransposeOp::create(b, m, ArrayRef<int64_t>{1, 0});
  }
  SmallVector<int> stores;
  for (auto [i, n] : llvm::enumerate(r().nodes))
    if (n.kind == NodeKind::Store && s.isVector[i])
      stores.push_back(i);
  for (int64_t k = 0; k < rows; ++k) {
    coords.back() = plus(row, index(k));
    placeRow(coords);
    uniform.clear();
    computeUniforms(0, [](int) { return true; });
    Cache cache;
    for (auto [i, m] : turned)
      cache[i] = vector::ExtractOp::create(b, m, ArrayRef<int64_t>{k});
    storeAll(stores, {tailLanes, col, colMask}, cache, 0);
  }
}

void Emitter::emitTransposed() {
  const int64_t rank = r().space.size(), rows = r().space[rank - 2], cols = r().space[rank - 1];
  const int64_t strips = llvm::divideCeil(rows, stripRows), lanes = tailLanes;
  Value unit = openUnits();
  SmallVector<Value> outer = coordinates(unit, rank - 2, strips * s.chunks);
  Value chunk = arith::RemUIOp::create(b, unit, index(s.chunks));
  Value first = times(arith::DivUIOp::create(b, unit, index(s.chunks)), stripRows);
  Value limit = arith::MinUIOp::create(b, plus(first, index(stripRows)), index(rows));
  Span span = columnsOf(chunk);

  auto tilesOfColumn = [&](Value col, int64_t colCount) {
    Value whole = arith::SubIOp::create(b, limit, arith::RemUIOp::create(b, limit, index(lanes)));
    auto f = scf::ForOp::create(b, first, whole, index(lanes));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(f.getBody());
    tile(outer, f.getInductionVar(), col, lanes, colCount);
    if (rows % lanes == 0)
      return;
    b.setInsertionPointAfter(f);
    Value ragged = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, whole, limit);
    auto tail = scf::IfOp::create(b, ragged);
    b.setInsertionPointToStart(tail.thenBlock());
    tile(outer, whole, col, rows % lanes, colCount);
  };
  // Chunks are multiples of 16, so only the last one is ragged.
  Value whole = arith::MinUIOp::create(b, span.hi, index(cols / lanes * lanes));
  if (cols >= lanes) {
    auto f = scf::ForOp::create(b, span.lo, whole, index(lanes));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(f.getBody());
    tilesOfColumn(f.getInductionVar(), lanes);
  }
  if (cols % lanes == 0)
    return;
  Value ragged = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, whole, span.hi);
  auto tail = scf::IfOp::create(b, ragged);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(tail.thenBlock());
  tilesOfColumn(index(cols / lanes * lanes), cols % lanes);
}

} // namespace plim::gen
