//===- SplitAlternatives.cpp - Modules that compute the same in pieces of rows -----------------===//
#include "compiler/Pipelines/SplitAlternatives.h"
#include "compiler/Transforms/Graph/Split/GraphProblem.h"

using namespace mlir;

namespace plim {

/// Plans whose memory is within this of a faster one's are not worth the time to plan them.
static constexpr double kApart = 0.97;

static FailureOr<graph::GraphProblem> problemOf(ModuleOp module, const lowering::KernelChoice &choice,
                                                std::string &why) {
  SmallVector<func::FuncOp> entries = lowering::entriesOf(module);
  if (entries.size() != 1) {
    why = "need one entry, have " + std::to_string(entries.size());
    return failure();
  }
  graph::SplitKernels kernels;
  kernels.exactNumerics = choice.exactNumerics;
  kernels.attention = choice.attention;
  return graph::extractSplitProblem(entries.front(), kernels, why);
}

SplitAlternatives::SplitAlternatives(ModuleOp module, const std::string &text, const lowering::KernelChoice &choice,
                                     int64_t below)
    : module(module), choice(choice) {
  if (text == "auto") {
    search(below);
    return;
  }
  FailureOr<graph::GraphProblem> graph = problemOf(module, choice, why);
  if (succeeded(graph) && solver::parseSplitPlan(StringRef(text).split('|').first.str(), graph->problem, why))
    splits.push_back({text, 0});
}

void SplitAlternatives::search(int64_t below) {
  FailureOr<graph::GraphProblem> graph = problemOf(module, choice, why);
  if (failed(graph))
    return;
  const solver::SplitProblem &problem = graph->problem;
  int64_t constants = 0, fastest = 0;
  for (const solver::SplitValue &value : problem.values)
    if (value.kind == solver::SplitValue::Kind::Constant)
      constants += value.bytes;
  // Pieces take no less time than the whole maps at their fastest.
  for (const solver::SplitStep &step : problem.steps)
    fastest += step.ns;
  if (fastest >= below)
    return;
  const std::vector<solver::PricedSplit> found = solver::proposeSplits(problem); // by falling memory, rising time
  for (const solver::PricedSplit &split : found) {
    const int64_t bytes = split.cost.peak + constants;
    const bool isApart = splits.empty() || double(bytes) < kApart * double(splits.back().bytes);
    if (split.cost.ns < below && (isApart || &split == &found.back()))
      splits.push_back({solver::printSplitPlan(split.plan, problem), bytes});
  }
}

OwningOpRef<ModuleOp> SplitAlternatives::apply(StringRef text) const {
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
  SmallVector<StringRef> plans;
  text.split(plans, '|');
  for (StringRef plan : plans) {
    std::string problem;
    FailureOr<graph::GraphProblem> graph = problemOf(*copy, choice, problem);
    std::optional<solver::SplitPlan> parsed;
    if (succeeded(graph))
      parsed = solver::parseSplitPlan(plan.str(), graph->problem, problem);
    if (!parsed) {
      emitError(copy->getLoc(), "--split: ") << problem;
      return nullptr;
    }
    if (failed(graph::applySplit(lowering::entriesOf(*copy).front(), *graph, *parsed)))
      return nullptr;
  }
  return copy;
}

} // namespace plim
