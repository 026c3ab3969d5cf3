// Order of nodes. ONNX asks for topological order, and exporters do not always keep to it: nodes are sorted, as close
// to the file's order as dependencies allow; a cycle is reported node by node.
#include "compiler/Import/Onnx/ModelImporter.h"
#include <functional>
#include <queue>

using namespace mlir;
using namespace plim;
using namespace plim::onnx;

bool ModelImporter::Scope::knows(StringRef name) const {
  for (const Scope *scope = this; scope; scope = scope->outer)
    if (scope->values.contains(name) || scope->initializers.contains(name))
      return true;
  return false;
}

/// Names that a graph in an attribute takes from around it.
static void collectFreeNames(const wire::Graph &graph, const std::function<void(StringRef)> &visit) {
  llvm::StringSet<> defined;
  for (const wire::Tensor &tensor : graph.initializers)
    defined.insert(toRef(tensor.name));
  for (const wire::ValueInfo &input : graph.inputs)
    defined.insert(toRef(input.name));
  for (const wire::Node &node : graph.nodes)
    for (std::string_view output : node.outputs)
      defined.insert(toRef(output));
  auto use = [&](StringRef name) {
    if (!name.empty() && !defined.contains(name))
      visit(name);
  };
  for (const wire::Node &node : graph.nodes) {
    for (std::string_view input : node.inputs)
      use(toRef(input));
    for (const wire::Attribute &attribute : node.attributes)
      if (attribute.graph)
        collectFreeNames(*attribute.graph, use);
  }
  for (const wire::ValueInfo &output : graph.outputs)
    use(toRef(output.name));
}

FailureOr<SmallVector<unsigned>> ModelImporter::orderNodes(const std::vector<wire::Node> &nodes, const Scope &scope) {
  llvm::StringMap<unsigned> producers;
  bool bad = false;
  for (auto [i, node] : llvm::enumerate(nodes))
    for (std::string_view output : node.outputs) {
      if (output.empty())
        continue;
      const StringRef name = toRef(output);
      auto [previous, isNew] = producers.try_emplace(name, i);
      if (isNew && !scope.values.contains(name) && !scope.initializers.contains(name))
        continue;
      auto diagnostic = error(fileLocation());
      diagnostic << "value '" << name << "' is defined twice: by node '" << labelOf(node, i, scope.prefix)
                 << "' and by ";
      if (isNew)
        diagnostic << "an input or initializer";
      else
        diagnostic << "node '" << labelOf(nodes[previous->second], previous->second, scope.prefix) << "'";
      bad = true;
    }

  std::vector<SmallVector<unsigned, 2>> users(nodes.size()), operands(nodes.size());
  std::vector<unsigned> waiting(nodes.size());
  for (auto [i, node] : llvm::enumerate(nodes)) {
    auto use = [&, consumer = unsigned(i)](StringRef name) {
      if (name.empty())
        return;
      const auto producer = producers.find(name);
      if (producer != producers.end()) {
        users[producer->second].push_back(consumer);
        operands[consumer].push_back(producer->second);
        ++waiting[consumer];
      } else if (!scope.knows(name)) {
        error(fileLocation()) << "node '" << labelOf(nodes[consumer], consumer, scope.prefix) << "' reads '" << name
                              << "', which no node, input or initializer defines";
        bad = true;
      }
    };
    for (std::string_view input : node.inputs)
      use(toRef(input));
    for (const wire::Attribute &attribute : node.attributes)
      if (attribute.graph)
        collectFreeNames(*attribute.graph, use);
  }
  if (bad)
    return failure();

  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> ready;
  for (unsigned i = 0; i < nodes.size(); ++i)
    if (!waiting[i])
      ready.push(i);
  SmallVector<unsigned> order;
  while (!ready.empty()) {
    const unsigned next = ready.top();
    ready.pop();
    order.push_back(next);
    for (unsigned user : users[next])
      if (--waiting[user] == 0)
        ready.push(user);
  }
  if (order.size() == nodes.size())
    return order;

  // Every node left waits for another one that is left: walking up ends in a cycle.
  unsigned at = 0;
  while (!waiting[at])
    ++at;
  std::vector<unsigned> walk;
  std::vector<int64_t> position(nodes.size(), -1);
  while (position[at] < 0) {
    position[at] = static_cast<int64_t>(walk.size());
    walk.push_back(at);
    at = *llvm::find_if(operands[at], [&](unsigned operand) { return waiting[operand] != 0; });
  }
  // In the direction of data, from the node that comes first in the file.
  SmallVector<unsigned> cycle(walk.rbegin(), walk.rend() - position[at]);
  std::rotate(cycle.begin(), llvm::min_element(cycle), cycle.end());
  cycle.push_back(cycle.front());
  auto diagnostic = error(fileLocation());
  diagnostic << "the graph has a cycle: ";
  llvm::interleave(
      cycle, [&](unsigned i) { diagnostic << "'" << labelOf(nodes[i], i, scope.prefix) << "'"; },
      [&] { diagnostic << " -> "; });
  return failure();
}
