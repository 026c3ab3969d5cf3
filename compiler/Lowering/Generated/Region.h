//===- Region.h - A fused region as a small expression graph ----*- C++ -*-===//
//
// What becomes one generated kernel: a static iteration space, operands that are affine views into the launch's
// buffers, and nodes in def-before-use order. The last dimension of the space is the vector axis.
//
//   softmax over the rows of f32[R, C]:
//     Region r({R, C});
//     int x = r.load(0, PLIM_F32, {C, 1});
//     int e = r.op<math::ExpOp>({r.op<arith::SubFOp>({x, r.reduce(ReduceKind::Max, x)})});
//     r.store(1, PLIM_F32, {C, 1}, r.op<arith::DivFOp>({e, r.reduce(ReduceKind::Sum, e)}));
//
// Loads give f32 for f32, f16 and bf16, i1 for bool, else the element's own type (integers are signless); stores
// take those types. Apply nodes hold a function that emits arith and math ops over scalars or vectors alike.
//
//===----------------------------------------------------------------------===//
#pragma once
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "plim/kernel.h"
#include <functional>

namespace plim::gen {

/// Element `coords` lives at buf[arg] + (offset + sum(coords[d] * strides[d])) elements.
struct Operand {
  unsigned arg;
  plim_dtype dtype;
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
};

enum class NodeKind { Load, Store, Apply, Reduce };
enum class ReduceKind { Sum, Product, Max, Min };

/// Emits one elementwise operation; operands and result are all scalars, or all vectors of the same length.
using ScalarFn = std::function<mlir::Value(mlir::ImplicitLocOpBuilder &, mlir::ValueRange)>;

struct Node {
  NodeKind kind;
  llvm::SmallVector<int, 2> inputs; // earlier nodes
  int operand = -1;                 // Load, Store
  ReduceKind reduce = ReduceKind::Sum;
  ScalarFn apply;
};

/// The first dimension of the space is a bound: a run has as many as the product of the first `dims` dimensions of
/// launch operand `operand`. No stride depends on it.
struct OpenSpace {
  unsigned operand, dims;
};

struct Region {
  llvm::SmallVector<int64_t> space;
  std::optional<OpenSpace> open;
  /// Reductions fold the last dimension, or the one before it (`rows`; columns stay parallel). They are in f32.
  bool reduceRows = false;
  llvm::SmallVector<Operand> operands;
  std::vector<Node> nodes;

  explicit Region(llvm::ArrayRef<int64_t> space) : space(space) {}

  int load(unsigned arg, plim_dtype dtype, llvm::ArrayRef<int64_t> strides, int64_t offset = 0);
  void store(unsigned arg, plim_dtype dtype, llvm::ArrayRef<int64_t> strides, int value, int64_t offset = 0);
  int constant(double value); // f32
  int apply(ScalarFn fn, llvm::ArrayRef<int> inputs);
  int reduce(ReduceKind kind, int value);
  template <typename OpTy> int op(llvm::ArrayRef<int> inputs) {
    return apply([](mlir::ImplicitLocOpBuilder &b, mlir::ValueRange in) -> mlir::Value { return OpTy::create(b, in); },
                 inputs);
  }

  bool hasReduction() const;

  /// Says what makes the region malformed, or nothing where it is well formed: strides of the space's rank, no
  /// negative size, no element before its buffer, one element type a buffer, inputs before uses, at least one store.
  std::string problem() const;

  /// Drops dimensions of size 1 and merges neighbours that every operand walks as one, so that rows get as long as
  /// they can; moves the dimension that transposed loads walk next to the last. Leaves dimensions that reductions
  /// tell apart, and an open one. A reducing region keeps at least two dimensions, any other at least one.
  void normalize();
};

/// Whether a stride of the vector axis is walked by vectors: one element for all lanes, or neighbours.
inline bool isDense(int64_t stride) { return stride == 0 || stride == 1; }

/// Bytes from the first to one past the last element of `o` over `space`, counted from the buffer's start.
int64_t extentBytes(const Operand &o, llvm::ArrayRef<int64_t> space);

} // namespace plim::gen
