//===- FitModule.cpp - All programs of a module under one budget -------------------------------===//
#include "compiler/Pipelines/FitModule.h"
#include "compiler/Lowering/PlanTable/PlanTable.h"
#include "plim/check.h"

using namespace mlir;

namespace plim {
namespace {

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
  SmallVector<int64_t> budget;
  for (std::optional<int64_t> bytes : request.budget)
    budget.push_back(bytes.value_or(-1));
  if (llvm::any_of(budget, [](int64_t bytes) { return bytes >= 0; }))
    program.setBudgetAttr(plan::TierBytesAttr::get(program.getContext(), budget));
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

} // namespace

FitOutcome fitModule(plan::ModuleOp module, const plan::FitRequest &asked, bool curve, emit::PlanFacts &facts) {
  for (auto program : module.getOps<plan::ProgramOp>())
    if (failed(plan::normalizeScalars(program)))
      return {FitStatus::Internal};
  const bool several = llvm::range_size(module.getOps<plan::ProgramOp>()) > 1;
  OwningOpRef<plan::ModuleOp> virtualForm;
  if (several && asked.budget[unsigned(plan::Tier::Ram)] && asked.levers.stream)
    virtualForm = module.clone();
  for (plan::FitRequest request = asked;;) {
    facts.programs.clear();
    FitOutcome result;
    for (auto program : llvm::to_vector(module.getOps<plan::ProgramOp>())) {
      FitOutcome outcome = fitProgram(program, request, curve, facts.programs.emplace_back());
      if (outcome.status == FitStatus::Internal)
        return outcome;
      result = {std::max(result.status, outcome.status), std::max(result.need, outcome.need)};
    }
    llvm::StringSet<> disputed = disputedConstants(module);
    if (result.status != FitStatus::Done || !virtualForm || disputed.empty() || !exceeds(module, request))
      return result;
    for (const auto &name : disputed)
      request.kept.insert(name.getKey());
    OwningOpRef<plan::ModuleOp> again = virtualForm->clone();
    module.getBody().takeBody(again->getBody());
    module.setIoDepth(again->getIoDepth());
    module.setWeightsBytes(again->getWeightsBytes());
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
