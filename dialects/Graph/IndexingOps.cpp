//===- IndexingOps.cpp - Ops that read or write by index tensors --------------------------------------------===//

#include "dialects/Graph/Folding.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include <cmath>

using namespace mlir;
using namespace plim::graph;

#define GET_OP_CLASSES
#include "dialects/Graph/IndexingOps.cpp.inc"

LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  Dims dims = dimsOf(adaptor.getInput().getType()), indices = dimsOf(adaptor.getIndices().getType());
  int64_t axis = adaptor.getAxis();
  if (failed(checkAxis(loc, "graph.gather", axis, dims.size())))
    return failure();
  Dims result(dims.begin(), dims.begin() + axis);
  result.append(indices.begin(), indices.end());
  result.append(dims.begin() + axis + 1, dims.end());
  types.push_back(tensorOf(result, elementTypeOf(adaptor.getInput())));
  return success();
}

OpFoldResult GatherOp::fold(FoldAdaptor adaptor) {
  std::optional<Elements> indices = Elements::read(adaptor.getIndices());
  if (!indices)
    return {};
  // Sizes that are known of a shape that is not.
  if (auto shape = getInput().getDefiningOp<ShapeOfOp>())
    return foldMove(knownSizes(shape), getType(), [&](int64_t i) -> std::pair<unsigned, int64_t> {
      int64_t rank = rankOf(shape.getInput()), axis = indices->ints[i] + (indices->ints[i] < 0 ? rank : 0);
      bool known = axis >= 0 && axis < rank && !shape.getInput().getType().isDynamicDim(axis);
      return {0, known ? axis : -1};
    });
  return foldMoved(*this, adaptor.getOperands());
}

/// The input's sizes as a constant, with a marker in place of dynamic ones.
Attribute plim::graph::knownSizes(ShapeOfOp op) {
  RankedTensorType input = op.getInput().getType();
  auto type = RankedTensorType::get({input.getRank()}, IntegerType::get(op.getContext(), 64));
  return DenseElementsAttr::get(type, input.getShape());
}

LogicalResult GatherElementsOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                 SmallVectorImpl<Type> &types) {
  StringRef name = "graph.gather_elements";
  Dims dims = dimsOf(adaptor.getInput().getType()), indices = dimsOf(adaptor.getIndices().getType());
  if (failed(checkAxis(loc, name, adaptor.getAxis(), dims.size())))
    return failure();
  if (dims.size() != indices.size())
    return shapeError(
        loc, name, "needs indices of the operand's rank " + Twine(dims.size()) + ", has rank " + Twine(indices.size()));
  types.push_back(tensorOf(indices, elementTypeOf(adaptor.getInput())));
  return success();
}

/// The number of coordinates that the last dimension of the indices holds, checked against the rank.
static FailureOr<int64_t> coordinateCount(std::optional<Location> loc, StringRef op, ArrayRef<Dim> dims,
                                          ArrayRef<Dim> indices, int64_t batchDims) {
  int64_t rank = dims.size(), last = indices.empty() || !indices.back().isStatic() ? -1 : indices.back().lo;
  if (last < 1 || batchDims < 0 || batchDims >= static_cast<int64_t>(indices.size()) || last + batchDims > rank)
    return shapeError(loc, op,
                      "needs indices [..., n] with 1 <= n <= " + Twine(rank - batchDims) + " for an operand " +
                          toString(dims) + " and " + Twine(batchDims) + " batch dimensions, has " + toString(indices));
  return last;
}

LogicalResult GatherNdOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                           SmallVectorImpl<Type> &types) {
  Dims dims = dimsOf(adaptor.getInput().getType()), indices = dimsOf(adaptor.getIndices().getType());
  FailureOr<int64_t> count = coordinateCount(loc, "graph.gather_nd", dims, indices, adaptor.getBatchDims());
  if (failed(count))
    return failure();
  Dims result(indices.begin(), indices.end() - 1);
  result.append(dims.begin() + adaptor.getBatchDims() + *count, dims.end());
  types.push_back(tensorOf(result, elementTypeOf(adaptor.getInput())));
  return success();
}

/// A scatter gives its first operand with some elements replaced.
static LogicalResult inferScatter(std::optional<Location> loc, StringRef op, Value input, Value updates,
                                  ArrayRef<Dim> updateDims, SmallVectorImpl<Type> &types) {
  Dims have = dimsOf(updates.getType());
  bool fits =
      elementTypeOf(input) == elementTypeOf(updates) && have.size() == updateDims.size() &&
      llvm::all_of(llvm::zip(have, updateDims), [](auto it) { return canBeEqual(std::get<0>(it), std::get<1>(it)); });
  if (!fits) {
    std::string need, haveType;
    llvm::raw_string_ostream(need) << elementTypeOf(input);
    llvm::raw_string_ostream(haveType) << elementTypeOf(updates);
    return shapeError(loc, op,
                      "needs updates of shape " + Twine(toString(updateDims)) + " and type " + need + ", has " +
                          toString(have) + " and " + haveType);
  }
  types.push_back(tensorOf(dimsOf(input.getType()), elementTypeOf(input)));
  return success();
}

LogicalResult ScatterElementsOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                                  SmallVectorImpl<Type> &types) {
  StringRef name = "graph.scatter_elements";
  if (failed(checkAxis(loc, name, adaptor.getAxis(), rankOf(adaptor.getInput()))))
    return failure();
  return inferScatter(loc, name, adaptor.getInput(), adaptor.getUpdates(), dimsOf(adaptor.getIndices().getType()),
                      types);
}

