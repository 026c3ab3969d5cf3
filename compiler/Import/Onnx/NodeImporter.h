// What an operator's import function sees of its node: inputs, attributes, the version of its operator set, and the
// means to build graph ops, folding them at once so that shape arithmetic disappears.
//
// The first error of a node is emitted with the node's name; from then on every builder returns a null value, so an
// import function may chain calls and return `node.finish(value)`.
#pragma once
#include "compiler/Import/Onnx/OperatorTable.h"
#include "compiler/Import/Onnx/Wire/Model.h"
#include "dialects/Graph/GraphDialect.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace plim::onnx {

class ModelImporter;

using Ints = llvm::SmallVector<int64_t>;

/// A size, or all of a shape, as attributes of reshapes and slices have them: -1 where one is open.
inline int64_t openAsMinusOne(int64_t size) { return mlir::ShapedType::isDynamic(size) ? -1 : size; }
Ints openAsMinusOne(llvm::ArrayRef<int64_t> shape);

/// Whether a tensor of these dimensions has few enough elements (2^50) that no product of sizes overflows.
bool isPlausible(llvm::ArrayRef<graph::Dim> dims);

class NodeImporter {
public:
  NodeImporter(ModelImporter &model, mlir::OpBuilder &builder, mlir::Location loc, const wire::Node &node,
               llvm::StringRef label, int64_t version, const llvm::StringMap<const wire::Attribute *> *callAttributes)
      : b(builder), loc(loc), version(version), model(model), node(node), label(label), callAttributes(callAttributes) {
  }

  mlir::OpBuilder &b;
  const mlir::Location loc;
  const int64_t version; ///< of the operator set of the node's domain

  //===--- Inputs ---------------------------------------------------------===//

  unsigned numInputs() const { return inputs.size(); }
  /// Null where the input is left out. Never null below the row's `leastInputs`.
  mlir::Value input(unsigned i) const { return i < inputs.size() ? inputs[i] : mlir::Value(); }
  mlir::Value operator[](unsigned i) const { return input(i); }
  mlir::RankedTensorType type(unsigned i) const { return typeOf(inputs[i]); }
  static mlir::RankedTensorType typeOf(mlir::Value v) { return llvm::cast<mlir::RankedTensorType>(v.getType()); }
  llvm::StringRef opType() const { return {node.opType.data(), node.opType.size()}; }
  unsigned numOutputs() const { return node.outputs.size(); }
  llvm::StringRef outputName(unsigned i) const;
  bool wantsOutput(unsigned i) const { return i < node.outputs.size() && !node.outputs[i].empty(); }

  /// The elements of a value known at compile time; nothing if it is not.
  static std::optional<Ints> constantInts(mlir::Value value);
  static std::optional<llvm::SmallVector<double>> constantReals(mlir::Value value);
  /// The same for an input that must be known; emits an error and gives nothing if it is not.
  std::optional<Ints> needInts(unsigned i, llvm::StringRef name);
  std::optional<llvm::SmallVector<double>> needReals(unsigned i, llvm::StringRef name);
  std::optional<int64_t> needInt(unsigned i, llvm::StringRef name);
  /// A list that may be left out: attribute `name` before operator set `inputSince`, from then on input 1, which must
  /// be known. Fails where an attribute or input of the node was refused.
  mlir::LogicalResult optionalInts(llvm::StringRef name, int64_t inputSince, std::optional<Ints> &list);
  /// The entries of a shape-like value, some of them unknown (as those of the shape of a tensor with open dimensions).
  static std::optional<llvm::SmallVector<std::optional<int64_t>>> partialInts(mlir::Value value);

  //===--- Attributes -----------------------------------------------------===//

  bool has(llvm::StringRef name) { return attribute(name) != nullptr; }
  int64_t integer(llvm::StringRef name, int64_t otherwise);
  double real(llvm::StringRef name, double otherwise);
  llvm::StringRef string(llvm::StringRef name, llvm::StringRef otherwise);
  std::optional<Ints> integers(llvm::StringRef name);
  std::optional<llvm::SmallVector<double>> reals(llvm::StringRef name);
  std::optional<llvm::SmallVector<llvm::StringRef>> strings(llvm::StringRef name);
  const wire::Tensor *tensor(llvm::StringRef name);
  const wire::Graph *graph(llvm::StringRef name);
  /// Marks attributes that do not change the result as seen.
  void ignore(std::initializer_list<llvm::StringRef> names);
  /// Attributes that were never asked for.
  llvm::SmallVector<llvm::StringRef> unknownAttributes() const;

  //===--- Building -------------------------------------------------------===//

  /// Builds an op with one result, inferring its type, and folds it. Null after an error.
  template <typename Op, typename... Args> mlir::Value make(Args &&...args) {
    return makeMany<Op>(1, std::forward<Args>(args)...).front();
  }
  /// The same for an op of `count` results.
  template <typename Op, typename... Args> llvm::SmallVector<mlir::Value> makeMany(unsigned count, Args &&...args) {
    llvm::SmallVector<mlir::Value> results = settle([&]() -> mlir::Operation * {
      auto op = graph::tryCreate<Op>(b, loc, std::forward<Args>(args)...);
      return mlir::failed(op) ? nullptr : op->getOperation();
    });
    results.resize(count);
    return results;
  }
  /// Builds an op whose result type is not inferred.
  template <typename Op, typename... Args> mlir::Value makeTyped(mlir::Type type, Args &&...args) {
    return settle([&]() -> mlir::Operation * { return Op::create(b, loc, type, std::forward<Args>(args)...); }).front();
  }

