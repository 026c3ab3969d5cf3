//===- PlannedPlan.h - A random plan on its way from a problem to a table --------------------===//
#ifndef PLIM_TEST_COMPILER_CONTRACT_PLANNEDPLAN_H
#define PLIM_TEST_COMPILER_CONTRACT_PLANNEDPLAN_H

#include "compiler/Lowering/PlanProblem/PlanProblem.h"
#include "compiler/Lowering/PlanTable/PlanTable.h"
#include "test/compiler/Contract/PlanRun.h"
#include "test/compiler/Contract/RandomPlan.h"

namespace plim::test {

/// What the planner may do with the plan of a seed: levers, a budget of the ssd, the way of transfers.
struct PlanSetting {
  unsigned seed = 0;
  PlanStyle style;
  plan::FitRequest request;
  const char *levers = ""; // what request.levers is called
};

/// Cycles through families, sizes, sets of levers (all, each one off, none) and budgets of the ssd (none, little,
/// much).
PlanSetting settingOf(unsigned seed);

/// A context with the plan dialect.
std::unique_ptr<mlir::MLIRContext> contractContext();

class PlannedPlan {
public:
  /// The problem without the aliases of these numbers. Small constants may be streamed too, where large ones may.
  static mlir::FailureOr<PlannedPlan> make(mlir::MLIRContext &context, const PlanSetting &setting,
                                           llvm::ArrayRef<int> withoutAliases = {});

  plan::PlanProblem &extracted() { return *problem; }
  const RandomPlan &source() const { return random; }

  /// Numerics classes of the launches that have several.
  NumericsClasses classesOf(const solver::Solution &solution) const;

  /// Applies, places, writes the weight file (in `folder`, "" in `weights` where there is none) and encodes; the tables
  /// of transfers are counted in the solution. Once.
  mlir::FailureOr<plan::EncodedTable> encode(solver::Solution &solution, const std::string &folder,
                                             std::string &weights);

private:
  RandomPlan random;
  std::optional<plan::PlanProblem> problem;
};

/// The caller's inputs of the plan of a seed.
Bytes inputsOf(plan::ModuleOp module, unsigned seed);

/// "" where a run of all of the table's steps keeps what is planned to the byte, with the bits of `want`, and allocates
/// nothing; else what differs.
std::string differenceTo(const std::vector<Bytes> &want, const RunReport &report, bool allSteps);

} // namespace plim::test

#endif // PLIM_TEST_COMPILER_CONTRACT_PLANNEDPLAN_H
