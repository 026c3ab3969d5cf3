// The memory contract on random plans, from the problem to the run: under any budget of any tier and any set of levers
// the solution and the table pass the checkers, the run in poison mode has the bits of a walk that plans nothing,
// reserves, keeps alive and touches what was planned to the byte, and allocates nothing.
#include "compiler/Check/CheckSolution.h"
#include "compiler/Check/CheckTable.h"
#include "compiler/Solver/Bound/Bound.h"
#include "compiler/Solver/ProblemText.h"
#include "mlir/IR/Diagnostics.h"
#include "test/compiler/Contract/PlannedPlan.h"
#include "test/compiler/EnvironmentCount.h"
#include "test/compiler/Lowering/PlanProblem/ScrambledSchedule.h"
#include "test/runtime/SsdPlan.h"
#include "gtest/gtest.h"
#include <set>

using namespace mlir;
using namespace plim::test;
namespace plan = plim::plan;
namespace solver = plim::solver;

namespace {

struct Totals {
  int64_t plans = 0, runs = 0, refused = 0, room = 0, loops = 0, branches = 0, states = 0;
  int64_t recomputed = 0, spilled = 0, streamed = 0, moved = 0, elided = 0;
};

class Contract : public testing::TestWithParam<int> {
protected:
  static inline MLIRContext *context = nullptr;
  static inline Totals totals;

  static void SetUpTestSuite() { context = contractContext().release(); }
  static void TearDownTestSuite() {
    delete context;
    context = nullptr;
    const Totals &t = totals;
    std::printf(
        "%ld plans, %ld of them with room between the smallest and the fastest plan; %ld budgets refused; %ld "
        "plans run, %ld of them with loops, %ld with branches, %ld with states; in all %ld steps run again, %ld "
        "spills, %ld reads of constants, %ld slides, %ld steps that vanished\n",
        t.plans, t.room, t.refused, t.runs, t.loops, t.branches, t.states, t.recomputed, t.spilled, t.streamed, t.moved,
        t.elided);
    // The claim is about plans that have all of these.
    if (t.plans < 900)
      return;
    for (int64_t count : {t.room, t.loops, t.branches, t.states, t.recomputed, t.spilled, t.streamed, t.elided})
      EXPECT_GT(count, 100);
    EXPECT_GT(t.moved, 10);
  }

  void SetUp() override { setting = settingOf(unsigned(GetParam())); }

  PlannedPlan fresh() {
    FailureOr<PlannedPlan> made = PlannedPlan::make(*context, setting, dropped);
    EXPECT_TRUE(succeeded(made));
    return succeeded(made) ? std::move(*made) : PlannedPlan();
  }

  std::string where() const {
    return "plan " + std::to_string(setting.seed) + ", levers " + setting.levers + ", budget " + std::to_string(budget);
  }

  /// What the plan comes to without a planner, in the numerics classes that the solution takes.
  const std::vector<Bytes> &reference(const NumericsClasses &classes) {
    auto [known, isNew] = references.try_emplace(classes);
    if (!isNew)
      return known->second;
    PlanStyle uncut = setting.style;
    uncut.inPieces = false;
    RandomPlan source = makeRandomPlan(*context, setting.seed, uncut);
    Unplanned unplanned(*source.module, inputsOf(*source.module, setting.seed), classes);
    for (size_t run = 0; run < kRuns; ++run)
      known->second.push_back(unplanned.run());
    return known->second;
  }