  mlir::Value constant(llvm::ArrayRef<int64_t> values); ///< i64[n]
  mlir::Value scalar(int64_t value);                    ///< i64
  mlir::Value scalar(double value, mlir::Type element);
  mlir::Value fill(llvm::ArrayRef<int64_t> shape, double value, mlir::Type element);
  mlir::Value cast(mlir::Value value, mlir::Type element); ///< the value itself if it has that type
  /// first, first + 1, ... as i64[size] (`trailing` 0) or i64[size, 1] (`trailing` 1).
  mlir::Value indexGrid(int64_t size, unsigned trailing, int64_t first);
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> permutation);
  /// A constant or a parameter with the elements of an ONNX tensor.
  mlir::Value weight(const wire::Tensor &tensor, llvm::StringRef name);
  mlir::Type elementType(int64_t dataType); ///< null with an error for types that are not supported

  //===--- Sequences: lists of tensors, while the import runs -------------===//

  /// A value of tuple type, which no op but those of its own reads.
  static bool isSequence(mlir::Value value) { return value && llvm::isa<mlir::TupleType>(value.getType()); }
  mlir::Value sequence(llvm::ArrayRef<mlir::Value> elements);
  static mlir::ValueRange elementsOf(mlir::Value sequence);

  //===--- Sizes that may be values of the run (NodeSizes.cpp) ---------------===//

  /// What the user says of a dimension of the first output.
  graph::Dim boundOfResult(int64_t dim) const;
  /// What is known of a size, which is one integer.
  static graph::Dim rangeOf(mlir::Value size);
  static std::optional<int64_t> knownSize(mlir::Value size);
  mlir::Value entry(mlir::Value list, int64_t i); ///< of a list of integers, as i64[1]
  mlir::Value dim(mlir::Value tensor, int64_t axis);
  mlir::Value product(llvm::ArrayRef<mlir::Value> sizes);
  /// Within [least, most]; `most` may be null.
  mlir::Value clamp(mlir::Value size, mlir::Value least, mlir::Value most);
  mlir::Value joined(llvm::ArrayRef<mlir::Value> sizes); ///< as one i64[n]
  /// The type of a tensor of these sizes, with the bounds that are known.
  static mlir::RankedTensorType typeOfSizes(mlir::Value sizes, mlir::Type element);
  mlir::Value reshapeTo(mlir::Value value, llvm::ArrayRef<mlir::Value> sizes);
  /// `most`, if given, has a bound of each size.
  mlir::Value broadcastTo(mlir::Value value, llvm::ArrayRef<mlir::Value> sizes, llvm::ArrayRef<int64_t> most = {});
  mlir::Value sliceTo(mlir::Value value, llvm::ArrayRef<mlir::Value> starts, llvm::ArrayRef<mlir::Value> sizes,
                      llvm::ArrayRef<int64_t> steps);
  /// The first `count` along an axis.
  mlir::Value firstOf(mlir::Value value, int64_t axis, mlir::Value count);
  /// start, start + step, ...: `count` of them.
  mlir::Value rangeOfSize(mlir::Value start, mlir::Value step, mlir::Value count);

  //===--- Results --------------------------------------------------------===//

  llvm::LogicalResult finish(mlir::Value result) { return finish(llvm::ArrayRef<mlir::Value>(result)); }
  llvm::LogicalResult finish(llvm::ArrayRef<mlir::Value> values);
  /// Emits `message` with the node's name, unless the node has failed already. Always failure.
  llvm::LogicalResult error(const llvm::Twine &message);
  bool hasFailed() const { return failed; }

  /// `axis` counted from 0, for a tensor of `rank` dimensions; nothing, with an error, if it is outside.
  std::optional<int64_t> axisOf(int64_t axis, int64_t rank);
  /// Several axes: ascending and without repeats.
  std::optional<Ints> axesOf(llvm::ArrayRef<int64_t> axes, int64_t rank);
  /// All dimensions of the value, which must be static for `why`.
  bool needStatic(mlir::Value value, llvm::StringRef why);

  /// Imports a graph in the scope of this node, in place; the values of its outputs are the results.
  llvm::LogicalResult inlineGraph(const wire::Graph &graph);
  /// Imports a graph of inputs `arguments` at the end of a block, of a region that this node will have; gives the
  /// values of its outputs.
  llvm::LogicalResult importRegion(const wire::Graph &graph, mlir::Block *block, llvm::ArrayRef<mlir::Value> arguments,
                                   llvm::SmallVectorImpl<mlir::Value> &yields);
  /// The most trips that --bound gives the loop of this node, and how to write such a flag.
  std::optional<int64_t> tripBound();
  std::string tripBoundFlag() const { return ("--bound '" + label + "=0..MOST'").str(); }

  llvm::SmallVector<mlir::Value> inputs, results;

private:
  /// Runs `create`, verifies and folds what it made. Diagnostics of the dialect become errors of this node. A null
  /// value after an error.
  llvm::SmallVector<mlir::Value> settle(llvm::function_ref<mlir::Operation *()> create);
  const wire::Attribute *attribute(llvm::StringRef name);
  const wire::Attribute *attribute(llvm::StringRef name, wire::AttributeType type, llvm::StringRef typeName);

  ModelImporter &model;
  const wire::Node &node;
  llvm::StringRef label;
  const llvm::StringMap<const wire::Attribute *> *callAttributes;
  llvm::StringSet<> seen;
  bool failed = false;
};

} // namespace plim::onnx
