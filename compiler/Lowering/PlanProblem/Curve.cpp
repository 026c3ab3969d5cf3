//===- Curve.cpp - Time against budget -------------------------------------------------------------------------===//

#include "compiler/Lowering/PlanProblem/FixedCosts.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"

using namespace mlir;
using namespace plim::plan;
namespace solver = plim::solver;

LeverCounts plim::plan::countLevers(const solver::Solution &solution) {
  LeverCounts counts;
  for (const solver::Action &action : solution.actions) {
    if (action.kind == solver::ActionKind::Run)
      counts.recomputed += action.instance > 0;
    if (action.kind != solver::ActionKind::Copy)
      continue;
    const solver::Place &from = solution.places[action.reads[0]];
    if (action.queue == solver::Queue::Cpu)
      ++counts.moved;
    else if (action.queue == solver::Queue::Write)
      ++counts.spilled;
    else
      counts.streamed += solution.storages[from.storage].region == solver::Region::File;
  }
  return counts;
}

std::vector<CurvePoint> plim::plan::curveOf(const PlanProblem &extracted, const FitRequest &request) {
  solver::Ladder ladder(extracted.problem, request.options);
  std::vector<CurvePoint> curve;
  for (const auto &[budget, plan] : ladder.curve()) {
    const int64_t tables = tableBytes(extracted.program, *plan) - extracted.problem.fixed.front().bytes;
    curve.push_back({budget + tables, plan->peak[int(solver::Tier::Ssd)], plan->ns, countLevers(*plan)});
  }
  llvm::stable_sort(curve, [](const CurvePoint &a, const CurvePoint &b) { return a.ram < b.ram; });
  return curve;
}
