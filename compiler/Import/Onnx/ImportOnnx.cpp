#include "compiler/Import/Onnx/ImportOnnx.h"
#include "compiler/Import/Onnx/ModelImporter.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

OwningOpRef<ModuleOp> plim::onnx::importModel(StringRef path, const ImportOptions &options, MLIRContext *context,
                                              ImportStatus &status) {
  context->loadDialect<graph::GraphDialect, func::FuncDialect>();
  const Location where = NameLoc::get(StringAttr::get(context, path));
  std::string error;
  auto file = wire::MappedFile::open(path.str(), error);
  if (!file) {
    status = ImportStatus::Environment;
    emitError(where, error);
    return nullptr;
  }
  status = ImportStatus::Model;
  auto model = wire::readModel(std::move(*file), error);
  if (!model) {
    emitError(where, "not a readable ONNX model: " + error);
    return nullptr;
  }
  return ModelImporter(*model, path, options, context).run(status);
}

ModelImporter::ModelImporter(const wire::Model &model, StringRef path, const ImportOptions &options,
                             MLIRContext *context)
    : model(model), path(path.str()), options(options), context(context), builder(context), externalFolder(path.str()) {
  for (const wire::Function &function : model.functions)
    functions[qualifiedName(toRef(function.domain), toRef(function.name)) + ":" + std::string(function.overload)] =
        &function;
}

Location ModelImporter::fileLocation() const { return NameLoc::get(StringAttr::get(context, path)); }

/// Removes ops that nothing uses: constants that were folded into others, results that no output needs.
static void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

OwningOpRef<ModuleOp> ModelImporter::run(ImportStatus &result) {
  // Wherever this returns, what was found out on the way is the answer.
  auto report = llvm::make_scope_exit([&] { result = status; });
  if (failed(readOperatorSets(model.operatorSets, "the model", operatorSets)))
    return nullptr;
  const wire::Graph &graph = *model.graph;
  Scope scope;
  scope.operatorSets = &operatorSets;
  SmallVector<const wire::ValueInfo *> inputs;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  SmallVector<const wire::Function *> stack;
  llvm::DenseMap<const wire::Function *, uint64_t> counts;
  if (failed(countNodes(graph.nodes, stack, counts)) || failed(declareInitializers(graph, scope)) ||
      failed(checkSupported(graph.nodes, scope)))
    return nullptr;
  if (failed(readInputs(inputs, types, attributes)))
    return nullptr;

  OwningOpRef<ModuleOp> module = ModuleOp::create(fileLocation());
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(builder, fileLocation(), "main", builder.getFunctionType(types, {}));
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  for (auto [i, input] : llvm::enumerate(inputs)) {
    scope.values[toRef(input->name)] = block->getArgument(i);
    function.setArgAttrs(i, attributes[i]);
  }
  if (failed(importNodes(graph.nodes, scope)))
    return nullptr;

  SmallVector<Value> outputs;
  for (const wire::ValueInfo &output : graph.outputs) {
    FailureOr<Value> value = lookup(toRef(output.name), scope, fileLocation());
    if (failed(value))
      return nullptr;
    outputs.push_back(*value);
  }
  if (outputs.empty()) {
    error(fileLocation()) << "the graph has no outputs: need at least 1, have 0";
    return nullptr;
  }
  if (failed(checkOutputs(graph, outputs)))
    return nullptr;
  func::ReturnOp::create(builder, fileLocation(), outputs);
  function.setFunctionType(builder.getFunctionType(types, ValueRange(outputs).getTypes()));
  for (auto [i, output] : llvm::enumerate(graph.outputs))
    function.setResultAttr(i, "graph.name", builder.getStringAttr(toRef(output.name)));
  eraseDeadOps(*block);
  if (decodedWeights) {
    decodedWeights->flush();
    if (decodedWeights->has_error()) {
      error(fileLocation()) << "cannot write '" << options.decodedWeightsFile
                            << "': " << decodedWeights->error().message();
      decodedWeights->clear_error();
      status = ImportStatus::Environment;
      return nullptr;
    }
  }
  if (failed(verify(*module)))
    return nullptr;
  status = ImportStatus::Done;
  return module;
}

/// What a model says of its outputs may be missing or stale (shapes often are); what it says of their elements may not.
LogicalResult ModelImporter::checkOutputs(const wire::Graph &graph, ArrayRef<Value> values) {
  for (auto [output, value] : llvm::zip_equal(graph.outputs, values)) {
    if (output.type.kind != wire::Type::Kind::Tensor)
      continue;
    const auto type = cast<RankedTensorType>(value.getType());
    const Type declared = elementType(output.type.element);
    if (declared && declared != type.getElementType())
      return error(fileLocation()) << "output '" << toRef(output.name) << "': need elements of type " << declared
                                   << " as declared, have " << type.getElementType();
    if (!output.type.shape)
      continue;
    const auto &shape = *output.type.shape;
    bool differs = static_cast<int64_t>(shape.size()) != type.getRank();
    for (size_t i = 0; !differs && i < shape.size(); ++i)
      differs =
          shape[i].value && *shape[i].value >= 0 && !type.isDynamicDim(i) && *shape[i].value != type.getDimSize(i);
    if (differs)
      emitWarning(fileLocation()) << "output '" << toRef(output.name) << "' has the type " << type
                                  << ", which is not the shape that the model declares";
  }
  return success();
}
