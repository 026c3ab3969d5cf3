//===- WeightPieces.cpp - Rows of weights as weights of their own --------------------------------===//
#include "compiler/Transforms/Graph/Split/WeightPieces.h"
#include "compiler/Transforms/Graph/Split/Pieces.h"

using namespace mlir;

namespace plim::graph {
namespace {

using solver::RowRange;

/// Whether indices of the dimension are one stretch of a row-major tensor.
bool isInOneStretch(ArrayRef<int64_t> shape, int64_t axis) {
  return llvm::all_of(shape.take_front(size_t(axis)), [](int64_t size) { return size == 1; });
}

/// The type with another size of one dimension.
RankedTensorType typeOfPiece(Value value, int64_t axis, RowRange range) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[size_t(axis)] = range.rows();
  return type.clone(shape);
}

Value partOfFile(OpBuilder &b, ParameterOp weight, StringRef name, int64_t axis, RowRange range) {
  const int64_t row = int64_t(weight.getBytes()) / staticDims(weight)[size_t(axis)];
  return ParameterOp::create(b, weight.getLoc(), typeOfPiece(weight, axis, range), name, weight.getFile(),
                             int64_t(weight.getOffset()) + range.begin * row, range.rows() * row);
}

Value slice(OpBuilder &b, Value value, int64_t axis, RowRange range) {
  SmallVector<int64_t> sizes(staticDims(value)), starts(sizes.size(), 0);
  starts[size_t(axis)] = range.begin, sizes[size_t(axis)] = range.rows();
  return SliceOp::create(b, value.getLoc(), value, starts, sizes);
}

/// The way to cut an op whose pieces read the same indices of operands, or nothing.
std::optional<solver::SplitWay> wayAlong(Operation *op, int64_t axis) {
  auto pieces = dyn_cast<PiecesOpInterface>(op);
  if (!pieces || op->getNumResults() != 1)
    return std::nullopt;
  SmallVector<solver::SplitWay> ways;
  pieces.getSplitWays("", ways);
  for (const solver::SplitWay &way : ways)
    if (way.axis == axis && !way.carried && llvm::all_of(way.operands, [](const solver::SplitOperand &o) {
          return o.axis < 0 || (o.stride == 1 && o.divisor == 1 && o.before == 0 && o.after == 0);
        }))
      return way;
  return std::nullopt;
}

} // namespace

WeightPieces::WeightPieces(ModuleOp module) : module(module), setup(module.lookupSymbol<func::FuncOp>("setup")) {
  module.walk([&](ParameterOp op) { taken.insert(op.getName()); });
}

std::string WeightPieces::nameOf(ParameterOp weight, RowRange range) {
  std::string &name = names[{weight.getName().str(), range.begin, range.end}];
  if (!name.empty())
    return name;
  name = (weight.getName() + "." + Twine(range.begin) + "-" + Twine(range.end)).str();
  while (!taken.insert(name).second)
    name += "'";
  return name;
}

Value WeightPieces::piece(OpBuilder &b, ParameterOp weight, int64_t axis, RowRange range) {
  const bool isNew = !names.contains({weight.getName().str(), range.begin, range.end});
  std::string name = nameOf(weight, range);
  if (!weight.getFile().empty() && isInOneStretch(staticDims(weight), axis))
    return partOfFile(b, weight, name, axis, range);
  if (isNew) {
    Value whole = valueInSetup(weight);
    OpBuilder inSetup(setup.getBody().front().getTerminator());
    addResult(cutInSetup(inSetup, whole, axis, range), name);
  }
  return ParameterOp::create(b, weight.getLoc(), typeOfPiece(weight, axis, range), name);
}

Value WeightPieces::valueInSetup(ParameterOp weight) {
  if (!setup) {
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    setup = func::FuncOp::create(b, module.getLoc(), "setup", b.getFunctionType({}, {}));
    setup.setPrivate();
    b.setInsertionPointToStart(setup.addEntryBlock());
    func::ReturnOp::create(b, setup.getLoc());
  }
  Operation *end = setup.getBody().front().getTerminator();
  if (weight.getFile().empty()) {
    for (unsigned r = 0; r < setup.getNumResults(); ++r)
      if (auto name = setup.getResultAttrOfType<StringAttr>(r, "graph.name"); name && name == weight.getNameAttr())
        return end->getOperand(r);
  }
  for (auto known : setup.getOps<ParameterOp>())
    if (known.getNameAttr() == weight.getNameAttr())
      return known;
  OpBuilder b = OpBuilder::atBlockBegin(&setup.getBody().front());
  return cast<ParameterOp>(b.clone(*weight));
}

Value WeightPieces::cutInSetup(OpBuilder &b, Value value, int64_t axis, RowRange range) {
  Value &known = cuts[{value.getAsOpaquePointer(), axis, range.begin}];
  if (known)
    return known;
  Operation *op = value.getDefiningOp();
  if (auto weight = dyn_cast<ParameterOp>(op); weight && isInOneStretch(staticDims(weight), axis))
    return known = partOfFile(b, weight, nameOf(weight, range), axis, range);
  if (auto pack = dyn_cast<PackOp>(op); pack && axis == 1)
    return known = PackOp::create(b, pack.getLoc(), cutInSetup(b, pack.getInput(), axis, range), pack.getLayout());
  if (std::optional<solver::SplitWay> way = wayAlong(op, axis)) {
    SmallVector<Value> operands;
    SmallVector<RowRange> reads;
    for (auto [operand, cut] : llvm::zip_equal(op->getOperands(), way->operands)) {
      operands.push_back(cut.axis < 0 ? operand : cutInSetup(b, operand, cut.axis, range));
      reads.push_back(cut.axis < 0 ? RowRange{} : range);
    }
    if (Value piece = cast<PiecesOpInterface>(op).buildPiece(b, {*way, range, reads}, operands))
      return cuts[{value.getAsOpaquePointer(), axis, range.begin}] = piece;
  }
  return known = slice(b, value, axis, range);
}

void WeightPieces::setResults(ArrayRef<Value> values, ArrayRef<Attribute> named) {
  setup.getBody().front().getTerminator()->setOperands(values);
  MLIRContext *context = setup.getContext();
  setup.setType(FunctionType::get(context, {}, ValueRange(values).getTypes()));
  setup.setAllResultAttrs(llvm::map_to_vector(named, [&](Attribute name) {
    return DictionaryAttr::get(context, {NamedAttribute(StringAttr::get(context, "graph.name"), name)});
  }));
}

void WeightPieces::addResult(Value value, StringRef name) {
  SmallVector<Value> values(setup.getBody().front().getTerminator()->getOperands());
  SmallVector<Attribute> named;
  for (unsigned r = 0; r < setup.getNumResults(); ++r)
    named.push_back(setup.getResultAttr(r, "graph.name"));
  values.push_back(value);
  named.push_back(StringAttr::get(setup.getContext(), name));
  setResults(values, named);
}

void WeightPieces::finish() {
  if (!setup)
    return;
  llvm::StringSet<> read;
  for (auto function : module.getOps<func::FuncOp>())
    if (function != setup)
      function.walk([&](ParameterOp op) { read.insert(op.getName()); });
  SmallVector<Value> values;
  SmallVector<Attribute> named;
  for (auto [r, value] : llvm::enumerate(setup.getBody().front().getTerminator()->getOperands()))
    if (auto name = setup.getResultAttrOfType<StringAttr>(unsigned(r), "graph.name"); read.contains(name.getValue())) {
      values.push_back(value);
      named.push_back(name);
    }
  setResults(values, named);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(setup.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

} // namespace plim::graph
