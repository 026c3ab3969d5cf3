//===- SolveTogether.cpp - Programs of one module under one budget -----------------------------------------===//

#include "compiler/Lowering/PlanProblem/FixedCosts.h"
#include "compiler/Solver/Entries/EntryLadder.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace plim::plan;
namespace solver = plim::solver;

/// The programs' problems, of which constants in memory are counted for all together.
static solver::EntryProblems problemsOf(ArrayRef<PlanProblem> programs) {
  solver::EntryProblems entries;
  bool spills = false;
  for (const PlanProblem &program : programs) {
    solver::Problem &problem = entries.programs.emplace_back(program.problem);
    llvm::erase_if(problem.fixed, [](const solver::FixedCost &cost) { return cost.name == solver::kForeignConstants; });
    spills |= problem.levers.spill && problem.tiers[int(solver::Tier::Ssd)].capacity > 0;
  }
  ProgramOp first = programs.front().program;
  entries.otherBytes = unreadConstantBytes(first.getModule(), programs);
  entries.tables = [programs, spills](int p, const solver::Solution &plan, int streamed) {
    return tableBytes(programs[p].program, plan, streamed, spills);
  };
  return entries;
}

static bool dropAllAliases(MutableArrayRef<PlanProblem> programs, const solver::EntryPlan &plan) {
  bool dropped = false;
  for (auto [program, solution] : llvm::zip_equal(programs, plan.plans))
    dropped |= dropAliases(program, solution);
  return dropped;
}

/// Every program that does not fit alone is refused, and at least one. Alone it has what is in memory where all is
/// streamed that may be.
static void refuse(ArrayRef<PlanProblem> programs, const FitRequest &request, const solver::EntryPlan *smallest,
                   int64_t &need) {
  const solver::EntryProblems entries = problemsOf(programs);
  const solver::SharedConstants constants(entries);
  need = smallest ? smallest->need : solver::kUnbounded;
  bool refused = false;
  for (auto [p, program] : llvm::enumerate(programs)) {
    PlanProblem alone = program;
    alone.problem.fixed = constants.problem(int(p), 0).fixed;
    if (smallest)
      alone.sharedNeed = need;
    refused |= failed(solve(alone, request));
  }
  if (refused)
    return;
  const int64_t have = *request.budget[unsigned(Tier::Ram)];
  ProgramOp first = programs.front().program;
  InFlightDiagnostic error = emitError(first.getModule().getLoc());
  error << llvm::formatv(
               "no plan found within the budget of tier ram: need {0} bytes, have {1} ({2:F1} MiB, {3:F1} MiB)", need,
               have, double(need) / (1 << 20), double(have) / (1 << 20))
               .str();
  error.attachNote() << "each entry alone fits, but constants that one keeps in memory take room from all";
}

FailureOr<std::vector<solver::Solution>> plim::plan::solveTogether(MutableArrayRef<PlanProblem> programs,
                                                                   const FitRequest &request, int64_t &need) {
  const int64_t ram = *request.budget[unsigned(Tier::Ram)];
  for (;;) {
    solver::EntryLadder ladder(problemsOf(programs), request.options);
    const solver::EntryPlan *plan = ladder.fastest(ram);
    const solver::EntryPlan *made = plan ? plan : ladder.smallest();
    if (made && dropAllAliases(programs, *made))
      continue;
    if (!plan) {
      refuse(programs, request, made, need);
      return failure();
    }
    for (auto [program, problem] : llvm::zip_equal(programs, plan->problems))
      program.problem = problem;
    return plan->plans;
  }
}
