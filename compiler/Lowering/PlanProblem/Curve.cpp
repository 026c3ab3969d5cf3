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
  constexpr int ram = int(solver::Tier::Ram), ssd = int(solver::Tier::Ssd);
  solver::Problem problem = extracted.problem;
  problem.tiers[ram].capacity = solver::kUnbounded;
  solver::Ladder ladder(problem, request.options);
  std::vector<CurvePoint> curve;
  for (const solver::CurvePoint &point : ladder.curve()) {
    std::array<int64_t, solver::kTierCount> capacity;
    for (int tier = 0; tier < solver::kTierCount; ++tier)
      capacity[tier] = problem.tiers[tier].capacity;
    capacity[ram] = point.ram;
    const solver::Solution *plan = ladder.fastest(capacity);
    if (!plan)
      continue;
    int64_t tables = tableBytes(extracted.program, *plan) - problem.fixed.front().bytes;
    curve.push_back({plan->peak[ram] + tables, plan->peak[ssd], plan->ns, countLevers(*plan)});
  }
  return curve;
}
