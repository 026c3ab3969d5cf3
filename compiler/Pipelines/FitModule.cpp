//===- FitModule.cpp - All programs of a module under one budget -------------------------------===//
#include "compiler/Pipelines/FitModule.h"
#include "compiler/Lowering/PlanTable/PlanTable.h"
#include "plim/check.h"

using namespace mlir;

namespace plim {
namespace {

void recordBudget(plan::ProgramOp program, const plan::FitRequest &request) {
  SmallVector<int64_t> budget;
  for (std::optional<int64_t> bytes : request.budget)
    budget.push_back(bytes.value_or(-1));
  if (llvm::any_of(budget, [](int64_t bytes) { return bytes >= 0; }))
    program.setBudgetAttr(plan::TierBytesAttr::get(program.getContext(), budget));
}

FitOutcome fitAlone(plan::ProgramOp program, const plan::FitRequest &request, emit::PlanFacts::Program &facts) {
  FailureOr<plan::PlanProblem> problem = plan::extractProblem(program, request);
  if (failed(problem))
    return {FitStatus::Internal, {}};
  FailureOr<solver::Solution> solution = plan::solve(*problem, request);
  if (failed(solution))
    return {FitStatus::Budget, {std::move(*problem->refusal)}};
  facts.predictedNs = solution->ns;
  if (failed(plan::applySolution(*problem, *solution)) || failed(plan::placeProgram(program)))
    return {FitStatus::Internal, {}};
  recordBudget(program, request);
  return {};
}

/// A program of the module reserves more than the budget.
bool exceeds(plan::ModuleOp module, const plan::FitRequest &request) {
  FailureOr<plan::EncodedTable> table = plan::encodeTable(module);
  if (failed(table))
    return true;
  const plim_table *t = table->bytes.table();
  for (uint32_t p = 0; p < t->sections[PLIM_SEC_PROGRAMS].count; ++p)
    if (ramNeeded(t, p, request.countIO) > *request.budget[unsigned(plan::Tier::Ram)])
      return true;
  return false;
}

/// What is streamed is decided for all programs before any of them gets its places.
FitOutcome fitTogether(plan::ModuleOp module, ArrayRef<plan::ProgramOp> programs, const plan::FitRequest &request,
                       emit::PlanFacts &facts) {
  std::vector<plan::PlanProblem> problems;
  for (plan::ProgramOp program : programs) {
    FailureOr<plan::PlanProblem> problem = plan::extractProblem(program, request);
    if (failed(problem))
      return {FitStatus::Internal, {}};
    problems.push_back(std::move(*problem));
  }
  FitOutcome refused{FitStatus::Budget, {}};
  FailureOr<std::vector<solver::Solution>> solutions = plan::solveTogether(problems, request, refused.refusals);
  if (failed(solutions))
    return refused;
  for (auto [problem, solution] : llvm::zip_equal(problems, *solutions))
    if (failed(plan::applySolution(problem, solution)))
      return {FitStatus::Internal, {}};
  for (auto [program, solution, fact] : llvm::zip_equal(programs, *solutions, facts.programs)) {
    if (failed(plan::placeProgram(program)))
      return {FitStatus::Internal, {}};
    fact.predictedNs = solution.ns;
    recordBudget(program, request);
  }
  if (!exceeds(module, request))
    return {};
  emitError(module.getLoc()) << "internal error: entries that were planned together exceed their budget";
  return {FitStatus::Internal, {}};
}

} // namespace

int64_t FitOutcome::need() const {
  int64_t need = 0;
  for (const plan::PlanRefusal &refusal : refusals)
    need = std::max(need, refusal.need);
  return need;
}

FitOutcome fitModule(plan::ModuleOp module, const plan::FitRequest &request, emit::PlanFacts &facts) {
  SmallVector<plan::ProgramOp> programs(module.getOps<plan::ProgramOp>());
  facts.programs.clear();
  for (plan::ProgramOp program : programs) {
    if (failed(plan::normalizeScalars(program)))
      return {FitStatus::Internal, {}};
    emit::PlanFacts::Program &fact = facts.programs.emplace_back();
    fact.name = program.getEntry().str(), fact.variant = program.getVariant().str();
  }
  if (programs.size() > 1 && request.budget[unsigned(plan::Tier::Ram)] && request.levers.stream)
    return fitTogether(module, programs, request, facts);
  FitOutcome result;
  for (auto [program, fact] : llvm::zip_equal(programs, facts.programs)) {
    FitOutcome outcome = fitAlone(program, request, fact);
    if (outcome.status == FitStatus::Internal)
      return outcome;
    result.status = std::max(result.status, outcome.status);
    llvm::move(outcome.refusals, std::back_inserter(result.refusals));
  }
  return result;
}

std::optional<std::vector<std::vector<plan::CurvePoint>>>
curvesOf(plan::ModuleOp module, const plan::FitRequest &request, ArrayRef<int64_t> budgets) {
  OwningOpRef<plan::ModuleOp> copy = cast<plan::ModuleOp>(module->clone());
  std::vector<std::vector<plan::CurvePoint>> curves;
  for (auto program : copy->getOps<plan::ProgramOp>()) {
    if (failed(plan::normalizeScalars(program)))
      return std::nullopt;
    FailureOr<plan::PlanProblem> problem = plan::extractProblem(program, request);
    if (failed(problem))
      return std::nullopt;
    curves.push_back(plan::curveOf(*problem, request, budgets));
  }
  return curves;
}

int64_t ramNeeded(const plim_table *table, uint32_t program, bool countIO) {
  uint64_t reserved[PLIM_TIER_COUNT];
  plim_reserved_bytes(table, program, reserved);
  return int64_t(reserved[PLIM_RAM] + (countIO ? plim_io_bytes(table, program) : 0));
}

void hashStreamedConstants(plan::ModuleOp module) {
  module.walk([&](plan::CopyOp copy) {
    auto resident = copy.getSrc().getDefiningOp<plan::ResidentOp>();
    if (!resident || !resident.getInFile())
      return;
    if (auto constant = cast_or_null<plan::ConstantOp>(SymbolTable::lookupSymbolIn(module, resident.getSymbolAttr())))
      copy.setHash(constant.getHash());
  });
}

} // namespace plim
