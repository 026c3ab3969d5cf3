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
static std::vector<PlanRefusal> refuse(ArrayRef<PlanProblem> programs, const FitRequest &request,
                                       const solver::EntryPlan *smallest) {
  const solver::EntryProblems entries = problemsOf(programs);
  const solver::SharedConstants constants(entries);
  const int64_t need = smallest ? smallest->need : solver::kUnbounded;
  std::vector<PlanRefusal> refusals;
  for (auto [p, program] : llvm::enumerate(programs)) {
    PlanProblem alone = program;
    alone.problem.fixed = constants.problem(int(p), 0).fixed;
    if (smallest)
      alone.sharedNeed = need;
    if (failed(solve(alone, request)))
      refusals.push_back(std::move(*alone.refusal));
  }
  if (!refusals.empty())
    return refusals;
  const int64_t have = *request.budget[unsigned(Tier::Ram)];
  ProgramOp first = programs.front().program;
  PlanRefusal &all = refusals.emplace_back(PlanRefusal{first.getModule().getLoc(), need});
  all.error =
      llvm::formatv("no plan found within the budget of tier ram: need {0} bytes, have {1} ({2:F1} MiB, {3:F1} MiB)",
                    need, have, double(need) / (1 << 20), double(have) / (1 << 20))
          .str();
  all.notes.push_back("each entry alone fits, but constants that one keeps in memory take room from all");
  return refusals;
}

FailureOr<std::vector<solver::Solution>> plim::plan::solveTogether(MutableArrayRef<PlanProblem> programs,
                                                                   const FitRequest &request,
                                                                   std::vector<PlanRefusal> &refusals) {
  const int64_t ram = *request.budget[unsigned(Tier::Ram)];
  for (;;) {
    solver::EntryLadder ladder(problemsOf(programs), request.options);
    const solver::EntryPlan *plan = ladder.fastest(ram);
    const solver::EntryPlan *made = plan ? plan : ladder.smallest();
    if (made && dropAllAliases(programs, *made))
      continue;
    if (!plan) {
      refusals = refuse(programs, request, made);
      return failure();
    }
    for (auto [program, problem] : llvm::zip_equal(programs, plan->problems))
      program.problem = problem;
    return plan->plans;
  }
}
