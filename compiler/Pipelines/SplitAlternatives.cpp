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

/// Whether a plan runs images of a batch one by one: then images can be cut in rows, each on its own.
static bool isByImages(const solver::SplitPlan &plan, const solver::SplitProblem &problem) {
  return llvm::all_of(plan.stages, [&](const solver::SplitStage &stage) {
    return llvm::all_of(stage.keeps, [&](const solver::SplitKeep &keep) {
      return keep.axis == 0 && solver::extentOf(problem, keep.value, 0) == stage.pieces;
    });
  });
}

SplitAlternatives::SplitAlternatives(ModuleOp module, const std::string &text, const lowering::KernelChoice &choice,
                                     int64_t below)
    : module(module), choice(choice) {
  if (text == "auto") {
    search(module, "", below);
    llvm::stable_sort(splits, [](const Split &a, const Split &b) { return a.ns < b.ns; });
    std::vector<Split> apart;
    for (const Split &split : splits)
      if (apart.empty() || double(split.bytes) < kApart * double(apart.back().bytes))
        apart.push_back(split);
    splits = std::move(apart);
    return;
  }
  FailureOr<graph::GraphProblem> graph = problemOf(module, choice, why);
  if (succeeded(graph) && solver::parseSplitPlan(StringRef(text).split('|').first.str(), graph->problem, why))
    splits.push_back({text, 0, 0});
}

void SplitAlternatives::search(ModuleOp from, const std::string &before, int64_t below) {
  FailureOr<graph::GraphProblem> graph = problemOf(from, choice, why);
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
  std::vector<solver::PricedSplit> found = solver::proposeSplits(problem);
  for (const solver::PricedSplit &split : found) {
    const std::string text = before + solver::printSplitPlan(split.plan, problem);
    if (split.cost.ns < below)
      splits.push_back({text, split.cost.peak + constants, split.cost.ns});
    if (before.empty() && isByImages(split.plan, problem))
      if (OwningOpRef<ModuleOp> images = apply(text))
        search(*images, text + " | ", below);
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
