//===- SplitAlternatives.cpp - Modules that compute the same in pieces of rows -----------------===//
#include "compiler/Pipelines/SplitAlternatives.h"
#include "compiler/Lowering/GraphToPlan/GraphToPlan.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace plim {

/// Plans whose memory is within this of a faster one's are not worth the time to plan them.
static constexpr double kApart = 0.97;

/// One stage, which runs the images of a batch in pieces.
static bool isOfImages(const solver::SplitPlan &plan) {
  return plan.stages.size() == 1 &&
         llvm::all_of(plan.stages[0].keeps, [](const solver::SplitKeep &keep) { return keep.axis == 0; });
}

static FailureOr<graph::GraphProblem> problemOf(ModuleOp module, const graph::SplitKernels &kernels, std::string &why) {
  SmallVector<func::FuncOp> entries = lowering::entriesOf(module);
  if (entries.size() != 1) {
    why = "need one entry, have " + std::to_string(entries.size());
    return failure();
  }
  return graph::extractSplitProblem(entries.front(), kernels, why);
}

/// The problem of a copy of its module.
static graph::GraphProblem problemOfCopy(graph::GraphProblem graph, const IRMapping &copied) {
  for (Value &value : graph.values)
    value = copied.lookup(value);
  for (Operation *&step : graph.steps)
    step = copied.lookup(step);
  return graph;
}

SplitAlternatives::SplitAlternatives(ModuleOp module, const graph::SplitKernels &kernels)
    : module(module), kernels(kernels), graph(problemOf(module, kernels, why)) {
  if (failed(graph))
    return;
  for (const solver::SplitValue &value : graph->problem.values)
    if (value.kind == solver::SplitValue::Kind::Constant)
      constants += value.bytes;
  for (const solver::SplitStep &step : graph->problem.steps)
    fastestNs += step.ns;
}

bool SplitAlternatives::reaches(size_t index, int64_t below) {
  if (failed(graph) || fastestNs >= below)
    return false;
  if (searched == Searched::Nothing) {
    search(solver::SplitSearch::Kernels::Own);
    searched = Searched::OwnKernels;
  }
  if (index >= splits.size() && searched == Searched::OwnKernels) {
    searchFurther();
    searched = Searched::All;
  }
  return index < splits.size();
}

void SplitAlternatives::search(solver::SplitSearch::Kernels which) {
  const solver::SplitProblem &problem = graph->problem;
  solver::SplitSearch search;
  search.kernels = which;
  const int64_t least = splits.empty() ? INT64_MAX : splits.back().bytes;
  const std::vector<solver::PricedSplit> found = solver::proposeSplits(problem, search);
  for (auto [i, split] : llvm::enumerate(found)) { // by falling memory, rising time
    const std::string text = solver::printSplitPlan(split.plan, problem);
    if (isOfImages(split.plan))
      images = {text, split.plan.stages[0].pieces};
    if (split.cost.peak + constants < least)
      add(text, split.cost.peak + constants, split.cost.ns, i + 1 == found.size());
  }
}

void SplitAlternatives::searchFurther() {
  search(solver::SplitSearch::Kernels::Fine);
  if (!images.first.empty())
    addRowsOfImages();
}

/// Plans of rows in each of the pieces that a plan of images makes, where they take less than all plans so far.
void SplitAlternatives::addRowsOfImages() {
  OwningOpRef<ModuleOp> pieces = apply(images.first);
  if (!pieces)
    return;
  std::string text;
  FailureOr<graph::GraphProblem> inPieces = problemOf(*pieces, kernels, text);
  if (failed(inPieces))
    return;
  for (const solver::PricedSplit &split : solver::proposeSplitsOfTwins(inPieces->problem, images.second)) {
    const int64_t bytes = split.cost.peak + constants;
    if (splits.empty() || bytes < splits.back().bytes)
      add(images.first + " | " + solver::printSplitPlan(split.plan, inPieces->problem), bytes, split.cost.ns, false);
  }
}

void SplitAlternatives::add(std::string text, int64_t bytes, int64_t ns, bool always) {
  if (always || splits.empty() || double(bytes) < kApart * double(splits.back().bytes))
    splits.push_back({std::move(text), bytes, ns});
}

OwningOpRef<ModuleOp> SplitAlternatives::apply(StringRef text) const {
  IRMapping copied;
  ModuleOp whole = module;
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(whole->clone(copied));
  SmallVector<StringRef> plans;
  text.split(plans, '|');
  for (auto [number, plan] : llvm::enumerate(plans)) {
    std::string problem = why;
    FailureOr<graph::GraphProblem> pieces = graph;
    if (number > 0)
      pieces = problemOf(*copy, kernels, problem);
    else if (succeeded(graph))
      pieces = problemOfCopy(*graph, copied);
    std::optional<solver::SplitPlan> parsed;
    if (succeeded(pieces))
      parsed = solver::parseSplitPlan(plan.str(), pieces->problem, problem);
    if (!parsed) {
      emitError(copy->getLoc(), "--split: ") << problem;
      return nullptr;
    }
    if (failed(graph::applySplit(lowering::entriesOf(*copy).front(), *pieces, *parsed)))
      return nullptr;
  }
  return copy;
}

} // namespace plim
