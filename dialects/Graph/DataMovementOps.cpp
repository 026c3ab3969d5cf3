//===- DataMovementOps.cpp - Ops that move elements by position: shapes and aliases ------------------------===//

#include "dialects/Graph/GraphDialect.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace plim::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/DataMovementOps.cpp.inc"

static std::string listOf(ArrayRef<int64_t> values) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(values, os);
  os << ']';
  return text;
}

/// Checks that a list has one entry a dimension.
static LogicalResult checkLength(std::optional<Location> loc, StringRef op, StringRef what, ArrayRef<int64_t> list,
                                 size_t rank) {
  if (list.size() == rank)
    return success();
  return shapeError(loc, op,
                    "needs " + Twine(rank) + " " + what + ", one a dimension, has " + Twine(list.size()) + ": " +
                        listOf(list));
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  Dims dims = dimsOf(adaptor.getInput().getType()), result;
  if (failed(checkPermutation(loc, "graph.transpose", adaptor.getPermutation(), dims.size())))
    return failure();
  for (int64_t axis : adaptor.getPermutation())
    result.push_back(dims[axis]);
  types.push_back(tensorOf(result, elementTypeOf(adaptor.getInput())));
  return success();
}

LogicalResult ReshapeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  Dims dims = dimsOf(adaptor.getInput().getType()), result;
  Dim elements = elementsOf(dims);
  int64_t known = 1, open = -1;
  bool tooMany = false; // more elements than an integer counts; none at all where a size is 0
  for (auto [i, size] : llvm::enumerate(adaptor.getShape())) {
    if (size == -1 && open == -1) {
      open = i;
      result.push_back({});
    } else if (size >= 0) {
      tooMany |= llvm::MulOverflow(known, size, known) != 0;
      result.push_back(size);
    } else {
      return shapeError(loc, "graph.reshape",
                        "needs sizes of at least 0 and at most one -1, has " + listOf(adaptor.getShape()));
    }
  }
  if (llvm::is_contained(adaptor.getShape(), 0))
    known = 0, tooMany = false;
  bool fits = !tooMany && (open == -1 ? canBeEqual(elements, known) : known != 0);
  if (open != -1 && fits) {
    // The open dimension is an integer: round the lower bound up and the upper bound down.
    Dim &dim = result[open];
    dim.lo = elements.lo / known + (elements.lo % known != 0);
    dim.hi = elements.isBounded() ? elements.hi / known : Dim::kUnbounded;
    fits = dim.lo <= dim.hi;
  }
  if (!fits)
    return shapeError(loc, "graph.reshape",
                      "needs a shape of as many elements as its operand " + Twine(toString(dims)) + ", has " +
                          listOf(adaptor.getShape()));
  types.push_back(tensorOf(result, elementTypeOf(adaptor.getInput())));
  return success();
}

SmallVector<plim::graph::Alias> ReshapeOp::getAliases() { return {{0, 0, AliasKind::View}}; }

LogicalResult BroadcastOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  Dims dims = dimsOf(adaptor.getInput().getType()), result;
  ArrayRef<int64_t> shape = adaptor.getShape();
  bool fits = shape.size() >= dims.size();
  for (auto [i, size] : llvm::enumerate(shape)) {
    int64_t from = static_cast<int64_t>(i + dims.size()) - static_cast<int64_t>(shape.size());
    Dim old = from >= 0 && from < static_cast<int64_t>(dims.size()) ? dims[from] : Dim(1);
    fits &= size >= -1 && (size == -1 || old == Dim(1) || canBeEqual(old, size) || !old.isStatic());
    result.push_back(size == -1 ? old : Dim(size));
  }
  if (!fits)
    return shapeError(loc, "graph.broadcast",
                      "needs a shape that its operand " + Twine(toString(dims)) + " broadcasts to, has " +
                          listOf(shape));
  types.push_back(tensorOf(result, elementTypeOf(adaptor.getInput())));
  return success();
}

SmallVector<int64_t> SliceOp::getFullSteps() {
  if (!getSteps().empty())
    return SmallVector<int64_t>(getSteps());
  return SmallVector<int64_t>(getStarts().size(), 1);
}