  /// Applies the solution and runs what it becomes.
  void keepsTheContract(PlannedPlan planned, solver::Solution solution) {
    const solver::Problem &p = planned.extracted().problem;
    for (const std::string &fault : plim::check::checkSolution(p, solution, plim::check::IgnoreCapacity::Yes))
      ADD_FAILURE() << where() << ": " << fault;
    const NumericsClasses classes = planned.classesOf(solution);
    RunOptions options;
    FailureOr<plan::EncodedTable> table = planned.encode(solution, folder.path, options.weights);
    ASSERT_TRUE(succeeded(table)) << where();
    for (const std::string &fault : plim::check::checkTable(table->bytes.table()))
      ADD_FAILURE() << where() << ": " << fault;
    options.spillFolder = folder.path;
    options.threads = 1 + setting.seed % 3;
    const plim_io_way ways[] = {PLIM_IO_ANY, PLIM_IO_URING, PLIM_IO_THREADS};
    options.way = ways[setting.seed / 3 % 3];
    if (setting.seed % 16 == 0)
      options.runs.push_back(PLIM_RUN_RED_ZONES);
    const RunReport report = runPlan(table->bytes.table(), inputsOf(*planned.source().module, setting.seed), options);
    EXPECT_EQ(differenceTo(reference(classes), report, !planned.source().hasBranch), "") << where();
    EXPECT_EQ(int64_t(report.usage.planned[PLIM_RAM] + report.usage.io_bytes), solution.peak[int(solver::Tier::Ram)])
        << where();
    EXPECT_EQ(int64_t(report.usage.planned[PLIM_SSD]), solution.peak[int(solver::Tier::Ssd)]) << where();
    totals.loops += planned.source().hasLoop, totals.branches += planned.source().hasBranch;
    totals.states += planned.source().hasState;
    const plan::LeverCounts counts = plan::countLevers(solution);
    totals.recomputed += counts.recomputed, totals.spilled += counts.spilled, totals.streamed += counts.streamed;
    totals.moved += counts.moved;
    totals.elided += llvm::count_if(
        solution.actions, [](const solver::Action &action) { return action.kind == solver::ActionKind::Elided; });
    ++totals.runs;
  }

  /// Takes aliases out of the plan's problem. Their numbers are those of the problem without what is out already.
  void drop(const std::set<int> &numbers) {
    std::set<int> more;
    for (int number : numbers) {
      for (int gone : dropped)
        number += gone <= number;
      more.insert(number);
    }
    more.insert(dropped.begin(), dropped.end());
    dropped.assign(more.begin(), more.end());
  }

  void ladderHolds();
  void requestHolds();
  void scrambledHolds();

