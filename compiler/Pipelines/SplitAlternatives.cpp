//===- SplitAlternatives.cpp - Modules that compute the same in pieces of rows -----------------===//
#include "compiler/Pipelines/SplitAlternatives.h"
#include "compiler/Lowering/GraphToPlan/GraphToPlan.h"

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

SplitAlternatives::SplitAlternatives(ModuleOp module, const std::string &text, const graph::SplitKernels &kernels,
                                     int64_t below)
    : module(module), kernels(kernels), below(below) {
  if (text == "auto") {
    search(solver::SplitSearch::Kernels::Own);
    return;
  }
  FailureOr<graph::GraphProblem> graph = problemOf(module, kernels, why);
  if (succeeded(graph) && solver::parseSplitPlan(StringRef(text).split('|').first.str(), graph->problem, why))
    splits.push_back({text, 0});
}

bool SplitAlternatives::arePossible(ModuleOp module, const graph::SplitKernels &kernels) {
  std::string why;
  return succeeded(problemOf(module, kernels, why));
}

void SplitAlternatives::search(solver::SplitSearch::Kernels which) {
  FailureOr<graph::GraphProblem> graph = problemOf(module, kernels, why);
  if (failed(graph))
    return;
  const solver::SplitProblem &problem = graph->problem;
  int64_t fastest = 0;
  constants = 0;
  for (const solver::SplitValue &value : problem.values)
    if (value.kind == solver::SplitValue::Kind::Constant)
      constants += value.bytes;
  // Pieces take no less time than the whole maps at their fastest.
  for (const solver::SplitStep &step : problem.steps)
    fastest += step.ns;
  mayBeMore = fastest < below && which == solver::SplitSearch::Kernels::Own;
  if (fastest >= below)
    return;
  solver::SplitSearch search;
  search.kernels = which;
  const int64_t least = splits.empty() ? INT64_MAX : splits.back().bytes;
  const std::vector<solver::PricedSplit> found = solver::proposeSplits(problem, search);
  for (auto [i, split] : llvm::enumerate(found)) { // by falling memory, rising time
    const std::string text = solver::printSplitPlan(split.plan, problem);
    if (isOfImages(split.plan))
      images = {text, split.plan.stages[0].pieces};
    if (split.cost.ns < below && split.cost.peak + constants < least)
      add(text, split.cost.peak + constants, i + 1 == found.size());
  }
}

bool SplitAlternatives::more() {
  if (!std::exchange(mayBeMore, false))
    return false;
  const size_t before = splits.size();
  search(solver::SplitSearch::Kernels::Fine);
  if (!images.first.empty())
    addRowsOfImages(images.first, images.second);
  return splits.size() > before;
}

/// Plans of rows in each of the pieces that a plan of images makes, where they take less than all plans so far.
void SplitAlternatives::addRowsOfImages(const std::string &ofImages, int64_t count) {
  OwningOpRef<ModuleOp> pieces = apply(ofImages);
  if (!pieces)
    return;
  std::string text;
  FailureOr<graph::GraphProblem> graph = problemOf(*pieces, kernels, text);
  if (failed(graph))
    return;
  for (const solver::PricedSplit &split : solver::proposeSplitsOfTwins(graph->problem, count)) {
    const int64_t bytes = split.cost.peak + constants;
    if (split.cost.ns < below && (splits.empty() || bytes < splits.back().bytes))
      add(ofImages + " | " + solver::printSplitPlan(split.plan, graph->problem), bytes, false);
  }
}

void SplitAlternatives::add(std::string text, int64_t bytes, bool always) {
  if (always || splits.empty() || double(bytes) < kApart * double(splits.back().bytes))
    splits.push_back({std::move(text), bytes});
}

OwningOpRef<ModuleOp> SplitAlternatives::apply(StringRef text) const {
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone());
  SmallVector<StringRef> plans;
  text.split(plans, '|');
  for (StringRef plan : plans) {
    std::string problem;
    FailureOr<graph::GraphProblem> graph = problemOf(*copy, kernels, problem);
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
