// Which operator sets a model asks for, and whether every operator it uses is supported.
#include "compiler/Import/Onnx/ModelImporter.h"

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

std::string plim::onnx::qualifiedName(StringRef domain, StringRef name) {
  if (ownDomain(domain).empty())
    return name.str();
  return (domain + "::" + name).str();
}

std::string plim::onnx::labelOf(const wire::Node &node, size_t index, StringRef prefix) {
  if (!node.name.empty())
    return (prefix + toRef(node.name)).str();
  return (prefix + toRef(node.opType) + "_" + Twine(index)).str();
}

LogicalResult ModelImporter::readOperatorSets(const std::vector<wire::OperatorSet> &list, StringRef where,
                                              OperatorSets &sets) {
  for (const wire::OperatorSet &entry : list) {
    const StringRef domain = ownDomain(toRef(entry.domain));
    // Exporters list a domain twice; two versions of it would be two languages.
    auto [found, isNew] = sets.try_emplace(domain, entry.version);
    if (!isNew && found->second != entry.version)
      return error(fileLocation()) << where << " asks for two operator sets of domain '" << domain
                                   << "': " << found->second << " and " << entry.version;
  }
  const auto standard = sets.find("");
  if (standard == sets.end())
    return success();
  if (standard->second < leastOperatorSet || standard->second > mostOperatorSet)
    return error(fileLocation()) << where << " asks for operator set " << standard->second << ": need "
                                 << leastOperatorSet << " to " << mostOperatorSet;
  return success();
}

const wire::Function *ModelImporter::findFunction(const wire::Node &node) const {
  return functions.lookup(qualifiedName(toRef(node.domain), toRef(node.opType)) + ":" + std::string(node.overload));
}

FailureOr<uint64_t> ModelImporter::countNodes(const std::vector<wire::Node> &nodes,
                                              SmallVectorImpl<const wire::Function *> &stack,
                                              llvm::DenseMap<const wire::Function *, uint64_t> &counts) {
  constexpr size_t deepest = 100;
  constexpr uint64_t most = uint64_t(1) << 22; // far beyond real models
  uint64_t total = 0;
  const auto add = [&](FailureOr<uint64_t> count) {
    if (succeeded(count))
      total += *count;
    return failed(count);
  };
  for (const wire::Node &node : nodes) {
    ++total;
    for (const wire::Attribute &attribute : node.attributes)
      if (attribute.graph && add(countNodes(attribute.graph->nodes, stack, counts)))
        return failure();
    if (const wire::Function *function = findFunction(node)) {
      const std::string name = qualifiedName(toRef(function->domain), toRef(function->name));
      if (llvm::is_contained(stack, function))
        return error(fileLocation()) << "function '" << name << "' calls itself";
      if (stack.size() >= deepest)
        return error(fileLocation()) << "functions call each other deeper than " << deepest << ", down to '" << name
                                     << "'";
      auto known = counts.find(function);
      if (known == counts.end()) {
        stack.push_back(function);
        FailureOr<uint64_t> count = countNodes(function->nodes, stack, counts);
        stack.pop_back();
        if (failed(count))
          return failure();
        known = counts.try_emplace(function, *count).first;
      }
      total += known->second;
    }
    if (total > most)
      return error(fileLocation()) << "inlined functions make more than " << most << " nodes";
  }
  return total;
}

void ModelImporter::collectUnsupported(const std::vector<wire::Node> &nodes, const OperatorSets &sets, StringRef prefix,
                                       llvm::StringMap<Missing> &missing, llvm::StringSet<> &visited) {
  for (auto [i, node] : llvm::enumerate(nodes)) {
    const std::string name = qualifiedName(toRef(node.domain), toRef(node.opType));
    if (const wire::Function *function = findFunction(node)) {
      if (!visited.insert(name + ":" + std::string(node.overload)).second)
        continue;
      OperatorSets inner;
      if (failed(readOperatorSets(function->operatorSets, "function '" + name + "'", inner)))
        missing[name].reason = "its operator sets are not supported";
      else
        collectUnsupported(function->nodes, inner, labelOf(node, i, prefix) + "/", missing, visited);
      continue;
    }
    const OperatorRow *row = findOperator(toRef(node.domain), toRef(node.opType));
    const StringRef domain = ownDomain(toRef(node.domain));
    const auto set = sets.find(domain);
    const bool isStandard = domain.empty();
    std::string reason;
    if (!row) {
      const char *why = refusalOf(domain, toRef(node.opType));
      reason = why ? why : "not supported";
    } else if (isStandard && set == sets.end())
      reason = "the model imports no operator set of its domain";
    else if (isStandard && set->second < row->since && row->since > leastOperatorSet)
      reason = "is new in operator set " + std::to_string(row->since) + ", have " + std::to_string(set->second);
    else if (isStandard && set->second >= row->removed)
      reason =
          "was taken out in operator set " + std::to_string(row->removed) + ", have " + std::to_string(set->second);
    else
      continue;
    Missing &entry = missing[name];
    entry.reason = reason;
    entry.nodes.push_back(labelOf(node, i, prefix));
  }
}

LogicalResult ModelImporter::checkSupported(const std::vector<wire::Node> &nodes, const Scope &scope) {
  llvm::StringMap<Missing> missing;
  llvm::StringSet<> visited;
  collectUnsupported(nodes, *scope.operatorSets, scope.prefix, missing, visited);
  if (missing.empty())
    return success();
  constexpr size_t mostNames = 8;
  SmallVector<StringRef> names(missing.keys());
  llvm::sort(names);
  auto diagnostic = error(fileLocation());
  diagnostic << names.size() << (names.size() == 1 ? " operator is" : " operators are") << " not supported";
  for (StringRef name : names) {
    const Missing &entry = missing[name];
    Diagnostic &note = diagnostic.attachNote();
    note << entry.nodes.size() << " x " << name << ": " << entry.reason;
    if (entry.nodes.empty())
      continue;
    note << "; " << (entry.nodes.size() == 1 ? "node " : "nodes ");
    for (size_t i = 0; i < std::min(entry.nodes.size(), mostNames); ++i)
      note << (i ? ", '" : "'") << entry.nodes[i] << "'";
    if (entry.nodes.size() > mostNames)
      note << " and " << entry.nodes.size() - mostNames << " more";
  }
  return failure();
}