LogicalResult SliceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  StringRef name = "graph.slice";
  Dims dims = dimsOf(adaptor.getInput().getType()), result;
  SmallVector<int64_t> steps(adaptor.getSteps());
  if (steps.empty())
    steps.assign(dims.size(), 1);
  if (failed(checkLength(loc, name, "starts", adaptor.getStarts(), dims.size())) ||
      failed(checkLength(loc, name, "sizes", adaptor.getSizes(), dims.size())) ||
      failed(checkLength(loc, name, "steps", steps, dims.size())))
    return failure();
  for (auto [i, dim, start, size, step] : llvm::enumerate(dims, adaptor.getStarts(), adaptor.getSizes(), steps)) {
    if (size == -1 && step == 1 && start >= 0 && start <= dim.hi) {
      result.push_back(subtract(dim, start));
      continue;
    }
    int64_t last = start + (size - 1) * step;
    if (size < 0 || step == 0 || (size > 0 && (std::min(start, last) < 0 || std::max(start, last) >= dim.hi)))
      return shapeError(loc, name,
                        "needs a slice inside dimension " + Twine(i) + " of " + toString(dims) + ", has start " +
                            Twine(start) + ", size " + Twine(size) + ", step " + Twine(step));
    result.push_back(size);
  }
  types.push_back(tensorOf(result, elementTypeOf(adaptor.getInput())));
  return success();
}

SmallVector<plim::graph::Alias> SliceOp::getAliases() { return {{0, 0, AliasKind::Part}}; }

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  StringRef name = "graph.concat";
  if (adaptor.getInputs().empty())
    return shapeError(loc, name, "needs at least one operand, has none");
  Dims result = dimsOf(adaptor.getInputs().front().getType());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(loc, name, axis, result.size())))
    return failure();
  for (Value input : adaptor.getInputs().drop_front()) {
    Dims dims = dimsOf(input.getType());
    bool fits = dims.size() == result.size();
    for (size_t i = 0; fits && i < dims.size(); ++i) {
      if (static_cast<int64_t>(i) == axis) {
        result[i] = result[i] + dims[i];
      } else if (canBeEqual(result[i], dims[i])) {
        result[i] = meet(result[i], dims[i]);
      } else {
        fits = false;
      }
    }
    if (!fits)
      return shapeError(loc, name,
                        "needs operands that differ in dimension " + Twine(axis) + " only, has " +
                            toString(dimsOf(adaptor.getInputs().front().getType())) + " and " + toString(dims));
  }
  types.push_back(tensorOf(result, elementTypeOf(adaptor.getInputs().front())));
  return success();
}

SmallVector<plim::graph::Alias> ConcatOp::getAliases() {
  SmallVector<plim::graph::Alias> aliases;
  for (unsigned i = 0; i < getInputs().size(); ++i)
    aliases.push_back({0, i, AliasKind::Into});
  return aliases;
}

LayoutBehaviour ConcatOp::getLayoutBehaviour() { return LayoutBehaviour::Transparent; }

LogicalResult ConcatOp::permuteAttributes(ArrayRef<int64_t> permutation) {
  setAxis(llvm::find(permutation, getAxis()) - permutation.begin());
  return success();
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  StringRef name = "graph.pad";
  Dims dims = dimsOf(adaptor.getInput().getType()), result;
  if (failed(checkLength(loc, name, "low pads", adaptor.getLow(), dims.size())) ||
      failed(checkLength(loc, name, "high pads", adaptor.getHigh(), dims.size())))
    return failure();
  bool reflects = adaptor.getMode() == PadMode::Reflect;
  for (auto [i, dim, low, high] : llvm::enumerate(dims, adaptor.getLow(), adaptor.getHigh())) {
    if (low < 0 || high < 0)
      return shapeError(loc, name,
                        "needs pads of at least 0, has " + Twine(low) + " and " + Twine(high) + " in dimension " +
                            Twine(i));
    if (reflects && (low >= dim.hi || high >= dim.hi) && (low || high))
      return shapeError(loc, name,
                        "needs reflected pads below the size of dimension " + Twine(i) + " of " + toString(dims) +
                            ", has " + Twine(low) + " and " + Twine(high));
    result.push_back(dim + Dim(low) + Dim(high));
  }
  types.push_back(tensorOf(result, elementTypeOf(adaptor.getInput())));
  return success();
}

LayoutBehaviour PadOp::getLayoutBehaviour() { return LayoutBehaviour::Transparent; }

LogicalResult PadOp::permuteAttributes(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> low, high;
  for (int64_t axis : permutation) {
    low.push_back(getLow()[axis]);
    high.push_back(getHigh()[axis]);
  }
  setLow(low);
  setHigh(high);
  return success();
}

LogicalResult FillOp::verify() {
  if (cast<RankedTensorType>(getType()).hasStaticShape())
    return success();
  return emitOpError("needs a static shape, has ") << toString(dimsOf(getType()));
}
