// Random programs, planned under random budgets, pass the runtime's check and the independent replay of their table;
// what the planner says it needs is what the runtime reserves, to the byte.
#include "compiler/Check/CheckTable.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"
#include "compiler/Lowering/PlanTable/PlanTable.h"
#include "compiler/Pipelines/Register.h"
#include "plim/check.h"
#include "test/compiler/Lowering/PlanProblem/RandomProgram.h"

#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace plim::plan;
namespace solver = plim::solver;

namespace {

class RandomPlans : public testing::TestWithParam<unsigned> {};

TEST_P(RandomPlans, FitPlaceEncodeAndPassTheIndependentCheck) {
  DialectRegistry registry;
  plim::registerAllPlimDialects(registry);
  MLIRContext context(registry);
  context.disableMultithreading();
  context.loadAllAvailableDialects();
  std::optional<int64_t> smallest;
  for (bool tight : {false, true}) {
    OwningOpRef<plim::plan::ModuleOp> module = plim::test::randomProgram(context, GetParam());
    ASSERT_TRUE(succeeded(verify(*module)));
    auto program = *module->getBody().getOps<ProgramOp>().begin();
    FitRequest request;
    if (tight)
      request.budget[0] = smallest;
    ASSERT_TRUE(succeeded(normalizeScalars(program)));
    FailureOr<PlanProblem> problem = extractProblem(program, request);
    ASSERT_TRUE(succeeded(problem));
    if (!tight) {
      solver::Ladder ladder(problem->problem);
      smallest = ladder.smallest().peak[0];
    }
    FailureOr<solver::Solution> solution = solve(*problem, request);
    ASSERT_TRUE(succeeded(solution));
    ASSERT_TRUE(succeeded(applySolution(*problem, *solution)));
    ASSERT_TRUE(succeeded(verify(*module)));
    ASSERT_TRUE(succeeded(placeProgram(program)));
    ASSERT_TRUE(succeeded(verify(*module)));
    FailureOr<EncodedTable> table = encodeTable(*module);
    ASSERT_TRUE(succeeded(table));
    std::vector<std::string> faults = plim::check::checkTable(table->bytes.table());
    EXPECT_TRUE(faults.empty()) << faults.front();
    uint64_t reserved[PLIM_TIER_COUNT];
    ASSERT_EQ(plim_reserved_bytes(table->bytes.table(), 0, reserved), PLIM_OK);
    EXPECT_EQ(int64_t(reserved[0] + plim_io_bytes(table->bytes.table(), 0)), solution->peak[0]);
    if (::testing::Test::HasFailure()) {
      module->dump();
      return;
    }
    FailureOr<OwningOpRef<plim::plan::ModuleOp>> again = decodeTable(&context, table->bytes.data(), table->evalText);
    ASSERT_TRUE(succeeded(again));
    FailureOr<EncodedTable> twice = encodeTable(**again);
    ASSERT_TRUE(succeeded(twice));
    EXPECT_EQ(twice->bytes.data(), table->bytes.data());
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPlans, testing::Range(0u, 120u));

} // namespace
