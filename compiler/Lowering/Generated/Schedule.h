//===- Schedule.h - How a region is cut into loops and tasks ----*- C++ -*-===//
//
// A region is computed in phases; a reduction ends a phase. Softmax, for one row:
//
//   phase 0   m = max x
//   phase 1   e = exp(x - m), s = sum e
//   phase 2   y = e / s
//
// A vector value that two phases use is computed again where that is cheap. One costly value (e above) is kept: in
// the output row, whose lines then arrive during the costly phase, or in scratch.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "compiler/Lowering/Generated/Region.h"

namespace plim::gen {

enum class LoopForm {
  Rows,      // the vector axis inside outer loops; may reduce over it
  Columns,   // rows walked one after the other, columns parallel; reduces over rows
  Transposed // loads walk the neighbour dimension: 16 x 16 tiles turned over in registers
};

/// Half-open ranges of `units` are what a body computes; a task is `unitsPerTask` of them.
struct Schedule {
  explicit Schedule(const Region &region) : region(region) {}

  Region region; // normalized
  LoopForm form = LoopForm::Rows;
  /// Some access has an inner stride other than 0 and 1 outside the transposed form: element by element.
  bool strided = false;
  llvm::SmallVector<mlir::Type> type; // of each node's value, for one lane; none for stores
  llvm::SmallVector<int> phase;       // of each node: the first one that can compute it
  llvm::SmallVector<char> isVector;   // differs along the vector axis
  llvm::SmallVector<char> perRow;     // Columns: differs from row to row
  llvm::SmallVector<char> transposed; // loads to turn over
  int phases = 1;
  int kept = -1, keptPhase = 0; // node kept across phases; the phase that computes it
  int keptOperand = -1;         // the output row that holds it; -1: scratch
  /// The vector axis is cut in pieces of `chunk` elements, `chunks` of them a row (1: the whole row).
  int64_t chunk = 0, chunks = 1;
  int64_t parallelDims = 0; // leading dimensions whose coordinates, with the chunk, make a unit
  int64_t units = 0, unitsPerTask = 1;
  int64_t scratchBytes = 0;
  double flops = 0, bytes = 0; // estimates
  /// Pairs (read buffer, written buffer) that may be one memory.
  llvm::SmallVector<std::pair<unsigned, unsigned>> inPlace;

  /// Of an open region: units of one step of the first dimension.
  int64_t unitsPerRow() const { return region.space.front() ? units / region.space.front() : 0; }
  int64_t tasks() const { return std::max<int64_t>(1, (units + unitsPerTask - 1) / unitsPerTask); }
};

/// Lanes of the main loop and of every reduction, whatever the machine: fixes the bits of a sum.
constexpr int64_t mainLanes = 64;
constexpr int64_t tailLanes = 16;
/// Rows of a strip in the transposed form.
constexpr int64_t stripRows = 64;
/// Columns of a unit in the columns form: accumulators of a unit stay in the first cache.
constexpr int64_t blockColumns = 1024;
/// Rows added up before their sum is added to the total: bounds the rounding error of long columns.
constexpr int64_t blockRows = 256;

/// Emits diagnostics at `loc` for a region that cannot be compiled. Needs the arith and math dialects.
mlir::FailureOr<Schedule> scheduleRegion(const Region &region, mlir::Location loc);

/// What a plan must know of a kernel.
struct KernelInfo {
  std::string symbol;          // of the plim_kernel, also its name; empty until it is compiled
  uint32_t tasks = 1;          // that every launch must have
  uint64_t scratchBytes = 0;   // of each worker, a multiple of 64
  double flops = 0, bytes = 0; // of one launch, estimates
  /// Pairs (operand read, operand written) that may share their memory.
  llvm::SmallVector<std::pair<unsigned, unsigned>> inPlace;
};

/// Of the kernel that computes these parts; compiles nothing.
KernelInfo describeKernel(llvm::ArrayRef<Schedule> parts);
mlir::FailureOr<KernelInfo> describeKernel(llvm::ArrayRef<Region> parts, mlir::Location loc);

} // namespace plim::gen
