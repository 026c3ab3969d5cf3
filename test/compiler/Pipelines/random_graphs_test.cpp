// The memory contract on random graphs: offsets shared under any budget give the outputs of a plan that shares nothing,
// bit by bit, in poison mode on several threads; and what is planned is what the run reserves, keeps alive and touches.
#include "compiler/Check/CheckTable.h"
#include "mlir/IR/Verifier.h"
#include "test/compiler/Pipelines/PlannedGraph.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace plim::test;
namespace plan = plim::plan;
namespace solver = plim::solver;

namespace {

constexpr int64_t kPage = PLIM_PAGE;

class RandomGraphs : public testing::TestWithParam<unsigned> {
protected:
  static void SetUpTestSuite() { context = makeContext().release(); }
  static void TearDownTestSuite() {
    // Budgets mean something only where there is room between the smallest and the fastest plan.
    if (GTEST_FLAG_GET(filter) == "*")
      EXPECT_GT(withRoom, 40);
    delete context;
    context = nullptr;
  }

  void SetUp() override {
    seed = GetParam();
    graph = makeRandomGraph(*context, seed);
    // Budgets may change the algorithm of attention, but never the bits: flash alone, or those of naive's class.
    if (seed % 3 == 0)
      choice.attention = "flash";
    else
      choice.exactNumerics = true;
    workers = 1 + seed % 4;
  }

  void TearDown() override {
    if (!HasFailure())
      return;
    std::string text;
    llvm::raw_string_ostream out(text);
    out << "seed " << seed << ", workers " << workers << "\n" << *graph.module << "\n";
    if (lastPlan)
      out << lastPlan->module() << "\n";
    fprintf(stderr, "%s", text.c_str());
  }

  VirtualPlan lower() {
    FailureOr<VirtualPlan> lowered = VirtualPlan::lower(graph, workers, choice);
    EXPECT_TRUE(succeeded(lowered));
    if (failed(lowered))
      return VirtualPlan();
    return std::move(*lowered);
  }

  /// Plans under a budget (none: unbounded). Nothing where the budget is refused, which must be what `met` says.
  struct Planned {
    plan::EncodedTable table;
    int64_t ns, peak;
  };
  std::optional<Planned> planFor(std::optional<int64_t> budget, bool met = true) {
    lastPlan = lower();
    if (HasFailure())
      return std::nullopt;
    plan::FitRequest request;
    request.budget[0] = budget;
    lastPlan->problem().problem.tiers[0].capacity = budget.value_or(solver::kUnbounded);
    ScopedDiagnosticHandler quiet(context, [&](Diagnostic &) { return success(!met); });
    FailureOr<solver::Solution> solution = plan::solve(lastPlan->problem(), request);
    EXPECT_EQ(succeeded(solution), met) << "budget " << budget.value_or(-1);
    if (failed(solution) || !met)
      return std::nullopt;
    FailureOr<plan::EncodedTable> table = lastPlan->place(*solution);
    EXPECT_TRUE(succeeded(table) && succeeded(verify(lastPlan->module())));
    if (failed(table))
      return std::nullopt;
    for (const std::string &fault : plim::check::checkTable(table->bytes.table()))
      ADD_FAILURE() << fault;
    if (budget)
      EXPECT_LE(solution->peak[0], *budget);
    return Planned{std::move(*table), solution->ns, solution->peak[0]};
  }

  void makeReference() {
    VirtualPlan apart = lower();
    ASSERT_FALSE(HasFailure());
    inputs = randomInputs(graph, apart, seed);
    FailureOr<plan::EncodedTable> table = apart.place(everyBufferApart(apart.problem().problem));
    ASSERT_TRUE(succeeded(table));
    for (const std::string &fault : plim::check::checkTable(table->bytes.table()))
      ADD_FAILURE() << "without sharing: " << fault;
    RunOutcome outcome = runTable(table->bytes.table(), inputs, 1, 0, 1);
    ASSERT_EQ(outcome.error, "");
    reference = std::move(outcome.outputs);
    // A wrong byte must be seen: nothing may drown in infinities.
    for (auto [i, type] : llvm::enumerate(graph.function.getResultTypes())) {
      if (!cast<RankedTensorType>(type).getElementType().isF32())
        continue;
      const std::vector<char> &bytes = reference.at("result" + std::to_string(i));
      for (size_t at = 0; at < bytes.size(); at += sizeof(float)) {
        float value;
        std::memcpy(&value, bytes.data() + at, sizeof(float));
        ASSERT_TRUE(std::isfinite(value)) << "output " << i << " at byte " << at;
      }
    }
  }

