//===- ChoosePlan.h - Which alternative meets a budget fastest -----------------------------------===//
#ifndef PLIM_COMPILER_PIPELINES_CHOOSEPLAN_H
#define PLIM_COMPILER_PIPELINES_CHOOSEPLAN_H

#include "compiler/Pipelines/Alternative.h"
#include "compiler/Pipelines/FitModule.h"
#include "compiler/Pipelines/PiecesOfWeights.h"

namespace plim {

/// A plan of an alternative, or why there is none.
struct ChosenPlan {
  CompileStatus status = CompileStatus::Budget;
  const Alternative *alternative = nullptr; // of the chooser
  mlir::OwningOpRef<plan::ModuleOp> module; // stage placed
  emit::PlanFacts facts;
  int64_t need = INT64_MAX;                // the smallest budget of the ram that is met, of one that is refused
  std::vector<plan::PlanRefusal> refusals; // that say so; not yet emitted

  bool fits() const { return status == CompileStatus::Done; }
  int64_t predictedNs() const { return facts.predictedNs(); }
};

class PlanChooser {
public:
  /// `graph` is after all graph passes; `rows`: it is in pieces that were asked for. Where there are budgets and
  /// CompileOptions::split is "auto", it may be cut. `store` may be null.
  PlanChooser(mlir::OwningOpRef<mlir::ModuleOp> graph, bool rows, const CompileOptions &options,
              gen::ObjectBuilder &object, solver::PlanStore *store);

  /// Of the graph, for messages.
  mlir::Location location();
  /// The graph as it was given; null, with a diagnostic, where it cannot be lowered.
  const Alternative *asItIs() { return given.asItIs(); }

  /// The fastest of the plans that meet the budget: of the graph as it is, with large weights in pieces, with maps in
  /// pieces of rows, or with both; or the refusal that asks for least. Each has its own smallest budget, which does not
  /// depend on the one that is asked for, so that what is met under one is met under all larger ones. `cutWeights`:
  /// only plans of weights in pieces, which there must be. What is wrong but for refusals is reported.
  ChosenPlan choose(std::optional<int64_t> ram, bool cutWeights = false);

  /// A plan of one alternative that keeps the constants of these names in memory.
  ChosenPlan planOf(const Alternative *alternative, std::optional<int64_t> ram, const llvm::StringSet<> &kept = {});

  /// What each entry could have alone at other budgets, by the entries' order: the fastest of all alternatives, by
  /// rising budget and falling time. Nothing where planning fails, which has been reported.
  std::optional<std::vector<std::vector<emit::PlanFacts::CurvePoint>>> curves();

private:
  /// A plan in pieces takes at least this part of the memory and the time that are estimated.
  static constexpr double kSurely = 0.95;

  bool attempt(const Alternative *alternative, int64_t ram, ChosenPlan &best,
               std::vector<plan::PlanRefusal> *refusals = nullptr);
  bool attemptRows(Alternatives &from, int64_t ram, ChosenPlan &best);
  Alternatives &withCutWeights();

  const CompileOptions &options;
  gen::ObjectBuilder &object;
  solver::PlanStore *store;
  bool mayCut;
  PiecesOfWeights weights;
  Alternatives given;
  std::optional<Alternatives> cut; // of weights in pieces, once they are asked for
};

} // namespace plim

#endif
