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

/// Extracts a program's problem, and says what it takes at other budgets.
FailureOr<plan::PlanProblem> extract(plan::ProgramOp program, const plan::FitRequest &request, bool curve,
                                     emit::PlanFacts::Program &facts) {
  facts.name = program.getEntry().str(), facts.variant = program.getVariant().str();
  FailureOr<plan::PlanProblem> problem = plan::extractProblem(program, request);
  if (succeeded(problem) && curve)
    for (const plan::CurvePoint &p : plan::curveOf(*problem, request))
      facts.curve.push_back(
          {p.ram, p.ssd, p.ns, p.levers.recomputed, p.levers.spilled, p.levers.streamed, p.levers.moved});
  return problem;
}

FitOutcome fitAlone(plan::ProgramOp program, const plan::FitRequest &request, bool curve,
                    emit::PlanFacts::Program &facts) {
  FailureOr<plan::PlanProblem> problem = extract(program, request, curve, facts);
  if (failed(problem))
    return {FitStatus::Internal};
  FailureOr<solver::Solution> solution = plan::solve(*problem, request);
  if (failed(solution))
    return {FitStatus::Budget, problem->need};
  facts.predictedNs = solution->ns;
  if (failed(plan::applySolution(*problem, *solution)) || failed(plan::placeProgram(program)))
    return {FitStatus::Internal};
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
                       bool curve, emit::PlanFacts &facts) {
  std::vector<plan::PlanProblem> problems;
  for (plan::ProgramOp program : programs) {
    FailureOr<plan::PlanProblem> problem = extract(program, request, curve, facts.programs.emplace_back());
    if (failed(problem))
      return {FitStatus::Internal};
    problems.push_back(std::move(*problem));
  }
  int64_t need = 0;
  FailureOr<std::vector<solver::Solution>> solutions = plan::solveTogether(problems, request, need);
  if (failed(solutions))
    return {FitStatus::Budget, need};
  for (auto [problem, solution] : llvm::zip_equal(problems, *solutions))
    if (failed(plan::applySolution(problem, solution)))
      return {FitStatus::Internal};
  for (auto [program, solution, fact] : llvm::zip_equal(programs, *solutions, facts.programs)) {
    if (failed(plan::placeProgram(program)))
      return {FitStatus::Internal};
    fact.predictedNs = solution.ns;
    recordBudget(program, request);
  }
  if (!exceeds(module, request))
    return {};
  emitError(module.getLoc()) << "internal error: entries that were planned together exceed their budget";
  return {FitStatus::Internal};
}

} // namespace

FitOutcome fitModule(plan::ModuleOp module, const plan::FitRequest &request, bool curve, emit::PlanFacts &facts) {
  SmallVector<plan::ProgramOp> programs(module.getOps<plan::ProgramOp>());
  for (plan::ProgramOp program : programs)
    if (failed(plan::normalizeScalars(program)))
      return {FitStatus::Internal};
  facts.programs.clear();
  if (programs.size() > 1 && request.budget[unsigned(plan::Tier::Ram)] && request.levers.stream)
    return fitTogether(module, programs, request, curve, facts);
  FitOutcome result;
  for (plan::ProgramOp program : programs) {
    FitOutcome outcome = fitAlone(program, request, curve, facts.programs.emplace_back());
    if (outcome.status == FitStatus::Internal)
      return outcome;
    result = {std::max(result.status, outcome.status), std::max(result.need, outcome.need)};
  }
  return result;
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