  void expectReference(const Bytes &outputs) {
    ASSERT_EQ(outputs.size(), reference.size());
    for (auto &[name, bytes] : reference) {
      const std::vector<char> &mine = outputs.at(name);
      ASSERT_EQ(mine.size(), bytes.size());
      auto differs = std::mismatch(bytes.begin(), bytes.end(), mine.begin()).first - bytes.begin();
      EXPECT_EQ(size_t(differs), bytes.size()) << "output " << name << " differs first at byte " << differs;
    }
  }

  void runAndCompare(const Planned &planned) {
    const plim_table *table = planned.table.bytes.table();
    RunOutcome outcome = runTable(table, inputs, 3, PLIM_RUN_POISON, 2);
    ASSERT_EQ(outcome.error, "");
    expectReference(outcome.outputs);
    for (int tier = 0; tier < PLIM_TIER_COUNT; ++tier) {
      EXPECT_EQ(outcome.usage.reserved[tier], outcome.usage.planned[tier]) << "tier " << tier;
      EXPECT_EQ(outcome.usage.live[tier], outcome.usage.live_planned[tier]) << "tier " << tier;
      EXPECT_EQ(outcome.usage.touched[tier], outcome.usage.touched_planned[tier]) << "tier " << tier;
    }
    EXPECT_EQ(int64_t(outcome.usage.reserved[0] + outcome.usage.io_bytes), planned.peak);
    if (seed % 20 == 0) {
      RunOutcome guarded = runTable(table, inputs, 2, PLIM_RUN_RED_ZONES, 1);
      ASSERT_EQ(guarded.error, "");
      expectReference(guarded.outputs);
    }
  }

  static MLIRContext *context;
  static int withRoom; // graphs whose smallest plan is smaller than the fastest one
  unsigned seed = 0;
  int64_t workers = 1;
  plim::lowering::KernelChoice choice;
  RandomGraph graph;
  std::optional<VirtualPlan> lastPlan;
  Bytes inputs, reference;
};

MLIRContext *RandomGraphs::context = nullptr;
int RandomGraphs::withRoom = 0;

TEST_P(RandomGraphs, KeepTheMemoryContract) {
  ASSERT_TRUE(succeeded(verify(*graph.module)));
  ASSERT_NO_FATAL_FAILURE(makeReference());
  std::optional<Planned> fastest = planFor(std::nullopt);
  ASSERT_TRUE(fastest);
  runAndCompare(*fastest);

  // Between the smallest budget that is met and the unbounded peak.
  VirtualPlan open = lower();
  open.problem().problem.tiers[0].capacity = 1;
  solver::FitResult refused = solver::fitBudget(open.problem().problem);
  ASSERT_TRUE(refused.refusal);
  int64_t need = refused.refusal->need;
  ASSERT_LE(need, fastest->peak);
  withRoom += need < fastest->peak;
  if (need == fastest->peak && seed % 10)
    return;
  planFor(need - kPage, /*met=*/false);
  int64_t lastNs = INT64_MAX;
  for (int64_t quarter = 0; quarter <= 4 && !HasFailure(); ++quarter) {
    int64_t budget = need + (fastest->peak - need) * quarter / 4;
    std::optional<Planned> planned = planFor(budget);
    ASSERT_TRUE(planned);
    EXPECT_LE(planned->ns, lastNs) << "a larger budget gives a slower plan";
    lastNs = planned->ns;
    runAndCompare(*planned);
    if (need == fastest->peak)
      break;
  }
  EXPECT_EQ(lastNs, fastest->ns);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphs, testing::Range(0u, 1000u));

} // namespace
