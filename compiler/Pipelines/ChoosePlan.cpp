//===- ChoosePlan.cpp - Which alternative meets a budget fastest ---------------------------------===//
#include "compiler/Pipelines/ChoosePlan.h"

using namespace mlir;

namespace plim {

/// What is proved of some pieces is not proved of others; what is proved of the whole maps' steps, which can be cut,
/// is.
static void takeProofs(std::vector<plan::PlanRefusal> &refusals, ArrayRef<plan::PlanRefusal> ofWhole) {
  for (auto [i, refusal] : llvm::enumerate(refusals))
    refusal.proof = i < ofWhole.size() ? ofWhole[i].proof : "";
}

PlanChooser::PlanChooser(OwningOpRef<ModuleOp> graph, bool rows, const CompileOptions &options,
                         gen::ObjectBuilder &object, solver::PlanStore *store)
    : options(options), object(object), store(store),
      mayCut(options.split == "auto" &&
             (options.ramBudget || !options.budgets.empty() || options.variants || options.curve)),
      weights(mayCut && options.stream ? piecesOfWeights(*graph) : PiecesOfWeights()),
      given(std::move(graph), rows, mayCut, 0, options, object) {}

Location PlanChooser::location() { return lowering::entriesOf(given.base()).front().getLoc(); }

Alternatives &PlanChooser::withCutWeights() {
  if (!cut)
    cut.emplace(withWeightsInPieces(given.base(), weights.bytes), false, true, weights.bytes, options, object);
  return *cut;
}

ChosenPlan PlanChooser::planOf(const Alternative *alternative, std::optional<int64_t> ram,
                               const llvm::StringSet<> &kept) {
  ChosenPlan plan;
  plan.status = CompileStatus::Model;
  if (!alternative)
    return plan;
  if (options.progress)
    options.progress("plan");
  plan.alternative = alternative;
  plan.module = cast<plan::ModuleOp>((*alternative->lowered.module)->clone());
  plan::FitRequest request = requestFor(options, *alternative, ram, store);
  request.kept = kept;
  FitOutcome outcome = fitModule(*plan.module, request, plan.facts);
  plan.status = outcome.status == FitStatus::Done     ? CompileStatus::Done
                : outcome.status == FitStatus::Budget ? CompileStatus::Budget
                                                      : CompileStatus::Internal;
  if (plan.status == CompileStatus::Budget)
    plan.need = outcome.need();
  plan.refusals = std::move(outcome.refusals);
  return plan;
}

/// Plans an alternative, which replaces `best` where it is faster, or asks for less where no plan fits yet. Fails where
/// there is no plan for another reason than the budget, which is then its status.
bool PlanChooser::attempt(const Alternative *alternative, int64_t ram, ChosenPlan &best,
                          std::vector<plan::PlanRefusal> *refusals) {
  ChosenPlan made = planOf(alternative, ram);
  if (refusals)
    *refusals = made.refusals;
  const bool isPlanned = made.fits() || made.status == CompileStatus::Budget;
  if (!isPlanned ||
      (made.fits() ? !best.fits() || made.predictedNs() < best.predictedNs() : !best.fits() && made.need < best.need))
    best = std::move(made);
  return isPlanned;
}

/// The fastest plan in pieces of rows, if it beats `best`. All splits are looked at whose estimate does: one that was
/// found for less memory may be faster than another one that fits, and a larger budget must have it too.
bool PlanChooser::attemptRows(Alternatives &from, int64_t ram, ChosenPlan &best) {
  SplitAlternatives &splits = *from.splits();
  auto below = [&] { return best.fits() ? best.predictedNs() : INT64_MAX; };
  for (size_t i = 0; splits.reaches(i, below()); ++i) {
    if (double(splits.estimatedNs(i)) * kSurely >= double(below()))
      continue;
    // One that will not fit is planned only to say what would.
    const bool surely = double(splits.estimatedBytes(i)) * kSurely > double(ram);
    if (surely && (best.fits() || splits.reaches(i + 1, INT64_MAX)))
      continue;
    if (!attempt(from.inRows(i), ram, best))
      return false;
  }
  return true;
}

ChosenPlan PlanChooser::choose(std::optional<int64_t> budget, bool cutWeights) {
  if (!mayCut || !budget)
    return planOf(given.asItIs(), budget);
  const int64_t ram = *budget;
  ChosenPlan best;
  std::vector<plan::PlanRefusal> ofWhole;
  if (!cutWeights && (!weights.bytes || weights.leastWhole <= ram))
    if (!attempt(given.asItIs(), ram, best, &ofWhole))
      return best;
  const bool triesCut =
      weights.bytes &&
      (!best.fits() || (weights.leastBytes <= ram && waitsForWeights(*best.module, best.predictedNs())));
  if (triesCut) {
    if (!attempt(withCutWeights().asItIs(), ram, best, &ofWhole))
      return best;
    for (plan::PlanRefusal &refusal : ofWhole)
      if (!refusal.proof.empty())
        refusal.proof += "; of weights in pieces of at most " + std::to_string(weights.bytes) + " bytes";
  }
  if (!cutWeights && !attemptRows(given, ram, best))
    return best;
  if (triesCut && (cutWeights || !best.fits()) && !attemptRows(withCutWeights(), ram, best))
    return best;
  takeProofs(best.refusals, ofWhole);
  return best;
}

} // namespace plim
