//===- Alternative.cpp - A graph in one way of being cut, ready to be planned -------------------===//
#include "compiler/Pipelines/Alternative.h"
#include "compiler/Pipelines/PriceKernels.h"

using namespace mlir;

namespace plim {

std::string Alternative::pieces() const {
  if (rows)
    return weights ? "rows, weights" : "rows";
  return weights ? "weights" : "none";
}

plan::FitRequest requestFor(const CompileOptions &options, const Alternative &alternative, std::optional<int64_t> ram,
                            solver::PlanStore *store) {
  plan::FitRequest request;
  request.budget[unsigned(plan::Tier::Ram)] = ram;
  request.budget[unsigned(plan::Tier::Ssd)] = options.ssdBudget;
  request.countIO = options.countIO;
  request.links = solver::linksOf(options.profile);
  request.options.store = store;
  if (alternative.rows) {
    // Thousands of steps in an order that was made for few bytes.
    request.levers = {.order = false, .lend = true};
    request.options.tradeEvaluations = 200;
    request.options.alternatives = false;
  }
  request.levers.stream = request.levers.stream && options.stream;
  return request;
}

Alternatives::Alternatives(OwningOpRef<ModuleOp> given, bool rows, bool maySplit, int64_t weights,
                           const CompileOptions &options, gen::ObjectBuilder &object)
    : options(options), object(object), graph(std::move(given)), rows(rows), weights(weights) {
  if (maySplit)
    split.emplace(*graph,
                  graph::SplitKernels{options.choice.exactNumerics, options.choice.attention, options.reuseInputs});
}

const Alternative *Alternatives::asItIs() {
  if (!whole)
    whole = lower(cast<ModuleOp>(graph->clone()), rows);
  return whole.get();
}

const Alternative *Alternatives::inRows(size_t index) {
  std::unique_ptr<Alternative> &known = pieces[index];
  if (!known)
    known = lower(split->apply(index), true);
  return known.get();
}

std::unique_ptr<Alternative> Alternatives::lower(OwningOpRef<ModuleOp> cut, bool inPieces) {
  if (!cut)
    return nullptr;
  if (options.progress)
    options.progress("kernels");
  lowering::GraphToPlanOptions lowering;
  lowering.workers = options.workers;
  lowering.choice = options.choice;
  lowering.generate = lowering::generatorInto(object);
  lowering.reuseInputs = options.reuseInputs;
  lowering.splits = !inPieces && split && split->arePossible();
  FailureOr<lowering::GraphToPlanResult> lowered = lowering::graphToPlan(lowering::entriesOf(*cut), lowering);
  if (failed(lowered))
    return nullptr;
  priceKernels(*lowered->module, options.profile);
  auto result = std::make_unique<Alternative>();
  result->rows = inPieces, result->weights = weights;
  result->graph = std::move(cut), result->lowered = std::move(*lowered);
  return result;
}

} // namespace plim