  static constexpr size_t kRuns = 3; // at most
  PlanSetting setting;
  std::vector<int> dropped; // aliases that no shape can follow, by rising number
  int64_t budget = 0;
  Folder folder;
  std::map<NumericsClasses, std::vector<Bytes>> references;
};

/// Plans between the smallest and the fastest, by budgets that do not count what the runtime reserves for transfers:
/// plans this small would have none otherwise.
void Contract::ladderHolds() {
  std::vector<std::pair<int64_t, solver::Solution>> found; // by budget
  bool again = true;
  while (again) {
    found.clear();
    PlannedPlan open = fresh();
    const solver::Problem &p = open.extracted().problem;
    solver::Ladder ladder(p, setting.request.options);
    std::array<int64_t, solver::kTierCount> capacity;
    for (int tier = 0; tier < solver::kTierCount; ++tier)
      capacity[size_t(tier)] = p.tiers[size_t(tier)].capacity;
    constexpr size_t ram = size_t(solver::Tier::Ram);
    const int64_t need = ladder.smallest().peak[ram];
    const solver::LeastBytes least = solver::leastBytes(p, {.backwardWork = 20000, .cutWork = 20000});
    EXPECT_LE(least.bytes, need) << where() << ": " << explain(p, least) << "\n"
                                 << printProblem(p) << printSolution(ladder.smallest());
    for (int64_t below : {least.bytes - 1, need - 1}) {
      capacity[ram] = below;
      EXPECT_EQ(ladder.fastest(capacity), nullptr) << where() << ": need " << need << ", met " << below;
      ++totals.refused;
    }
    capacity[ram] = solver::kUnbounded;
    const solver::Solution *fastest = ladder.fastest(capacity);
    ASSERT_TRUE(fastest) << where();
    const int64_t most = fastest->peak[ram];
    for (int64_t third = 0; third <= 3; ++third) {
      capacity[ram] = budget = need + std::max<int64_t>(0, most - need) * third / 3;
      const solver::Solution *solution = ladder.fastest(capacity);
      ASSERT_TRUE(solution) << where() << ": need " << need;
      EXPECT_LE(solution->peak[ram], budget) << where();
      if (!found.empty())
        EXPECT_LE(solution->ns, found.back().second.ns) << where() << ": a larger budget gives a slower plan";
      if (found.empty() || !(solution->actions == found.back().second.actions))
        found.emplace_back(budget, *solution);
    }
    std::set<int> without;
    for (const auto &[bytes, solution] : found)
      for (int alias : plan::aliasesWithoutShape(open.extracted(), solution))
        without.insert(alias);
    again = !without.empty();
    drop(without);
  }
  totals.room += found.size() > 1, ++totals.plans;
  for (auto &[bytes, solution] : found) {
    budget = bytes;
    keepsTheContract(fresh(), std::move(solution));
  }
}

/// As a compile does it: whatever transfers reserve counts against the budget.
void Contract::requestHolds() {
  auto solved = [&](std::optional<int64_t> ram, PlannedPlan &planned) {
    setting.request.budget[unsigned(plan::Tier::Ram)] = ram;
    planned = fresh();
    ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
    return plan::solve(planned.extracted(), setting.request);
  };
  PlannedPlan open, refused;
  FailureOr<solver::Solution> fastest = solved(std::nullopt, open);
  ASSERT_TRUE(succeeded(fastest)) << where();
  const int64_t most = fastest->peak[int(solver::Tier::Ram)];
  ASSERT_TRUE(failed(solved(1, refused))) << where();
  const int64_t need = refused.extracted().refusal->need;
  ASSERT_LE(need, most) << where();
  EXPECT_TRUE(failed(solved(need - PLIM_PAGE - 1, refused))) << where();
  totals.refused += 2, totals.room += need < most, ++totals.plans;
  int64_t lastNs = INT64_MAX;
  for (int64_t third = 0; third <= 3; ++third) {
    budget = need + (most - need) * third / 3;
    PlannedPlan planned;
    FailureOr<solver::Solution> solution = solved(budget, planned);
    ASSERT_TRUE(succeeded(solution)) << where() << ": need " << need;
    EXPECT_LE(solution->peak[int(solver::Tier::Ram)], budget) << where();
    EXPECT_LE(solution->ns, lastNs) << where() << ": a larger budget gives a slower plan";
    lastNs = solution->ns;
    keepsTheContract(std::move(planned), std::move(*solution));
  }
}

/// Transfers and recomputation without any aim, which is more of them than a planner would have.
void Contract::scrambledHolds() {
  setting.request.levers = plan::kAllLevers, setting.levers = "all, scrambled";
  setting.request.budget[unsigned(plan::Tier::Ssd)] = int64_t(1) << 30;
  dropped.clear();
  for (;;) {
    PlannedPlan planned = fresh();
    const solver::Problem &p = planned.extracted().problem;
    solver::Solution solution = assembled(p, scrambled(p, setting.seed));
    const SmallVector<int> without = plan::aliasesWithoutShape(planned.extracted(), solution);
    if (without.empty())
      return keepsTheContract(std::move(planned), std::move(solution));
    drop({without.begin(), without.end()});
  }
}

TEST_P(Contract, HoldsUnderBudgets) {
  if (setting.style.large)
    requestHolds();
  else
    ladderHolds();
}

TEST_P(Contract, HoldsForAnySchedule) { scrambledHolds(); }

// More of them with PLIM_CONTRACT_PLANS=10000.
INSTANTIATE_TEST_SUITE_P(Plans, Contract, testing::Range(0, environmentCount("PLIM_CONTRACT_PLANS", 1000)));

} // namespace
