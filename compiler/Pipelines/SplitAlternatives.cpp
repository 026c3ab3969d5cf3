//===- SplitAlternatives.cpp - Modules that compute the same in pieces of rows -----------------===//
#include "compiler/Pipelines/SplitAlternatives.h"
#include "compiler/Transforms/Graph/Split/GraphProblem.h"

using namespace mlir;

namespace plim {

/// Plans whose memory is within this of a faster one's are not worth the time to plan them.
static constexpr double kApart = 0.97;

static FailureOr<graph::GraphProblem> problemOf(func::FuncOp entry, const lowering::KernelChoice &choice,
                                                std::string &why) {
  graph::SplitKernels kernels;
  kernels.exactNumerics = choice.exactNumerics;
  kernels.attention = choice.attention;
  return graph::extractSplitProblem(entry, kernels, why);
}

SplitAlternatives::SplitAlternatives(ModuleOp module, const std::string &text, const lowering::KernelChoice &choice)
    : module(module), choice(choice) {
  SmallVector<func::FuncOp> entries = lowering::entriesOf(module);
  if (entries.size() != 1) {
    why = "need one entry, have " + std::to_string(entries.size());
    return;
  }
  FailureOr<graph::GraphProblem> graph = problemOf(entries.front(), choice, why);
  if (failed(graph))
    return;
  splitProblem = std::move(graph->problem);
  for (const solver::SplitValue &value : splitProblem.values)
    if (value.kind == solver::SplitValue::Kind::Constant)
      constantBytes += value.bytes;
  if (text != "auto") {
    std::optional<solver::SplitPlan> plan = solver::parseSplitPlan(text, splitProblem, why);
    std::optional<solver::SplitCost> cost = plan ? solver::costOfSplit(splitProblem, *plan, why) : std::nullopt;
    if (cost)
      splits.push_back({*plan, *cost});
    return;
  }
  splits = solver::proposeSplits(splitProblem); // by falling memory, rising time; the last one is the smallest
  std::vector<solver::PricedSplit> apart;
  for (size_t i = 0; i < splits.size(); ++i)
    if (apart.empty() || i + 1 == splits.size() ||
        double(splits[i].cost.peak) < kApart * double(apart.back().cost.peak))
      apart.push_back(std::move(splits[i]));
  splits = std::move(apart);
}

std::string SplitAlternatives::textOf(size_t index) const {
  return solver::printSplitPlan(splits[index].plan, splitProblem);
}

OwningOpRef<ModuleOp> SplitAlternatives::apply(size_t index) const {
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
  func::FuncOp entry = lowering::entriesOf(*copy).front();
  std::string unused;
  FailureOr<graph::GraphProblem> graph = problemOf(entry, choice, unused);
  if (failed(graph) || failed(graph::applySplit(entry, *graph, splits[index].plan)))
    return nullptr;
  return copy;
}

} // namespace plim
