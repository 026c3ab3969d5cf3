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

FitOutcome fitProgram(plan::ProgramOp program, const plan::FitRequest &request, bool curve,
                      emit::PlanFacts::Program &facts) {
  facts.name = program.getEntry().str(), facts.variant = program.getVariant().str();
  FailureOr<plan::PlanProblem> problem = plan::extractProblem(program, request);
  if (failed(problem))
    return {FitStatus::Internal};
  if (curve)
    for (const plan::CurvePoint &p : plan::curveOf(*problem, request))
      facts.curve.push_back(
          {p.ram, p.ssd, p.ns, p.levers.recomputed, p.levers.spilled, p.levers.streamed, p.levers.moved});
  FailureOr<solver::Solution> solution = plan::solve(*problem, request);
  if (failed(solution))
    return {FitStatus::Budget, problem->need};
  facts.predictedNs = solution->ns;
  if (failed(plan::applySolution(*problem, *solution)) || failed(plan::placeProgram(program)))
    return {FitStatus::Internal};
  return {};
}

/// Constants that one program keeps and another streams.
llvm::StringSet<> disputedConstants(plan::ModuleOp module) {
  llvm::StringSet<> kept, disputed;
  for (bool inFile : {false, true})
    for (auto program : module.getOps<plan::ProgramOp>())
      for (auto resident : program.getOps<plan::ResidentOp>())
        if (inFile != resident.getInFile())
          continue;
        else if (!inFile)
          kept.insert(resident.getSymbol());
        else if (kept.contains(resident.getSymbol()))
          disputed.insert(resident.getSymbol());
  return disputed;
}

/// A program of the module reserves more than the budget, as another one keeps what it streams.
bool exceeds(plan::ModuleOp module, const plan::FitRequest &request) {
  std::optional<int64_t> budget = request.budget[unsigned(plan::Tier::Ram)];
  FailureOr<plan::EncodedTable> table = plan::encodeTable(module);
  if (!budget || failed(table))
    return false;
  const plim_table *t = table->bytes.table();
  for (uint32_t p = 0; p < t->sections[PLIM_SEC_PROGRAMS].count; ++p) {
    uint64_t reserved[PLIM_TIER_COUNT];
    plim_reserved_bytes(t, p, reserved);
    if (int64_t(reserved[PLIM_RAM] + (request.countIO ? plim_io_bytes(t, p) : 0)) > *budget)
      return true;
  }
  return false;
}

/// All programs as the request says; their budgets are recorded as asked.
FitOutcome fitPrograms(plan::ModuleOp module, const plan::FitRequest &request, const plan::FitRequest &asked,
                       bool curve, emit::PlanFacts &facts) {
  facts.programs.clear();
  FitOutcome result;
  for (auto program : llvm::to_vector(module.getOps<plan::ProgramOp>())) {
    FitOutcome outcome = fitProgram(program, request, curve, facts.programs.emplace_back());
    if (outcome.status == FitStatus::Internal)
      return outcome;
    result = {std::max(result.status, outcome.status), std::max(result.need, outcome.need)};
    recordBudget(program, asked);
  }
  return result;
}

void restore(plan::ModuleOp module, plan::ModuleOp from) {
  OwningOpRef<plan::ModuleOp> again = from.clone();
  module.getBody().takeBody(again->getBody());
  module.setIoDepth(again->getIoDepth());
  module.setWeightsBytes(again->getWeightsBytes());
}

} // namespace

FitOutcome fitModule(plan::ModuleOp module, const plan::FitRequest &asked, bool curve, emit::PlanFacts &facts) {
  for (auto program : module.getOps<plan::ProgramOp>())
    if (failed(plan::normalizeScalars(program)))
      return {FitStatus::Internal};
  const std::optional<int64_t> budget = asked.budget[unsigned(plan::Tier::Ram)];
  OwningOpRef<plan::ModuleOp> virtualForm;
  if (llvm::range_size(module.getOps<plan::ProgramOp>()) > 1 && budget && asked.levers.stream)
    virtualForm = module.clone();
  std::vector<Diagnostic> said;
  FitOutcome outcome;
  {
    ScopedDiagnosticHandler keep(module.getContext(), [&](Diagnostic &diagnostic) {
      said.push_back(std::move(diagnostic));
      return success();
    });
    outcome = fitPrograms(module, asked, asked, curve, facts);
  }
  auto say = [&] {
    for (Diagnostic &diagnostic : said)
      module.getContext()->getDiagEngine().emit(std::move(diagnostic));
    return outcome;
  };
  auto settled = [&] {
    return outcome.status == FitStatus::Done && (disputedConstants(module).empty() || !exceeds(module, asked));
  };
  // What one program keeps may leave another no room.
  const bool someFit = llvm::any_of(module.getOps<plan::ProgramOp>(),
                                    [](plan::ProgramOp p) { return p.getStage() == plan::Stage::Placed; });
  if (!virtualForm || outcome.status == FitStatus::Internal || !someFit || settled())
    return say();
  const FitOutcome first = outcome;
  plan::FitRequest request = asked;
  if (first.status == FitStatus::Done)
    for (const auto &name : disputedConstants(module))
      request.kept.insert(name.getKey());
  // Under a smaller budget each of them keeps fewer.
  for (int64_t percent : {90, 80, 70, 60, 50}) {
    ScopedDiagnosticHandler silent(module.getContext(), [](Diagnostic &) { return success(); });
    plan::FitRequest smaller = asked;
    smaller.budget[unsigned(plan::Tier::Ram)] = *budget / 100 * percent;
    restore(module, *virtualForm);
    outcome = fitPrograms(module, smaller, asked, curve, facts);
    if (settled())
      return outcome;
  }
  if (first.status == FitStatus::Budget) {
    outcome = first;
    return say();
  }
  for (;;) {
    restore(module, *virtualForm);
    outcome = fitPrograms(module, request, asked, curve, facts);
    if (outcome.status != FitStatus::Done || settled())
      return outcome;
    for (const auto &name : disputedConstants(module))
      request.kept.insert(name.getKey());
  }
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
