//===- Shape.h - Dimensions with bounds, and the shape rules that ops share ----------------------------===//
//
// A dimension is a closed interval [lo, hi]; a static one has lo = hi. Shape inference works on intervals, so that the
// bound of every result follows from the bounds of the inputs. Rules report to `location`, where there is one, what
// they need and have, and return failure.
//
//===----------------------------------------------------------------------------------------------------===//
#ifndef PLIM_DIALECTS_GRAPH_SHAPE_H
#define PLIM_DIALECTS_GRAPH_SHAPE_H

#include "dialects/Graph/GraphTraits.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/ValueRange.h"
#include <limits>
#include <optional>

namespace plim::graph {

struct Dim {
  static constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();
  int64_t lo = 0, hi = kUnbounded;

  Dim() = default;
  Dim(int64_t size) : lo(size), hi(size) {}
  Dim(int64_t lo, int64_t hi) : lo(lo), hi(hi) {}
  bool isStatic() const { return lo == hi; }
  bool isBounded() const { return hi != kUnbounded; }
  bool operator==(const Dim &other) const = default;
};

/// Interval arithmetic; an unbounded end stays unbounded, differences stop at 0, quotients round down.
Dim operator+(Dim a, Dim b);
Dim operator*(Dim a, Dim b);
Dim subtract(Dim a, int64_t b);
Dim divideDown(Dim a, int64_t b);

using Dims = llvm::SmallVector<Dim, 6>;

/// The dimensions of a ranked tensor type, with the bounds of its encoding.
Dims dimsOf(mlir::Type type);
/// The tensor type with these dimensions: bounds become an encoding where a dimension is dynamic and bounded.
mlir::RankedTensorType tensorOf(llvm::ArrayRef<Dim> dims, mlir::Type element);
mlir::Type elementTypeOf(mlir::Value value);
mlir::Type elementTypeOf(mlir::Type type);
int64_t rankOf(mlir::Value value);
/// Product of all dimensions.
Dim elementsOf(llvm::ArrayRef<Dim> dims);
/// Bytes of a static tensor as a kernel sees it (i1 takes one byte, a packed layout its padding); nullopt for dynamic
/// ones.
std::optional<int64_t> bytesOf(mlir::Type type);
/// Bytes of one element.
int64_t elementBytes(mlir::Type element);

/// As text: `[3, 1 to 32, ?]`.
std::string toString(llvm::ArrayRef<Dim> dims);

/// Whether two dimensions can be equal in some run.
bool canBeEqual(Dim a, Dim b);
/// What is known of a dimension that is `a` and `b` at once; they can be equal.
Dim meet(Dim a, Dim b);
/// Whether declared result types can describe the values that the inferred types describe: same element types, ranks
/// and packed layouts, and dimensions that can be equal.
bool areCompatible(mlir::TypeRange inferred, mlir::TypeRange declared);

/// The shape that two shapes broadcast to as in numpy, or failure with a diagnostic.
llvm::FailureOr<Dims> broadcastDims(std::optional<mlir::Location> location, llvm::StringRef op, llvm::ArrayRef<Dim> a,
                                    llvm::ArrayRef<Dim> b);
/// Whether `from` broadcasts to exactly `to`.
bool broadcastsTo(llvm::ArrayRef<Dim> from, llvm::ArrayRef<Dim> to);
/// Result type of an elementwise op.
llvm::LogicalResult inferElementwise(std::optional<mlir::Location> location, llvm::StringRef op,
                                     mlir::ValueRange operands, mlir::Type element,
                                     llvm::SmallVectorImpl<mlir::Type> &types);
/// Checks 0 <= axis < rank.
llvm::LogicalResult checkAxis(std::optional<mlir::Location> location, llvm::StringRef op, int64_t axis, int64_t rank);
/// Checks that the values are a permutation of 0 ... rank - 1.
llvm::LogicalResult checkPermutation(std::optional<mlir::Location> location, llvm::StringRef op,
                                     llvm::ArrayRef<int64_t> permutation, int64_t rank);
/// Emits `'op' message` at the location, if there is one.
llvm::LogicalResult shapeError(std::optional<mlir::Location> location, llvm::StringRef op, const llvm::Twine &message);

} // namespace plim::graph

#endif
