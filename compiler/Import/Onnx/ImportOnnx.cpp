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
    : model(model), path(path.str()), options(options), context(context), builder(context), externalFolder(path.str()),
      boundUsed(options.bounds.size()) {
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

void ModelImporter::reportUnusedBounds() {
  for (size_t i = 0; i < options.bounds.size(); ++i)
    if (!boundUsed.test(i)) {
      status = ImportStatus::Usage;
      error(fileLocation()) << "--bound '" << options.bounds[i].text
                            << "' names no open dimension of an input, and none of an output of a node, and no loop";
    }
}

OwningOpRef<ModuleOp> ModelImporter::run(ImportStatus &result) {
  // Wherever this returns, what was found out on the way is the answer.
  auto report = llvm::make_scope_exit([&] { result = status; });
  if (failed(readOperatorSets(model.operatorSets, "the model", operatorSets)))
    return nullptr;
  const wire::Graph &graph = *model.graph;
  {
    Scope scope;
    scope.operatorSets = &operatorSets;
    SmallVector<const wire::Function *> stack;
    llvm::DenseMap<const wire::Function *, uint64_t> counts;
    if (failed(countNodes(graph.nodes, stack, counts)) || failed(declareInitializers(graph, scope)) ||
        failed(checkSupported(graph.nodes, scope)))
      return nullptr;
  }
  if (failed(listInputs()) || failed(pairStates()))
    return nullptr;
  if (graph.outputs.empty()) {
    error(fileLocation()) << "the graph has no outputs: need at least 1, have 0";
    return nullptr;
  }
  OwningOpRef<ModuleOp> module = ModuleOp::create(fileLocation());
  if (options.entries.empty() && failed(importEntry("main", {}, *module)))
    return nullptr;
  for (const EntryFlag &entry : options.entries) {
    if (module->lookupSymbol<func::FuncOp>(entry.name)) {
      status = ImportStatus::Usage;
      error(fileLocation()) << "--entry '" << entry.text << "': the name is given twice";
      return nullptr;
    }
    if (failed(importEntry(entry.name, entry.bounds, *module)))
      return nullptr;
  }
  reportUnusedBounds();
  if (boundUsed.count() != options.bounds.size())
    return nullptr;
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

LogicalResult ModelImporter::importEntry(StringRef name, ArrayRef<BoundFlag> bounds, ModuleOp module) {
  const wire::Graph &graph = *model.graph;
  Scope scope;
  scope.operatorSets = &operatorSets;
  if (failed(declareInitializers(graph, scope)) || failed(readInputs(name, bounds)) ||
      failed(declareVariables(name, module)))
    return failure();
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  for (const Input &input : inputs)
    if (input.state < 0) {
      types.push_back(input.type);
      attributes.push_back(input.attributes);
    }
  builder.setInsertionPointToEnd(module.getBody());
  auto function = func::FuncOp::create(builder, fileLocation(), name, builder.getFunctionType(types, {}));
  function.setAllArgAttrs(attributes);
  Block *block = function.addEntryBlock();
  scope.block = block;
  builder.setInsertionPointToEnd(block);
  unsigned argument = 0;
  for (const Input &input : inputs) {
    const StringRef inputName = toRef(input.info->name);
    scope.values[inputName] = input.state < 0
                                  ? Value(block->getArgument(argument++))
                                  : graph::ReadOp::create(builder, NameLoc::get(StringAttr::get(context, inputName)),
                                                          input.type, variables.lookup(inputName).getSymName());
  }
  if (failed(importNodes(graph.nodes, scope)))
    return failure();

  SmallVector<Value> outputs, results;
  for (const wire::ValueInfo &output : graph.outputs) {
    FailureOr<Value> value = lookup(toRef(output.name), scope, fileLocation());
    if (failed(value))
      return failure();
    outputs.push_back(*value);
  }
  if (failed(checkOutputs(graph, outputs)) || failed(checkAssignable(outputs)))
    return failure();
  llvm::BitVector isState(outputs.size());
  for (const Input &input : inputs)
    if (input.state >= 0) {
      const StringRef output = toRef(graph.outputs[input.state].name);
      graph::AssignOp::create(builder, NameLoc::get(StringAttr::get(context, output)),
                              variables.lookup(toRef(input.info->name)).getSymName(), outputs[input.state]);
      isState.set(input.state);
    }
  SmallVector<StringRef> names;
  for (auto [i, output] : llvm::enumerate(graph.outputs))
    if (!isState.test(i)) {
      results.push_back(outputs[i]);
      names.push_back(toRef(output.name));
    }
  func::ReturnOp::create(builder, fileLocation(), results);
  function.setFunctionType(builder.getFunctionType(types, ValueRange(results).getTypes()));
  for (auto [i, output] : llvm::enumerate(names))
    function.setResultAttr(i, "graph.name", builder.getStringAttr(output));
  eraseDeadOps(*block);
  return success();
}

/// What a model says of its outputs may be missing or stale (shapes often are); what it says of their elements may not.
LogicalResult ModelImporter::checkOutputs(const wire::Graph &graph, ArrayRef<Value> values) {
  for (auto [output, value] : llvm::zip_equal(graph.outputs, values)) {
    if (NodeImporter::isSequence(value))
      return error(fileLocation()) << "output '" << toRef(output.name)
                                   << "' is a sequence: need a tensor, as ConcatFromSequence gives";
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
