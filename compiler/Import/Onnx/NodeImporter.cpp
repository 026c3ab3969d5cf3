#include "compiler/Import/Onnx/NodeImporter.h"
#include "compiler/Import/Onnx/ModelImporter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

Ints plim::onnx::openAsMinusOne(ArrayRef<int64_t> shape) {
  return llvm::map_to_vector(shape, [](int64_t size) { return openAsMinusOne(size); });
}

bool plim::onnx::isPlausible(ArrayRef<graph::Dim> dims) {
  constexpr int64_t mostElements = int64_t(1) << 50;
  int64_t product = 1;
  for (const graph::Dim &dim : dims) {
    if (dim.lo > mostElements)
      return false;
    const int64_t size = dim.isBounded() ? std::max<int64_t>(dim.hi, 1) : 1;
    if (__builtin_mul_overflow(product, size, &product) || product > mostElements)
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

LogicalResult NodeImporter::error(const Twine &message) {
  if (!failed)
    model.error(loc) << opType() << " node '" << label << "': " << message;
  failed = true;
  return failure();
}

/// Sizes whose products stay far from overflow, wherever they are multiplied by bytes or by each other's strides.
static bool tooLarge(Operation *op) {
  for (Type type : op->getResultTypes())
    if (!isPlausible(graph::dimsOf(type))) {
      emitError(op->getLoc()) << "the result " << graph::toString(graph::dimsOf(type)) << " is too large";
      return true;
    }
  return false;
}

SmallVector<Value> NodeImporter::settle(llvm::function_ref<Operation *()> create) {
  if (failed)
    return {Value()};
  std::string captured;
  Operation *op = nullptr;
  {
    ScopedDiagnosticHandler handler(b.getContext(), [&](Diagnostic &diagnostic) {
      llvm::raw_string_ostream text(captured);
      if (!captured.empty())
        text << "; ";
      text << diagnostic;
      return success();
    });
    op = create();
    if (op && (mlir::failed(verify(op, /*verifyRecursively=*/false)) || tooLarge(op))) {
      op->erase();
      op = nullptr;
    }
  }
  if (!op) {
    (void)error(captured.empty() ? "the operands do not fit" : captured);
    return {Value()};
  }
  SmallVector<Value> folded;
  if (succeeded(b.tryFold(op, folded)) && !folded.empty()) {
    op->erase();
    return folded;
  }
  return SmallVector<Value>(op->getResults());
}

StringRef NodeImporter::outputName(unsigned i) const {
  return i < node.outputs.size() ? toRef(node.outputs[i]) : StringRef();
}

LogicalResult NodeImporter::finish(ArrayRef<Value> values) {
  if (failed)
    return failure();
  results.assign(values.begin(), values.end());
  for (unsigned i = 0; i < node.outputs.size(); ++i)
    if (wantsOutput(i) && (i >= results.size() || !results[i]))
      return error("output " + Twine(i) + " '" + toRef(node.outputs[i]) + "' is not supported");
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const wire::Attribute *NodeImporter::attribute(StringRef name) {
  for (const wire::Attribute &candidate : node.attributes) {
    if (toRef(candidate.name) != name)
      continue;
    seen.insert(name);
    if (candidate.refName.empty())
      return &candidate;
    // In a function body: the value comes from the call, and is left out where the call leaves it out.
    if (!callAttributes)
      return nullptr;
    return callAttributes->lookup(toRef(candidate.refName));
  }
  return nullptr;
}

const wire::Attribute *NodeImporter::attribute(StringRef name, wire::AttributeType type, StringRef typeName) {
  const wire::Attribute *found = attribute(name);
  if (!found || found->type == type)
    return found;
  // An empty list is written with no element that would tell its type.
  if (found->type == wire::AttributeType::Undefined && found->ints.empty() && found->floats.empty())
    return found;
  (void)error("attribute '" + name + "' must be " + typeName);
  return nullptr;
}

int64_t NodeImporter::integer(StringRef name, int64_t otherwise) {
  const auto *found = attribute(name, wire::AttributeType::Int, "an integer");
  return found ? found->i : otherwise;
}

double NodeImporter::real(StringRef name, double otherwise) {
  const auto *found = attribute(name, wire::AttributeType::Float, "a float");
  return found ? found->f : otherwise;
}

StringRef NodeImporter::string(StringRef name, StringRef otherwise) {
  const auto *found = attribute(name, wire::AttributeType::String, "a string");
  return found ? toRef(found->s) : otherwise;
}

std::optional<Ints> NodeImporter::integers(StringRef name) {
  const auto *found = attribute(name, wire::AttributeType::Ints, "a list of integers");
  if (!found)
    return std::nullopt;
  return Ints(found->ints.begin(), found->ints.end());
}

std::optional<SmallVector<double>> NodeImporter::reals(StringRef name) {
  const auto *found = attribute(name, wire::AttributeType::Floats, "a list of floats");
  if (!found)
    return std::nullopt;
  return SmallVector<double>(found->floats.begin(), found->floats.end());
}

std::optional<SmallVector<StringRef>> NodeImporter::strings(StringRef name) {
  const auto *found = attribute(name, wire::AttributeType::Strings, "a list of strings");
  if (!found)
    return std::nullopt;
  return llvm::map_to_vector(found->strings, toRef);
}

const wire::Tensor *NodeImporter::tensor(StringRef name) {
  const auto *found = attribute(name, wire::AttributeType::Tensor, "a tensor");
  if (found && !found->tensor)
    (void)error("attribute '" + name + "' must be a tensor");
  return found ? found->tensor.get() : nullptr;
}

const wire::Graph *NodeImporter::graph(StringRef name) {
  const auto *found = attribute(name, wire::AttributeType::Graph, "a graph");
  if (found && !found->graph)
    (void)error("attribute '" + name + "' must be a graph");
  return found ? found->graph.get() : nullptr;
}

void NodeImporter::ignore(std::initializer_list<StringRef> names) {
  for (StringRef name : names)
    seen.insert(name);
}

SmallVector<StringRef> NodeImporter::unknownAttributes() const {
  SmallVector<StringRef> names;
  for (const wire::Attribute &candidate : node.attributes)
    if (!seen.contains(toRef(candidate.name)))
      names.push_back(toRef(candidate.name));
  return names;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Value NodeImporter::constant(ArrayRef<int64_t> values) {
  const auto type = RankedTensorType::get({int64_t(values.size())}, b.getI64Type());
  return make<graph::ConstantOp>(cast<ElementsAttr>(DenseElementsAttr::get(type, values)));
}

Value NodeImporter::scalar(int64_t value) { return reshape(constant({value}), {}); }

Value NodeImporter::scalar(double value, Type element) { return fill({}, value, element); }

Value NodeImporter::fill(ArrayRef<int64_t> shape, double value, Type element) {
  return makeTyped<graph::FillOp>(RankedTensorType::get(shape, element), value);
}

Value NodeImporter::cast(Value value, Type element) {
  if (failed || typeOf(value).getElementType() == element)
    return value;
  return make<graph::CastOp>(value, TypeAttr::get(element));
}

Value NodeImporter::indexGrid(int64_t size, unsigned trailing, int64_t first) {
  Value indices = make<graph::RangeOp>(scalar(first), scalar(first + size), scalar(1));
  return trailing ? reshape(indices, {size, 1}) : indices;
}

Value NodeImporter::reshape(Value value, ArrayRef<int64_t> shape) {
  return failed ? Value() : make<graph::ReshapeOp>(value, shape);
}

Value NodeImporter::transpose(Value value, ArrayRef<int64_t> permutation) {
  return failed ? Value() : make<graph::TransposeOp>(value, permutation);
}

Value NodeImporter::weight(const wire::Tensor &tensor, StringRef name) {
  if (failed)
    return {};
  std::string why;
  Value value = model.weight(tensor, name, loc, why);
  if (!value)
    (void)error(why);
  return value;
}

Type NodeImporter::elementType(int64_t dataType) {
  Type type = model.elementType(static_cast<wire::DataType>(dataType));
  if (!type)
    (void)error("elements of type " + wire::typeName(static_cast<wire::DataType>(dataType)) + " are not supported");
  return type;
}

LogicalResult NodeImporter::inlineGraph(const wire::Graph &graph) {
  if (failed || mlir::failed(model.inlineGraph(graph, label, {}, results))) {
    failed = true;
    return failure();
  }
  return finish(SmallVector<Value>(results));
}

LogicalResult NodeImporter::importRegion(const wire::Graph &graph, Block *block, ArrayRef<Value> arguments,
                                         SmallVectorImpl<Value> &yields) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(block);
  failed |= mlir::failed(model.inlineGraph(graph, label, arguments, yields));
  if (!failed && llvm::any_of(yields, isSequence))
    return error("a sequence of tensors is no result of a graph that runs as a whole");
  return failure(failed);
}

Value NodeImporter::sequence(ArrayRef<Value> elements) {
  if (failed)
    return {};
  const Type type = TupleType::get(b.getContext(), ValueRange(elements).getTypes());
  return UnrealizedConversionCastOp::create(b, loc, type, elements).getResult(0);
}

ValueRange NodeImporter::elementsOf(Value sequence) {
  return sequence.getDefiningOp<UnrealizedConversionCastOp>().getInputs();
}

std::optional<int64_t> NodeImporter::tripBound() { return model.tripBound(label); }

//===----------------------------------------------------------------------===//
// Axes and constants
//===----------------------------------------------------------------------===//

std::optional<int64_t> NodeImporter::axisOf(int64_t axis, int64_t rank) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  if (rank == 0)
    (void)error("axis " + Twine(axis) + ": the tensor has no dimensions");
  else
    (void)error("axis " + Twine(axis) + ": need " + Twine(-rank) + " to " + Twine(rank - 1));
  return std::nullopt;
}

std::optional<Ints> NodeImporter::axesOf(ArrayRef<int64_t> axes, int64_t rank) {
  Ints result;
  for (int64_t axis : axes) {
    auto one = axisOf(axis, rank);
    if (!one)
      return std::nullopt;
    result.push_back(*one);
  }
  llvm::sort(result);
  if (std::adjacent_find(result.begin(), result.end()) != result.end()) {
    (void)error("an axis is named twice");
    return std::nullopt;
  }
  return result;
}

bool NodeImporter::needStatic(Value value, StringRef why) {
  if (failed)
    return false;
  if (typeOf(value).hasStaticShape())
    return true;
  (void)error(why + " needs static dimensions, have " + graph::toString(graph::dimsOf(typeOf(value))));
  return false;
}

std::optional<Ints> NodeImporter::constantInts(Value value) {
  DenseElementsAttr elements;
  if (!value || !matchPattern(value, m_Constant(&elements)) || !isa<IntegerType>(elements.getElementType()))
    return std::nullopt;
  const bool isUnsigned = elements.getElementType().isUnsignedInteger() || elements.getElementType().isInteger(1);
  Ints result;
  for (const APInt &element : elements.getValues<APInt>())
    result.push_back(isUnsigned ? int64_t(element.getZExtValue()) : element.getSExtValue());
  return result;
}

std::optional<SmallVector<double>> NodeImporter::constantReals(Value value) {
  if (auto ints = constantInts(value))
    return SmallVector<double>(ints->begin(), ints->end());
  DenseElementsAttr elements;
  if (!value || !matchPattern(value, m_Constant(&elements)))
    return std::nullopt;
  SmallVector<double> result;
  for (APFloat element : elements.getValues<APFloat>()) {
    bool lossy;
    element.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lossy);
    result.push_back(element.convertToDouble());
  }
  return result;
}

std::optional<Ints> NodeImporter::needInts(unsigned i, StringRef name) {
  auto found = constantInts(input(i));
  if (!found && !failed)
    (void)error("input " + Twine(i) + " '" + name + "' must be integers that are known at compile time");
  return found;
}

LogicalResult NodeImporter::optionalInts(StringRef name, int64_t inputSince, std::optional<Ints> &list) {
  if (version < inputSince)
    list = integers(name);
  else if (input(1))
    list = needInts(1, name);
  return failure(failed);
}

std::optional<SmallVector<double>> NodeImporter::needReals(unsigned i, StringRef name) {
  auto found = constantReals(input(i));
  if (!found && !failed)
    (void)error("input " + Twine(i) + " '" + name + "' must be known at compile time");
  return found;
}

std::optional<int64_t> NodeImporter::needInt(unsigned i, StringRef name) {
  auto found = needInts(i, name);
  if (!found)
    return std::nullopt;
  if (found->size() == 1)
    return found->front();
  (void)error("input " + Twine(i) + " '" + name + "' must be one integer, have " + Twine(found->size()));
  return std::nullopt;
}
