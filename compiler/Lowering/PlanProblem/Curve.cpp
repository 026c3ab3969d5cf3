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

std::vector<CurvePoint> plim::plan::curveOf(const PlanProblem &extracted, const FitRequest &request,
                                            ArrayRef<int64_t> budgets) {
  solver::Ladder ladder(extracted.problem, request.options);
  std::vector<CurvePoint> curve;
  auto add = [&](int64_t budget, const solver::Solution &plan) {
    const int64_t tables = tableBytes(extracted.program, plan) - extracted.problem.fixed.front().bytes;
    curve.push_back({budget + tables, plan.peak[int(solver::Tier::Ssd)], plan.ns, countLevers(plan)});
  };
  for (const auto &[budget, plan] : ladder.curve())
    add(budget, *plan);
  std::array<int64_t, kTierCount> capacity;
  for (unsigned tier = 0; tier < kTierCount; ++tier)
    capacity[tier] = extracted.problem.tiers[tier].capacity;
  for (int64_t budget : budgets) {
    capacity[unsigned(Tier::Ram)] = budget;
    if (const solver::Solution *plan = ladder.fastest(capacity))
      add(budget, *plan);
  }
  llvm::stable_sort(
      curve, [](const CurvePoint &a, const CurvePoint &b) { return std::tie(a.ram, a.ns) < std::tie(b.ram, b.ns); });
  return curve;
}
