//===- PlannerContractTest.cpp - What every plan of every random graph must keep ------------------===//
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/Fit.h"
#include "compiler/Solver/ProblemText.h"
#include "test/compiler/EnvironmentCount.h"
#include "test/compiler/Solver/RandomGraph.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace plim::solver {
namespace {

using testing::IsEmpty;

struct LeverSet {
  const char *name;
  Levers levers;
};

const LeverSet kLeverSets[] = {
    {"order, choose and alias", {}},
    {"none", {.order = false, .choose = false, .alias = false}},
    {"recompute", {.recompute = true}},
    {"spill", {.spill = true}},
    {"stream", {.stream = true}},
    {"move", {.move = true}},
    {"all", {.recompute = true, .spill = true, .stream = true, .move = true}},
    {"all and lend", {.recompute = true, .spill = true, .stream = true, .move = true, .lend = true}},
    {"all but alias", {.alias = false, .recompute = true, .spill = true, .stream = true, .move = true}},
    {"recompute alone", {.order = false, .choose = false, .recompute = true}},
    {"spill and stream alone", {.order = false, .choose = false, .spill = true, .stream = true}},
    {"all but order", {.order = false, .recompute = true, .spill = true, .stream = true, .move = true}},
};

FitOptions quick() {
  FitOptions options;
  options.orderRounds = 20, options.tradeEvaluations = 200, options.packPasses = 6, options.exactNodes = 100;
  options.jointRounds = options.jointRescues = 8, options.rungs = 8;
  options.alternatives = false;
  return options;
}

class Contract {
public:
  Contract(Problem problem, std::string name) : p(std::move(problem)), name(std::move(name)) {}
  int plans = 0, refusals = 0, transfers = 0, recomputed = 0;

  // Budgets of the ram between the smallest that is met and what the fastest plan takes, for rising budgets of the ssd.
  void hold() {
    int64_t fixed = 0; // on the ssd
    for (const FixedCost &f : p.fixed)
      fixed += f.tier == Tier::Ssd ? f.bytes : 0;
    std::vector<int64_t> ssd{fixed};
    if (p.levers.spill)
      ssd = {fixed, fixed + 16384, kUnbounded};
    std::vector<int64_t> before; // ns by budget of the ram, with less ssd
    int64_t needBefore = kUnbounded;
    const std::vector<int64_t> ram = budgets(ssd[0]);
    for (int64_t bytes : ssd) {
      const int64_t need = smallest(bytes);
      EXPECT_LE(need, needBefore) << name << ": the smallest ram budget rises with the ssd's, " << bytes;
      needBefore = need;
      std::vector<int64_t> ns;
      for (int64_t budget : ram) {
        ns.push_back(fit(budget, bytes));
        EXPECT_EQ(ns.back() >= 0, budget >= need) << name << ": ram " << budget << ", ssd " << bytes;
        if (ns.size() > 1 && ns[ns.size() - 2] >= 0) {
          EXPECT_LE(ns.back(), ns[ns.size() - 2]) << name << ": ram " << budget << ", ssd " << bytes;
        }
        if (!before.empty() && before[ns.size() - 1] >= 0) {
          EXPECT_LE(ns.back(), before[ns.size() - 1]) << name << ": ram " << budget << ", ssd " << bytes;
        }
      }
      before = ns;
      if (need > 0) {
        EXPECT_LT(fit(need - 1, bytes), 0) << name;
      }
      EXPECT_GE(fit(need, bytes), 0) << name;
    }
  }

private:
  Problem p;
  const std::string name;

  // The predicted ns, or -1 where it is refused.
  int64_t fit(int64_t ram, int64_t ssd) {
    p.tiers[int(Tier::Ram)].capacity = ram, p.tiers[int(Tier::Ssd)].capacity = ssd;
    const FitResult result = fitBudget(p, quick());
    EXPECT_NE(result.solution.has_value(), result.refusal.has_value()) << name;
    if (!result.solution) {
      ++refusals;
      EXPECT_GT(result.refusal->need, result.refusal->have) << name;
      return -1;
    }
    ++plans;
    for (const Action &a : result.solution->actions)
      transfers += a.queue != Queue::Cpu, recomputed += a.instance > 0;
    EXPECT_THAT(check::checkSolution(p, *result.solution), IsEmpty()) << name << ": ram " << ram << ", ssd " << ssd;
    return result.solution->ns;
  }

  int64_t smallest(int64_t ssd) {
    p.tiers[int(Tier::Ram)].capacity = 0, p.tiers[int(Tier::Ssd)].capacity = ssd;
    const FitResult result = fitBudget(p, quick());
    return result.refusal ? result.refusal->need : 0;
  }

  std::vector<int64_t> budgets(int64_t ssd) {
    const int64_t need = smallest(ssd);
    p.tiers[int(Tier::Ram)].capacity = kUnbounded;
    const FitResult fastest = fitBudget(p, quick());
    const int64_t most = fastest.solution ? fastest.solution->peak[0] : need;
    std::vector<int64_t> result;
    for (int k = -1; k <= 4; ++k)
      result.push_back(need + (std::max(most, need) - need) * k / 4);
    result[0] = need * 3 / 4;
    result.push_back(kUnbounded);
    return result;
  }
};

class PlannerContract : public testing::TestWithParam<int> {
protected:
  static inline int plans = 0, refusals = 0, transfers = 0, recomputed = 0;
  static void TearDownTestSuite() {
    std::printf("%d plans accepted by the checker, %d refusals, %d transfers, %d steps run again\n", plans, refusals,
                transfers, recomputed);
  }
};

TEST_P(PlannerContract, HoldsForBudgetsOfAllTiers) {
  const int n = GetParam();
  const GraphFamily family = kGraphFamilies[n % std::size(kGraphFamilies)];
  const LeverSet &set = kLeverSets[size_t(n) / std::size(kGraphFamilies) % std::size(kLeverSets)];
  Problem p = randomGraph(family, 6 + n % 29, uint64_t(n));
  p.levers = set.levers;
  ASSERT_THAT(validate(p), IsEmpty());
  ASSERT_THAT(unplannable(p), IsEmpty());
  Contract contract(p, std::string(familyName(family)) + ", levers " + set.name);
  contract.hold();
  if (HasFailure())
    std::printf("%s", printProblem(p).c_str());
  plans += contract.plans, refusals += contract.refusals;
  transfers += contract.transfers, recomputed += contract.recomputed;
}

// Every family with every lever set once; more of them with PLIM_CONTRACT_GRAPHS=10000.
INSTANTIATE_TEST_SUITE_P(Graph, PlannerContract, testing::Range(0, test::environmentCount("PLIM_CONTRACT_GRAPHS", 60)));

} // namespace
} // namespace plim::solver
