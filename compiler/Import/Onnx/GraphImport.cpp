// Nodes of a graph, of the branch of an If, and of the body of a function: all become ops of one block.
#include "compiler/Import/Onnx/ModelImporter.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

LogicalResult ModelImporter::declareInitializers(const wire::Graph &graph, Scope &scope) {
  if (graph.sparseInitializers)
    return error(fileLocation()) << "sparse initializers are not supported; have " << graph.sparseInitializers;
  for (const wire::Tensor &tensor : graph.initializers)
    if (!scope.initializers.try_emplace(toRef(tensor.name), &tensor).second)
      return error(fileLocation()) << "initializer '" << toRef(tensor.name) << "' is defined twice";
  return success();
}

FailureOr<Value> ModelImporter::lookup(StringRef name, Scope &scope, Location loc) {
  for (Scope *at = &scope; at; at = at->outer) {
    const auto value = at->values.find(name);
    if (value != at->values.end())
      return value->second;
    const auto initializer = at->initializers.find(name);
    if (initializer == at->initializers.end())
      continue;
    std::string why;
    const Location where = NameLoc::get(StringAttr::get(context, name));
    OpBuilder::InsertionGuard guard(builder);
    if (builder.getInsertionBlock() != at->block)
      builder.setInsertionPointToStart(at->block);
    Value made = weight(*initializer->second, at->prefix + name.str(), where, why);
    if (!made)
      return error(where) << why;
    at->values[name] = made;
    return made;
  }
  return error(loc) << "value '" << name << "' is not defined by any node, input or initializer";
}

LogicalResult ModelImporter::importNodes(const std::vector<wire::Node> &nodes, Scope &scope) {
  FailureOr<SmallVector<unsigned>> order = orderNodes(nodes, scope);
  if (failed(order))
    return failure();
  for (unsigned i : *order)
    if (failed(importNode(nodes[i], labelOf(nodes[i], i, scope.prefix), scope)))
      return failure();
  return success();
}

LogicalResult ModelImporter::importNode(const wire::Node &node, StringRef label, Scope &scope) {
  const Location loc = NameLoc::get(StringAttr::get(context, label));
  const auto set = scope.operatorSets->find(ownDomain(toRef(node.domain)));
  NodeImporter importer(*this, builder, loc, node, label, set == scope.operatorSets->end() ? 1 : set->second,
                        scope.callAttributes);
  for (std::string_view input : node.inputs) {
    FailureOr<Value> value = input.empty() ? FailureOr<Value>(Value()) : lookup(toRef(input), scope, loc);
    if (failed(value))
      return failure();
    importer.inputs.push_back(*value);
  }

  if (const wire::Function *function = findFunction(node)) {
    if (failed(importCall(node, *function, label, importer.inputs, scope, importer.results)))
      return failure();
  } else {
    const OperatorRow *row = findOperator(toRef(node.domain), toRef(node.opType));
    const unsigned have = node.inputs.size();
    if (have > row->mostInputs)
      return importer.error("need at most " + Twine(row->mostInputs) + " inputs, have " + Twine(have));
    const unsigned least = std::max(row->leastInputs, row->mostInputs == anyNumber ? have : 0u);
    for (unsigned i = 0; i < least; ++i)
      if (!importer.input(i))
        return importer.error("input " + Twine(i) + " is missing; need " + Twine(row->leastInputs) + ", have " +
                              Twine(have));
    for (auto [i, value] : llvm::enumerate(importer.inputs))
      if (!row->takesSequences && NodeImporter::isSequence(value))
        return importer.error("input " + Twine(i) + " is a sequence, need a tensor");
    Scope *outer = std::exchange(current, &scope);
    const LogicalResult result = row->import(importer);
    current = outer;
    if (failed(result) || importer.hasFailed())
      return failure();
    for (StringRef name : importer.unknownAttributes())
      return importer.error("attribute '" + name + "' is not one of this operator's");
  }
  for (auto [i, output] : llvm::enumerate(node.outputs))
    if (!output.empty()) {
      boundOutput(scope.prefix + std::string(output), importer.results[i]);
      scope.values[toRef(output)] = importer.results[i];
    }
  return success();
}

graph::Dim ModelImporter::boundOf(StringRef output, int64_t dim) {
  graph::Dim result;
  for (auto [i, bound] : llvm::enumerate(options.bounds))
    if (matchesName(bound.pattern, (output + "." + Twine(dim)).str())) {
      boundUsed.set(unsigned(i));
      result = graph::Dim(bound.lower, bound.upper);
    }
  return result;
}

