//===- Folding.h - Evaluation of graph ops on small constants -------------------------------------------===//
//
// Shape arithmetic of a model is done on constants of a few elements; folders evaluate it with these. Results above
// ConstantOp::kMaxBytes are not folded: they are work for @setup.
//
//===----------------------------------------------------------------------------------------------------===//
#ifndef PLIM_DIALECTS_GRAPH_FOLDING_H
#define PLIM_DIALECTS_GRAPH_FOLDING_H

#include "dialects/Graph/GraphDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace plim::graph {

/// The elements of a constant, as integers (booleans are 0 and 1) or as doubles.
struct Elements {
  mlir::RankedTensorType type;
  bool isFloat = false;
  llvm::SmallVector<int64_t> ints;
  llvm::SmallVector<double> floats;

  /// Reads a dense constant of a foldable size.
  static std::optional<Elements> read(mlir::Attribute attr);
  /// As an attribute of the type; floats are rounded to it, integers wrap.
  mlir::Attribute write() const;
  int64_t size() const { return isFloat ? floats.size() : ints.size(); }
};

/// The result type if a constant of it may be folded: static, row-major, at most ConstantOp::kMaxBytes.
mlir::RankedTensorType foldableType(mlir::Type type);

/// For each element of `to`, in order, the number of the element of `from` (broadcasting as in numpy) it repeats.
llvm::SmallVector<int64_t> broadcastIndices(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);
/// Row-major coordinates of element `index`, and back.
llvm::SmallVector<int64_t> coordinatesOf(int64_t index, llvm::ArrayRef<int64_t> shape);
int64_t indexOf(llvm::ArrayRef<int64_t> coordinates, llvm::ArrayRef<int64_t> shape);

/// A constant whose element i is element source(i).second of operand source(i).first; null where an operand is unknown
/// or the result is not foldable.
mlir::Attribute foldMove(llvm::ArrayRef<mlir::Attribute> operands, mlir::Type result,
                         llvm::function_ref<std::pair<unsigned, int64_t>(int64_t)> source);

/// For each entry of a result of static shape, the operand and entry that it is a copy of. Nothing for ops that do not
/// just move entries, or where `index` (the number that an entry of an operand is, if known) does not say which.
std::optional<llvm::SmallVector<std::pair<unsigned, int64_t>>>
movedEntries(mlir::Operation *op, llvm::function_ref<std::optional<int64_t>(unsigned, int64_t)> index);
/// The result of such an op on constants.
mlir::Attribute foldMoved(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> operands);

/// The sizes of a shape_of's operand as a constant; dynamic ones are ShapedType::kDynamic and must not be used.
mlir::Attribute knownSizes(ShapeOfOp op);

/// All elements are this number.
bool isSplat(mlir::Attribute attr, double number);

/// Evaluates `f` (callable on two int64_t and on two doubles) on two constants that broadcast.
template <typename F> mlir::Attribute foldBinary(llvm::ArrayRef<mlir::Attribute> operands, mlir::Type resultType, F f) {
  std::optional<Elements> x = Elements::read(operands[0]), y = Elements::read(operands[1]);
  mlir::RankedTensorType type = foldableType(resultType);
  if (!x || !y || !type)
    return {};
  Elements result{type, llvm::isa<mlir::FloatType>(type.getElementType()), {}, {}};
  auto xs = broadcastIndices(x->type.getShape(), type.getShape());
  auto ys = broadcastIndices(y->type.getShape(), type.getShape());
  for (auto [i, j] : llvm::zip(xs, ys)) {
    auto append = [&](auto value) {
      if (result.isFloat)
        result.floats.push_back(static_cast<double>(value));
      else
        result.ints.push_back(static_cast<int64_t>(value));
    };
    if (x->isFloat)
      append(f(x->floats[i], y->floats[j]));
    else
      append(f(x->ints[i], y->ints[j]));
  }
  return result.write();
}

} // namespace plim::graph

#endif
