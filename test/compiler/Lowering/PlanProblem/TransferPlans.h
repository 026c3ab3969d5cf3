//===- TransferPlans.h - Schedules by hand, and plans made of them ---------------------------*- C++ -*-===//
#ifndef PLIM_TEST_COMPILER_LOWERING_PLANPROBLEM_TRANSFERPLANS_H
#define PLIM_TEST_COMPILER_LOWERING_PLANPROBLEM_TRANSFERPLANS_H

#include "compiler/Check/CheckSolution.h"
#include "compiler/Check/CheckTable.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"
#include "compiler/Lowering/PlanTable/PlanTable.h"
#include "compiler/Pipelines/Register.h"
#include "compiler/Solver/Unroll.h"
#include "plim/check.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <map>

namespace plim::test {

namespace solver = plim::solver;
using mlir::failed, mlir::FailureOr, mlir::OwningOpRef, mlir::succeeded;
using plan::EncodedTable, plan::PlanProblem, plan::ProgramOp, plan::TableBytes;
using testing::IsEmpty;

/// Makes a schedule by hand. Buffers are named as in the problem; each call takes the newest instance in its tier.
class Scheduler {
public:
  explicit Scheduler(const solver::Problem &problem) : p(problem), newest(problem.buffers.size(), -1) {
    solver::Draft draft = solver::fastestDraft(p);
    schedule.choices = draft.choices, candidates = draft.candidates;
    for (int b = 0; b < int(p.buffers.size()); ++b)
      if (p.buffers[b].kind != solver::BufferKind::Transient)
        newest[b] = instance(b, solver::Tier::Ram);
  }

  /// The constant stays in its file.
  void stream(int buffer) {
    schedule.instances[newest[buffer]].tier = solver::Tier::Ssd;
    files[buffer] = newest[buffer];
  }
  /// Of a streamed constant, only the file is left.
  void forget(int buffer) {
    if (auto file = files.find(buffer); file != files.end())
      newest[buffer] = file->second;
  }
  bool onSsd(int buffer) const { return schedule.instances[newest[buffer]].tier == solver::Tier::Ssd; }

  void run(int step) {
    solver::Action action;
    action.step = step, action.candidate = candidates[step];
    for (int b : p.steps[step].reads)
      action.reads.push_back(newest[b]);
    for (int b : p.steps[step].writes) {
      if (p.buffers[b].kind == solver::BufferKind::Transient)
        newest[b] = instance(b, solver::Tier::Ram);
      action.writes.push_back(newest[b]);
    }
    schedule.actions.push_back(std::move(action));
  }

  /// Copies the newest instance, which becomes the one in this tier. Returns the action, for wait.
  int copy(int buffer, solver::Tier to) {
    solver::Action action{.kind = solver::ActionKind::Copy};
    action.reads = {newest[buffer]};
    action.queue = to == solver::Tier::Ssd ? solver::Queue::Write : solver::Queue::Read;
    newest[buffer] = instance(buffer, to);
    action.writes = {newest[buffer]};
    schedule.actions.push_back(std::move(action));
    return int(schedule.actions.size()) - 1;
  }
  void wait(std::vector<int> copies) {
    solver::Action action{.kind = solver::ActionKind::Wait};
    action.waits = std::move(copies);
    schedule.actions.push_back(std::move(action));
  }

  solver::Schedule schedule;

private:
  int instance(int buffer, solver::Tier tier) {
    schedule.instances.push_back({buffer, tier});
    return int(schedule.instances.size()) - 1;
  }

  const solver::Problem &p;
  std::vector<int> newest;  // by buffer
  std::map<int, int> files; // by streamed constant
  std::vector<int> candidates;
};

inline solver::Solution assembled(const solver::Problem &problem, const solver::Schedule &schedule) {
  solver::PackOptions options;
  options.passes = 8, options.exactNodes = 0;
  const solver::Unrolled unrolled(problem, schedule);
  return solver::assemble(unrolled, unrolled.draft, options);
}

class TransferPlans : public testing::Test {
protected:
  TransferPlans() : context(registry()) {
    context.disableMultithreading();
    context.loadAllAvailableDialects();
  }

  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    plim::registerAllPlimDialects(registry);
    return registry;
  }

  void parse(const char *text) {
    module = mlir::parseSourceString<plim::plan::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
  }

  void extract() {
    auto program = *module->getBody().getOps<ProgramOp>().begin();
    plan::FitRequest request;
    request.budget[unsigned(plan::Tier::Ssd)] = int64_t(1) << 30;
    ASSERT_TRUE(succeeded(normalizeScalars(program)));
    FailureOr<PlanProblem> result = extractProblem(program, request);
    ASSERT_TRUE(succeeded(result));
    extracted = std::make_unique<PlanProblem>(std::move(*result));
  }

  /// Applies, places and encodes; the table passes all checks and says what the solution says.
  void apply(solver::Solution solution) {
    ASSERT_TRUE(countTables(*extracted, solution));
    ASSERT_THAT(plim::check::checkSolution(extracted->problem, solution), IsEmpty());
    ASSERT_TRUE(succeeded(applySolution(*extracted, solution)));
    ASSERT_TRUE(succeeded(mlir::verify(*module)));
    ASSERT_TRUE(succeeded(placeProgram(extracted->program)));
    ASSERT_TRUE(succeeded(mlir::verify(*module)));
    FailureOr<EncodedTable> encoded = encodeTable(*module);
    ASSERT_TRUE(succeeded(encoded));
    table = std::make_unique<EncodedTable>(std::move(*encoded));
    EXPECT_THAT(plim::check::checkTable(table->bytes.table()), IsEmpty());
    FailureOr<OwningOpRef<plim::plan::ModuleOp>> again =
        plan::decodeTable(&context, table->bytes.data(), table->evalText);
    ASSERT_TRUE(succeeded(again));
    FailureOr<EncodedTable> twice = encodeTable(**again);
    ASSERT_TRUE(succeeded(twice));
    EXPECT_EQ(twice->bytes.data(), table->bytes.data());
    uint64_t reserved[PLIM_TIER_COUNT];
    ASSERT_EQ(plim_reserved_bytes(table->bytes.table(), 0, reserved), PLIM_OK);
    int64_t ram = int64_t(reserved[PLIM_RAM] + plim_io_bytes(table->bytes.table(), 0));
    EXPECT_EQ(ram, solution.peak[0]);
    EXPECT_EQ(int64_t(reserved[PLIM_SSD]), solution.peak[int(solver::Tier::Ssd)]);
  }

  template <typename Record> static Record *records(TableBytes &bytes, plim_section section) {
    return reinterpret_cast<Record *>(bytes.writable() + bytes.table()->sections[section].offset);
  }

  mlir::MLIRContext context;
  OwningOpRef<plim::plan::ModuleOp> module;
  std::unique_ptr<PlanProblem> extracted;
  std::unique_ptr<EncodedTable> table;
};

} // namespace plim::test

#endif // PLIM_TEST_COMPILER_LOWERING_PLANPROBLEM_TRANSFERPLANS_H
