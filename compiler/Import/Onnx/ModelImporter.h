// Drives one import: versions, inputs, states, graphs in topological order, inlined functions, weights. Each entry is
// the whole graph anew, with the bounds that it gives dimensions; weights and states are the same ones in all of them.
#pragma once
#include "compiler/Import/Onnx/ImportOnnx.h"
#include "compiler/Import/Onnx/NodeImporter.h"
#include "compiler/Import/Onnx/Wire/Model.h"
#include "compiler/Import/Onnx/Wire/TensorData.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

namespace plim::onnx {

/// 'a', 'b', or "none".
std::string quotedNames(llvm::ArrayRef<llvm::StringRef> names);

class ModelImporter {
public:
  ModelImporter(const wire::Model &model, llvm::StringRef path, const ImportOptions &options,
                mlir::MLIRContext *context);
  mlir::OwningOpRef<mlir::ModuleOp> run(ImportStatus &status);

  // For NodeImporter:
  mlir::InFlightDiagnostic error(mlir::Location loc) { return mlir::emitError(loc); }
  mlir::Type elementType(wire::DataType type);
  mlir::Value weight(const wire::Tensor &tensor, llvm::StringRef name, mlir::Location loc, std::string &error);
  /// Imports a graph in the scope of the node at hand, where the builder is; its inputs are `arguments`.
  llvm::LogicalResult inlineGraph(const wire::Graph &graph, llvm::StringRef label,
                                  llvm::ArrayRef<mlir::Value> arguments, llvm::SmallVectorImpl<mlir::Value> &results);
  /// The most trips that a bound gives the loop of a node.
  std::optional<int64_t> tripBound(llvm::StringRef label);
  /// What the user says of a dimension of an output of a node; everything where nothing is said.
  graph::Dim boundOf(llvm::StringRef output, int64_t dim);

private:
  using OperatorSets = llvm::StringMap<int64_t>;
  using Attributes = llvm::StringMap<const wire::Attribute *>;

  /// Names that nodes of one graph can see. A graph in an attribute also sees those of the graphs around it, a function
  /// body does not.
  struct Scope {
    Scope *outer = nullptr;
    const OperatorSets *operatorSets = nullptr;
    const Attributes *callAttributes = nullptr;
    std::string prefix;           ///< of labels: "call/" inside the body of a function called by node "call"
    mlir::Block *block = nullptr; ///< Where its nodes go, and weights that a region inside is the first to read.
    llvm::StringMap<mlir::Value> values;
    llvm::StringMap<const wire::Tensor *> initializers;

    bool knows(llvm::StringRef name) const;
  };
  struct Missing {
    std::string reason;
    llvm::SmallVector<std::string> nodes;
  };

  mlir::Location fileLocation() const;

  // Versions and what is supported (Support.cpp).
  llvm::LogicalResult readOperatorSets(const std::vector<wire::OperatorSet> &list, llvm::StringRef where,
                                       OperatorSets &sets);
  llvm::LogicalResult checkSupported(const std::vector<wire::Node> &nodes, const Scope &scope);
  void collectUnsupported(const std::vector<wire::Node> &nodes, const OperatorSets &sets, llvm::StringRef prefix,
                          llvm::StringMap<Missing> &missing, llvm::StringSet<> &visited);
  const wire::Function *findFunction(const wire::Node &node) const;
  /// Nodes after inlining; fails where functions call each other without end, too deep, or blow up.
  llvm::FailureOr<uint64_t> countNodes(const std::vector<wire::Node> &nodes,
                                       llvm::SmallVectorImpl<const wire::Function *> &stack,
                                       llvm::DenseMap<const wire::Function *, uint64_t> &counts);

  /// An input and its type in one entry. With an output (its index in the graph's) it is a state.
  struct Input {
    const wire::ValueInfo *info = nullptr;
    mlir::Type type;
    mlir::DictionaryAttr attributes;
    int state = -1;
  };
  llvm::LogicalResult importEntry(llvm::StringRef name, llvm::ArrayRef<BoundFlag> bounds, mlir::ModuleOp module);

  // Inputs (Inputs.cpp).
  /// Those that are no weights; fails where two have one name.
  llvm::LogicalResult listInputs();
  std::string inputNames() const; ///< for messages
  /// Their types within the bounds of an entry.
  llvm::LogicalResult readInputs(llvm::StringRef entry, llvm::ArrayRef<BoundFlag> bounds);

  // States (States.cpp).
  /// Gives each input that a --state flag means its output.
  llvm::LogicalResult pairStates();
  /// A graph.variable for each state, or those of the entries before, which must be of the same types.
  llvm::LogicalResult declareVariables(llvm::StringRef entry, mlir::ModuleOp module);
  /// Whether each output can be assigned to its variable.
  llvm::LogicalResult checkAssignable(llvm::ArrayRef<mlir::Value> outputs);

  // Graphs (GraphImport.cpp).
  llvm::LogicalResult importNodes(const std::vector<wire::Node> &nodes, Scope &scope);
  llvm::LogicalResult importNode(const wire::Node &node, llvm::StringRef label, Scope &scope);
  llvm::LogicalResult importCall(const wire::Node &node, const wire::Function &function, llvm::StringRef label,
                                 mlir::ArrayRef<mlir::Value> arguments, Scope &scope,
                                 llvm::SmallVectorImpl<mlir::Value> &results);
  /// An error for each --bound that names nothing.
  void reportUnusedBounds();
  /// Gives an output of a node the bounds that the user has for its dimensions, "name.0" and so on.
  void boundOutput(llvm::StringRef name, mlir::Value value);
  llvm::LogicalResult declareInitializers(const wire::Graph &graph, Scope &scope);
  /// The value of a name, made on first use if it is a weight. Null for an argument that a call leaves out; failure,
  /// with an error, for unknown names.
  llvm::FailureOr<mlir::Value> lookup(llvm::StringRef name, Scope &scope, mlir::Location loc);

  // Order of nodes (NodeOrder.cpp): indices into `nodes`, each after those it depends on.
  llvm::FailureOr<llvm::SmallVector<unsigned>> orderNodes(const std::vector<wire::Node> &nodes, const Scope &scope);

  llvm::LogicalResult checkOutputs(const wire::Graph &graph, llvm::ArrayRef<mlir::Value> values);

  const wire::Model &model;
  const std::string path;
  const ImportOptions &options;
  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  wire::ExternalFolder externalFolder;
  llvm::BitVector boundUsed; ///< by number of options.bounds: it names something
  ImportStatus status = ImportStatus::Model;

  OperatorSets operatorSets;
  std::vector<Input> inputs;
  llvm::StringMap<graph::VariableOp> variables; ///< by input
  llvm::StringMap<const wire::Function *> functions;
  Scope *current = nullptr; ///< of the node being imported, for graphs in its attributes
  llvm::StringSet<> weightNames;
  /// How the parameter of a tensor was made: another entry, or another call of a function, reads the same weight.
  struct Weight {
    std::string name, file;
    uint64_t offset = 0, bytes = 0;
  };
  llvm::DenseMap<const wire::Tensor *, Weight> weights;
  std::unique_ptr<llvm::raw_fd_ostream> decodedWeights;
};

/// "domain::name" or "name", with "ai.onnx" left out.
std::string qualifiedName(llvm::StringRef domain, llvm::StringRef name);
inline llvm::StringRef toRef(std::string_view text) { return {text.data(), text.size()}; }
/// A node's name, or its operator and index where it has none.
std::string labelOf(const wire::Node &node, size_t index, llvm::StringRef prefix);

} // namespace plim::onnx
