//===- EmitColumns.cpp - Reductions over rows -----------------------------===//
//
// Units are blocks of columns. Rows are read one after the other, as prefetchers like it; the accumulators of a block
// lie in scratch, that is in the first cache. A phase with stores that differ from row to row walks the rows again.
//
//===----------------------------------------------------------------------===//
#include "compiler/Lowering/Generated/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
namespace plim::gen {

void Emitter::emitColumns() {
  const int64_t rank = r().space.size(), rows = r().space[rank - 2];
  Value unit = openUnits();
  SmallVector<Value> coords = coordinates(unit, s.parallelDims, s.chunks);
  Span span = columnsOf(unit);
  firstColumn = span.lo;
  coords.push_back({});

  auto at = [&](int64_t slot, Lanes l) { return plus(arith::SubIOp::create(b, l.column, firstColumn), index(slot)); };
  auto forRows = [&](Value from, Value to, llvm::function_ref<void()> body) {
    auto f = scf::ForOp::create(b, from, to, index(1));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(f.getBody());
    coords.back() = f.getInductionVar();
    placeRow(coords);
    body();
  };
  /// Values equal along a row: of one row, or, outside the rows, those that no row changes.
  auto uniforms = [&](int phase, bool inRows) {
    uniform.clear();
    auto stored = [&](int i) { return r().nodes[i].kind != NodeKind::Store || (inRows == bool(s.perRow[i])); };
    for (int p = 0; p <= phase; ++p)
      computeUniforms(p, [&](int i) {
        bool isStore = r().nodes[i].kind == NodeKind::Store;
        return stored(i) && (inRows || !s.perRow[i]) && (!isStore || p == phase);
      });
  };

  for (int p = 0; p < s.phases; ++p) {
    SmallVector<int> reductions, rowStores, columnStores;
    bool uniformRowStores = false, uniformStores = false;
    for (auto [i, n] : llvm::enumerate(r().nodes)) {
      if (s.phase[i] != p)
        continue;
      if (n.kind == NodeKind::Reduce) {
        slot[i] = int64_t(slot.size()) * 2 * s.chunk;
        reductions.push_back(i);
      } else if (n.kind == NodeKind::Store) {
        if (s.isVector[i])
          (s.perRow[i] ? rowStores : columnStores).push_back(i);
        else
          (s.perRow[i] ? uniformRowStores : uniformStores) = true;
      }
    }
    // Slot k holds the totals, slot k + chunk the sums of a block of rows.
    auto fill = [&](int64_t shift) {
      sweep(span, {}, [&](Lanes l, ValueRange) -> SmallVector<Value> {
        for (int i : reductions)
          storeVector(identity(r().nodes[i].reduce, l.count), scratch, at(slot[i] + shift, l), l);
        return {};
      });
    };
    auto walk = [&](Value from, Value to, int64_t shift) {
      forRows(from, to, [&] {
        uniforms(p, /*inRows=*/true);
        if (reductions.empty() && rowStores.empty())
          return;
        sweep(span, {}, [&](Lanes l, ValueRange) -> SmallVector<Value> {
          Cache cache;
          SmallVector<Value> sums;
          for (int i : reductions) {
            Value old = loadVector(scratch, at(slot[i] + shift, l), l);
            sums.push_back(combine(r().nodes[i].reduce, old, vector(r().nodes[i].inputs[0], l, cache, p)));
          }
          storeAll(rowStores, l, cache, p);
          for (auto [i, v] : llvm::zip(reductions, sums))
            storeVector(v, scratch, at(slot[i] + shift, l), l);
          return {};
        });
      });
    };
    if (!reductions.empty())
      fill(0);
    if (!reductions.empty() && rows > blockRows) {
      auto blocks = scf::ForOp::create(b, index(0), index(rows), index(blockRows));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(blocks.getBody());
      Value from = blocks.getInductionVar();
      fill(s.chunk);
      walk(from, arith::MinUIOp::create(b, plus(from, index(blockRows)), index(rows)), s.chunk);
      sweep(span, {}, [&](Lanes l, ValueRange) -> SmallVector<Value> {
        for (int i : reductions) {
          Value total = loadVector(scratch, at(slot[i], l), l), sum = loadVector(scratch, at(slot[i] + s.chunk, l), l);
          storeVector(combine(r().nodes[i].reduce, total, sum), scratch, at(slot[i], l), l);
        }
        return {};
      });
    } else if (!reductions.empty() || !rowStores.empty() || uniformRowStores) {
      walk(index(0), index(rows), 0);
    }
    if (columnStores.empty() && !uniformStores)
      continue;
    coords.back() = index(0);
    placeRow(coords);
    uniforms(p, /*inRows=*/false);
    if (!columnStores.empty())
      sweep(span, {}, [&](Lanes l, ValueRange) -> SmallVector<Value> {
        Cache cache;
        storeAll(columnStores, l, cache, p);
        return {};
      });
  }
}

} // namespace plim::gen
