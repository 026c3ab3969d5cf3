//===- Curve.cpp - Time against budget -------------------------------------------------------------------------===//

#include "compiler/Lowering/PlanProblem/FixedCosts.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"

#include <cmath>

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
  constexpr int ram = int(solver::Tier::Ram), ssd = int(solver::Tier::Ssd), kPoints = 16;
  solver::Problem problem = extracted.problem;
  problem.tiers[ram].capacity = solver::kUnbounded;
  std::array<int64_t, solver::kTierCount> capacity;
  for (int tier = 0; tier < solver::kTierCount; ++tier)
    capacity[tier] = problem.tiers[tier].capacity;
  solver::Ladder ladder(problem, request.options);
  const solver::Solution *top = ladder.fastest(capacity);
  const int64_t least = ladder.smallest().peak[ram], most = std::max(least, top ? top->peak[ram] : least);
  std::vector<CurvePoint> curve;
  for (int k = 0; k <= kPoints; ++k) {
    const double ratio = std::pow(double(most) / double(least), double(k) / kPoints);
    capacity[ram] = k == kPoints ? most : int64_t(double(least) * ratio);
    const solver::Solution *plan = ladder.fastest(capacity);
    if (!plan || (!curve.empty() && plan->ns >= curve.back().ns))
      continue;
    int64_t tables = tableBytes(extracted.program, *plan) - problem.fixed.front().bytes;
    curve.push_back({capacity[ram] + tables, plan->peak[ssd], plan->ns, countLevers(*plan)});
  }
  llvm::stable_sort(curve, [](const CurvePoint &a, const CurvePoint &b) { return a.ram < b.ram; });
  return curve;
}
