// Whatever a planner might do with a random program - run steps again, spill, stream - becomes a plan that passes all
// checks.
#include "test/compiler/Lowering/PlanProblem/RandomProgram.h"
#include "test/compiler/Lowering/PlanProblem/ScrambledSchedule.h"

using namespace plim::plan;
using namespace plim::test;

namespace {

class ScrambledPlans : public TransferPlans, public testing::WithParamInterface<unsigned> {};

TEST_P(ScrambledPlans, PassAllChecks) {
  module = plim::test::randomProgram(context, GetParam());
  extract();
  for (solver::Buffer &buffer : extracted->problem.buffers)
    buffer.movable |= buffer.kind == solver::BufferKind::Constant; // one that is small, in this case
  for (;;) {
    solver::Solution solution = assembled(extracted->problem, scrambled(extracted->problem, GetParam()));
    llvm::SmallVector<int> without = aliasesWithoutShape(*extracted, solution);
    if (without.empty()) {
      apply(solution);
      break;
    }
    for (int alias : llvm::reverse(without))
      extracted->problem.aliases.erase(extracted->problem.aliases.begin() + alias);
  }
  if (::testing::Test::HasFailure())
    module->dump();
}

INSTANTIATE_TEST_SUITE_P(Seeds, ScrambledPlans, testing::Range(0u, 120u));

} // namespace
