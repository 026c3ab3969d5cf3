//===- Emitter.h - A scheduled region to loops over vectors -----*- C++ -*-===//
//
// One function a region, @<name>(memref args..., memref<scratch x f32>, begin, end: i64), that computes units
// [begin, end). Vectors have 64 lanes in the main loop, then 16, then 16 under a mask; of strided regions 16, then 1.
// All loads of a vector precede its stores, so an output may share the memory of an input of the same view.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Lowering/Generated/Schedule.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace plim::gen {

/// Appends the function to `module` and returns the buffers that its leading arguments stand for, in order.
llvm::SmallVector<unsigned> emitLoops(mlir::ModuleOp module, const Schedule &schedule, llvm::StringRef name);

/// The lanes that one copy of a loop body works on.
struct Lanes {
  int64_t count;
  mlir::Value column;    // first element along the vector axis
  mlir::Value mask = {}; // none: all lanes live
};

/// The columns [lo, hi) that a sweep covers.
struct Span {
  mlir::Value lo, hi;
  int64_t length = -1; // where it is known at compile time
  int64_t multiple;    // divides the length
};

class Emitter {
public:
  Emitter(mlir::ModuleOp module, const Schedule &schedule, llvm::StringRef name);
  void emitRows();
  void emitColumns();
  void emitTransposed();
  llvm::SmallVector<unsigned> buffers; // of the function's leading arguments

private:
  using Cache = llvm::DenseMap<int, mlir::Value>;
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(Lanes, mlir::ValueRange accumulators)>;

  // Functions and coordinates.
  void openFunction(llvm::StringRef name);
  mlir::Value openUnits(); // a loop over the units; its induction variable
  /// Splits `unit` into coordinates of the leading `dims` dimensions and what is left over for dimension sizes `inner`.
  llvm::SmallVector<mlir::Value> coordinates(mlir::Value &unit, int64_t dims, int64_t inner);
  void placeRow(llvm::ArrayRef<mlir::Value> coords);
  Span columnsOf(mlir::Value chunk);

  // Values.
  mlir::Value index(int64_t v);
  mlir::Value plus(mlir::Value x, mlir::Value y);
  mlir::Value times(mlir::Value x, int64_t k);
  mlir::Value identity(ReduceKind kind, int64_t lanes);
  mlir::Value combine(ReduceKind kind, mlir::Value accumulator, mlir::Value v);
  mlir::Value fold(ReduceKind kind, mlir::Value v, int64_t lanes);
  mlir::Type storageType(plim_dtype dtype);
  mlir::Value widen(mlir::Value v, plim_dtype dtype);
  mlir::Value narrow(mlir::Value v, plim_dtype dtype);
  /// The value of `node` as its store writes it to an operand: one NaN where it was computed, and narrowed.
  mlir::Value stored(int node, mlir::Value v, const Operand &o);
  mlir::Value scalar(int node);
  void computeUniforms(int inPhase, llvm::function_ref<bool(int)> wanted);
  mlir::Value vector(int node, Lanes l, Cache &cache, int inPhase);

  // Memory.
  mlir::Value loadVector(mlir::Value buffer, mlir::Value at, Lanes l);
  void storeVector(mlir::Value v, mlir::Value buffer, mlir::Value at, Lanes l);
  mlir::Value load(const Node &n, Lanes l);
  void store(const Node &n, mlir::Value v, Lanes l);
  mlir::Value keptRow();
  mlir::Value keptAt(Lanes l);
  /// Computes the inputs of `stores`, then stores them all, then the kept value if it came up.
  void storeAll(llvm::ArrayRef<int> stores, Lanes l, Cache &cache, int inPhase);

  // Loops.
  llvm::SmallVector<mlir::Value> sweep(Span span, llvm::ArrayRef<ReduceKind> kinds, Body body);
  void emitPhases(Span span);
  void tile(llvm::ArrayRef<mlir::Value> outer, mlir::Value row, mlir::Value col, int64_t rows, int64_t cols);

  const Region &r() const { return s.region; }
  const Operand &operand(const Node &n) const { return s.region.operands[n.operand]; }

  mlir::ImplicitLocOpBuilder b;
  const Schedule &s;
  mlir::Type f32;
  llvm::DenseMap<unsigned, mlir::Value> args; // by buffer
  llvm::SmallVector<mlir::Value> base;        // of each operand: first element of the row
  mlir::Value scratch, begin, end;
  mlir::Value nan32, nan64; // the NaN that is stored
  Cache uniform;            // values equal along the row
  /// Columns: where the accumulators of each reduction lie in scratch, and the first column of the unit.
  llvm::DenseMap<int, int64_t> slot;
  mlir::Value firstColumn;
};

} // namespace plim::gen