LogicalResult ScatterNdOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  StringRef name = "graph.scatter_nd";
  Dims dims = dimsOf(adaptor.getInput().getType()), indices = dimsOf(adaptor.getIndices().getType());
  FailureOr<int64_t> count = coordinateCount(loc, name, dims, indices, 0);
  if (failed(count))
    return failure();
  Dims updates(indices.begin(), indices.end() - 1);
  updates.append(dims.begin() + *count, dims.end());
  return inferScatter(loc, name, adaptor.getInput(), adaptor.getUpdates(), updates, types);
}

SmallVector<plim::graph::Alias> ScatterElementsOp::getAliases() { return {{0, 0, AliasKind::InPlace}}; }
SmallVector<plim::graph::Alias> ScatterNdOp::getAliases() { return {{0, 0, AliasKind::InPlace}}; }

/// How many elements a range has whose operands are constants.
static std::optional<int64_t> lengthOfRange(Attribute start, Attribute limit, Attribute step) {
  std::optional<Elements> a = Elements::read(start), b = Elements::read(limit), c = Elements::read(step);
  if (!a || !b || !c || a->size() != 1 || b->size() != 1 || c->size() != 1)
    return std::nullopt;
  constexpr double kMost = double(int64_t(1) << 40); // of a tensor that could be
  double count;
  if (a->isFloat) {
    count = std::ceil((b->floats[0] - a->floats[0]) / c->floats[0]);
  } else {
    __int128 span = static_cast<__int128>(b->ints[0]) - a->ints[0], delta = c->ints[0];
    if (delta == 0)
      return std::nullopt;
    count = static_cast<double>((span + delta + (delta > 0 ? -1 : 1)) / delta);
  }
  if (!(count <= kMost))
    return std::nullopt;
  return count > 0 ? static_cast<int64_t>(count) : 0;
}

/// The elements of a range whose operands are constants, as many as fit a constant.
static std::optional<Elements> evaluateRange(Attribute start, Attribute limit, Attribute step) {
  std::optional<Elements> a = Elements::read(start), b = Elements::read(limit), c = Elements::read(step);
  if (!a || !b || !c || a->size() != 1 || b->size() != 1 || c->size() != 1)
    return std::nullopt;
  Elements range{{}, a->isFloat, {}, {}};
  constexpr int64_t kMost = ConstantOp::kMaxBytes;
  if (a->isFloat) {
    double first = a->floats[0], delta = c->floats[0];
    double count = std::ceil((b->floats[0] - first) / delta);
    if (!(count <= kMost))
      return std::nullopt;
    for (int64_t i = 0; i < count; ++i)
      range.floats.push_back(first + static_cast<double>(i) * delta);
    return range;
  }
  int64_t delta = c->ints[0];
  if (delta == 0)
    return std::nullopt;
  for (int64_t x = a->ints[0]; delta > 0 ? x < b->ints[0] : x > b->ints[0];) {
    range.ints.push_back(x);
    if (range.size() > kMost || __builtin_add_overflow(x, delta, &x))
      return std::nullopt;
  }
  return range;
}

LogicalResult RangeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  for (Value operand : adaptor.getOperands())
    if (elementsOf(dimsOf(operand.getType())) != Dim(1))
      return shapeError(loc, "graph.range",
                        "needs scalar operands, has one of shape " + Twine(toString(dimsOf(operand.getType()))));
  Attribute start, limit, step;
  Dim size;
  if (matchPattern(adaptor.getStart(), m_Constant(&start)) && matchPattern(adaptor.getLimit(), m_Constant(&limit)) &&
      matchPattern(adaptor.getStep(), m_Constant(&step)))
    if (std::optional<int64_t> length = lengthOfRange(start, limit, step))
      size = Dim(*length);
  types.push_back(tensorOf(size, elementTypeOf(adaptor.getStart())));
  return success();
}

OpFoldResult RangeOp::fold(FoldAdaptor adaptor) {
  std::optional<Elements> range = evaluateRange(adaptor.getStart(), adaptor.getLimit(), adaptor.getStep());
  if (!range)
    return {};
  range->type = foldableType(RankedTensorType::get({range->size()}, elementTypeOf(getType())));
  if (!range->type || !foldableType(getType()) || range->type != foldableType(getType()))
    return {};
  return range->write();
}

LogicalResult OneHotOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  StringRef name = "graph.one_hot";
  Dims dims = dimsOf(adaptor.getIndices().getType()), values = dimsOf(adaptor.getValues().getType());
  if (failed(checkAxis(loc, name, adaptor.getAxis(), dims.size() + 1)))
    return failure();
  if (adaptor.getDepth() < 1)
    return shapeError(loc, name, "needs a depth of at least 1, has " + Twine(adaptor.getDepth()));
  if (values.size() != 1 || !canBeEqual(values[0], 2))
    return shapeError(loc, name, "needs values [off, on] of shape [2], has " + Twine(toString(values)));
  dims.insert(dims.begin() + adaptor.getAxis(), Dim(adaptor.getDepth()));
  types.push_back(tensorOf(dims, elementTypeOf(adaptor.getValues())));
  return success();
}

LogicalResult ShapeOfOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(tensorOf(Dim(rankOf(adaptor.getInput())), IntegerType::get(context, 64)));
  return success();
}

OpFoldResult ShapeOfOp::fold(FoldAdaptor) {
  RankedTensorType input = getInput().getType();
  if (!input.hasStaticShape())
    return {};
  auto type = RankedTensorType::get({input.getRank()}, IntegerType::get(getContext(), 64));
  return DenseElementsAttr::get(type, input.getShape());
}