void ModelImporter::boundOutput(StringRef name, Value value) {
  if (NodeImporter::isSequence(value))
    return;
  const auto type = NodeImporter::typeOf(value);
  Operation *op = value.getDefiningOp();
  if (!op || type.hasStaticShape())
    return;
  graph::Dims dims = graph::dimsOf(type);
  for (auto [d, dim] : llvm::enumerate(dims))
    if (const graph::Dim given = boundOf(name, int64_t(d)); !dim.isStatic() && graph::canBeEqual(dim, given))
      dim = graph::meet(dim, given);
  value.setType(graph::tensorOf(dims, type.getElementType()));
  // What the sizes turn out to depend on is seen later; the error then names the output.
  if (llvm::any_of(op->getOpOperands(), graph::isSizeOperand))
    op->setAttr("graph.outputs", builder.getStrArrayAttr({name}));
}

LogicalResult ModelImporter::importCall(const wire::Node &node, const wire::Function &function, StringRef label,
                                        ArrayRef<Value> arguments, Scope &scope, SmallVectorImpl<Value> &results) {
  const Location loc = NameLoc::get(StringAttr::get(context, label));
  const std::string name = qualifiedName(toRef(function.domain), toRef(function.name));
  if (arguments.size() > function.inputs.size() || node.outputs.size() > function.outputs.size())
    return error(loc) << "call of function '" << name << "': need at most " << function.inputs.size() << " inputs and "
                      << function.outputs.size() << " outputs, have " << arguments.size() << " and "
                      << node.outputs.size();

  Attributes attributes;
  for (const wire::Attribute &attribute : function.defaults)
    attributes[toRef(attribute.name)] = &attribute;
  for (const wire::Attribute &attribute : node.attributes) {
    if (attribute.refName.empty())
      attributes[toRef(attribute.name)] = &attribute;
    else if (const auto *passed =
                 scope.callAttributes ? scope.callAttributes->lookup(toRef(attribute.refName)) : nullptr)
      attributes[toRef(attribute.name)] = passed;
  }
  for (std::string_view required : function.attributes)
    attributes.try_emplace(toRef(required), nullptr);

  OperatorSets sets;
  if (failed(readOperatorSets(function.operatorSets, "function '" + name + "'", sets)))
    return failure();
  Scope inner;
  inner.block = builder.getInsertionBlock();
  inner.operatorSets = &sets;
  inner.callAttributes = &attributes;
  inner.prefix = (label + "/").str();
  for (auto [i, input] : llvm::enumerate(function.inputs))
    inner.values[toRef(input)] = i < arguments.size() ? arguments[i] : Value();
  if (failed(importNodes(function.nodes, inner)))
    return failure();
  for (std::string_view output : function.outputs) {
    // A trailing output that the call does not take need not exist.
    const bool taken = results.size() < node.outputs.size() && !node.outputs[results.size()].empty();
    FailureOr<Value> value = taken ? lookup(toRef(output), inner, loc) : FailureOr<Value>(Value());
    if (failed(value))
      return failure();
    results.push_back(*value);
  }
  return success();
}

std::optional<int64_t> ModelImporter::tripBound(StringRef label) {
  std::optional<int64_t> most;
  for (auto [i, flag] : llvm::enumerate(options.bounds))
    if (matchesName(flag.pattern, label)) {
      most = flag.upper;
      boundUsed.set(unsigned(i));
    }
  return most;
}

LogicalResult ModelImporter::inlineGraph(const wire::Graph &graph, StringRef label, ArrayRef<Value> arguments,
                                         SmallVectorImpl<Value> &results) {
  Scope inner;
  inner.block = builder.getInsertionBlock();
  inner.outer = current;
  inner.operatorSets = current->operatorSets;
  inner.callAttributes = current->callAttributes;
  inner.prefix = (label + "/").str();
  if (graph.inputs.size() != arguments.size())
    return error(NameLoc::get(StringAttr::get(context, label)))
           << "graph '" << toRef(graph.name) << "' of node '" << label << "': need " << arguments.size()
           << " inputs, have " << graph.inputs.size();
  for (auto [input, argument] : llvm::zip_equal(graph.inputs, arguments))
    if (!inner.values.try_emplace(toRef(input.name), argument).second)
      return error(NameLoc::get(StringAttr::get(context, label)))
             << "graph '" << toRef(graph.name) << "' of node '" << label << "': input '" << toRef(input.name)
             << "' is declared twice";
  if (failed(declareInitializers(graph, inner)) || failed(checkSupported(graph.nodes, inner)) ||
      failed(importNodes(graph.nodes, inner)))
    return failure();
  for (const wire::ValueInfo &output : graph.outputs) {
    FailureOr<Value> value = lookup(toRef(output.name), inner, NameLoc::get(StringAttr::get(context, label)));
    if (failed(value))
      return failure();
    results.push_back(*value);
  }
  return success();
}
