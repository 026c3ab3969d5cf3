//===- Solve.cpp - From a request to a tiered program, or a refusal --------------------------------------===//

#include "compiler/Lowering/PlanProblem/FixedCosts.h"
#include "compiler/Lowering/PlanProblem/PlanProblem.h"
#include "compiler/Lowering/PlanTable/PlanTable.h"
#include "compiler/Solver/Bound/Bound.h"
#include "dialects/Plan/PlanSteps.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace plim::plan;
namespace solver = plim::solver;

SmallVector<int> plim::plan::aliasesWithoutShape(const PlanProblem &extracted, const solver::Solution &solution) {
  llvm::SmallSetVector<int, 4> dropped;
  for (const solver::Action &action : solution.actions) {
    if (action.kind != solver::ActionKind::Run)
      continue;
    bool impossible = false;
    remainingCopies(extracted, solution, action, impossible);
    if (impossible)
      for (const std::vector<int> *places : {&action.reads, &action.writes})
        for (int number : *places)
          if (int alias = solution.places[number].alias;
              alias >= 0 && extracted.problem.aliases[alias].step == action.step &&
              extracted.problem.aliases[alias].kind != solver::AliasKind::InPlace)
            dropped.insert(alias);
    DenseMap<int, const solver::Place *> strided; // by buffer
    for (const std::vector<int> *places : {&action.reads, &action.writes})
      for (int number : *places)
        if (solution.places[number].run)
          strided[solution.places[number].buffer] = &solution.places[number];
    if (strided.empty())
      continue;
    extracted.steps[action.step]->walk([&](Operation *op) {
      auto launch = dyn_cast<LaunchOp>(op);
      for (auto [index, use] : llvm::enumerate(bufferUses(op))) {
        Value value = use.operand->get();
        const solver::Place *place = strided.lookup(extracted.buffers.lookup(rootBuffer(value)));
        if (!place || place->buffer != extracted.buffers.lookup(rootBuffer(value)))
          continue;
        bool follows = launch && index < launch.getBuffers().size() && rootBuffer(value) == value &&
                       stridedAccess(launch.getAccess(unsigned(index)), extracted.problem.buffers[place->buffer].bytes,
                                     place->run, place->stride);
        if (!follows)
          dropped.insert(place->alias);
      }
    });
  }
  SmallVector<int> sorted(dropped.begin(), dropped.end());
  llvm::sort(sorted);
  return sorted;
}

void PlanRefusal::emit() const {
  // At the location alone: the text of the program itself would bury the notes.
  InFlightDiagnostic diagnostic = emitError(where);
  diagnostic << error;
  if (!proof.empty())
    diagnostic.attachNote() << proof;
  for (const std::string &note : notes)
    diagnostic.attachNote() << note;
}

/// The planner's own text has one statement a line, of which the first says need and have.
static LogicalResult refuse(PlanProblem &extracted, solver::Refusal refusal) {
  if (refusal.tier == solver::Tier::Ram && extracted.sharedNeed)
    refusal.need = *extracted.sharedNeed;
  PlanRefusal &result = extracted.refusal.emplace(
      PlanRefusal{extracted.program.getLoc(), refusal.tier == solver::Tier::Ram ? refusal.need : solver::kUnbounded});
  result.proof = refusal.provedText();
  refusal.proof.clear();
  SmallVector<StringRef> lines;
  const std::string message = refusal.message();
  StringRef(message).split(lines, '\n', -1, /*KeepEmpty=*/false);
  result.error = lines.front().str();
  for (StringRef line : ArrayRef(lines).drop_front())
    result.notes.push_back(line.str());
  return failure();
}

bool plim::plan::countTables(PlanProblem &extracted, solver::Solution &solution) {
  constexpr int ram = int(solver::Tier::Ram);
  solver::Problem &problem = extracted.problem;
  solver::FixedCost &tables = problem.fixed.front();
  int64_t more = tableBytes(extracted.program, solution) - tables.bytes;
  tables.bytes += more;
  solution.fixed[ram] += more;
  solution.peak[ram] += more;
  return solution.peak[ram] <= problem.tiers[ram].capacity;
}

bool plim::plan::dropAliases(PlanProblem &extracted, const solver::Solution &solution) {
  SmallVector<int> dropped = aliasesWithoutShape(extracted, solution);
  for (int number : llvm::reverse(dropped))
    extracted.problem.aliases.erase(extracted.problem.aliases.begin() + number);
  return !dropped.empty();
}

/// Aliases that the fastest plan without a budget takes and no kernel can follow go before a ladder is made, which
/// would be made again without them.
static void dropAliasesOfFastest(PlanProblem &extracted, solver::FitOptions options) {
  std::array<int64_t, kTierCount> unbounded;
  unbounded.fill(solver::kUnbounded);
  options.quick = true, options.packPasses = 1, options.exactNodes = 0, options.store = nullptr;
  for (bool dropped = true; dropped;) {
    solver::Ladder ladder(extracted.problem, options);
    const solver::Solution *plan = ladder.fastest(unbounded);
    dropped = plan && dropAliases(extracted, *plan);
  }
}

static bool mayTransfer(const solver::Problem &problem) {
  auto movable = [&](solver::BufferKind kind) {
    return llvm::any_of(problem.buffers, [&](const solver::Buffer &b) { return b.kind == kind && b.movable; });
  };
  return (problem.levers.stream && movable(solver::BufferKind::Constant)) ||
         (problem.levers.spill && problem.tiers[int(solver::Tier::Ssd)].capacity > 0 &&
          movable(solver::BufferKind::Transient));
}

/// A plan that fits with the tables of its transfers, or a refusal. Where a plan has more transfers than were counted,
/// it is looked for again with these counted.
static solver::FitResult fitWithTables(PlanProblem &extracted, const solver::FitOptions &options) {
  for (;;) {
    solver::FitResult fit = solver::fitBudget(extracted.problem, options);
    if (fit.refusal || (!dropAliases(extracted, *fit.solution) && countTables(extracted, *fit.solution)))
      return fit;
  }
}

/// Of the ladder's plans, the fastest that fits with the tables of its transfers, which are counted; nothing where none
/// does. All come from one ladder, whose plans do not depend on the budget. `isFastest`: no plan of any kind is faster.
static std::optional<solver::Solution> fastestWithTables(PlanProblem &extracted, const solver::FitOptions &options,
                                                         bool &isFastest) {
  constexpr size_t ram = size_t(solver::Tier::Ram);
  const int64_t without = extracted.problem.fixed.front().bytes, budget = extracted.problem.tiers[ram].capacity;
  // Any plan with transfers reserves as much as one with a single copy.
  solver::Solution single;
  single.actions.push_back({.kind = solver::ActionKind::Copy, .queue = solver::Queue::Read});
  const int64_t least = tableBytes(extracted.program, single) - without;
  for (bool dropped = true; dropped;) {
    dropped = false;
    solver::Ladder ladder(extracted.problem, options);
    std::array<int64_t, kTierCount> capacity;
    for (unsigned tier = 0; tier < kTierCount; ++tier)
      capacity[tier] = extracted.problem.tiers[tier].capacity;
    while (const solver::Solution *plan = ladder.fastest(capacity)) {
      dropped = dropAliases(extracted, *plan);
      if (dropped)
        break;
      solver::Solution counted = *plan;
      if (countTables(extracted, counted)) {
        isFastest = ladder.isFastest(*plan);
        return counted;
      }
      extracted.problem.fixed.front().bytes = without;
      capacity[ram] = std::min(plan->peak[ram] - 1, budget - least);
    }
  }
  return std::nullopt;
}

FailureOr<plim::solver::Solution> plim::plan::solve(PlanProblem &extracted, const FitRequest &request) {
  dropAliasesOfFastest(extracted, request.options);
  if (!mayTransfer(extracted.problem)) {
    solver::FitResult fit = fitWithTables(extracted, request.options);
    if (fit.solution)
      return std::move(*fit.solution);
    return refuse(extracted, *fit.refusal);
  }
  const int64_t without = extracted.problem.fixed.front().bytes;
  solver::FitOptions quick = request.options;
  quick.alternatives = false;
  bool isFastest = false;
  std::optional<solver::Solution> best = fastestWithTables(extracted, quick, isFastest);
  // Plans without transfers have no such tables, and may be faster in the bytes that these would take. They are looked
  // for whatever was found so far: were it only where that is not the first of its ladder, a larger budget, which has
  // the first, could get a slower plan.
  PlanProblem still = extracted;
  still.problem.fixed.front().bytes = without;
  still.problem.levers.stream = still.problem.levers.spill = false;
  constexpr size_t ram = size_t(solver::Tier::Ram);
  if (best && (isFastest || solver::leastBytes(still.problem).bytes > still.problem.tiers[ram].capacity))
    return std::move(*best);
  solver::FitResult fit = fitWithTables(still, quick);
  if (fit.solution && (!best || fit.solution->ns < best->ns)) {
    extracted.problem = std::move(still.problem);
    return std::move(*fit.solution);
  }
  if (best)
    return std::move(*best);
  solver::Solution smallest;
  do
    smallest = solver::Ladder(extracted.problem, quick).smallest();
  while (dropAliases(extracted, smallest));
  if (countTables(extracted, smallest))
    return smallest;
  const bool smaller = fit.refusal->need < smallest.peak[int(solver::Tier::Ram)];
  fit = solver::fitBudget(smaller ? still.problem : extracted.problem, request.options);
  return refuse(extracted, *fit.refusal);
}

LogicalResult plim::plan::fitProgram(ProgramOp program, const FitRequest &request) {
  if (failed(normalizeScalars(program)))
    return failure();
  FailureOr<PlanProblem> extracted = extractProblem(program, request);
  if (failed(extracted))
    return failure();
  FailureOr<solver::Solution> solution = solve(*extracted, request);
  if (failed(solution)) {
    extracted->refusal->emit();
    return failure();
  }
  if (failed(applySolution(*extracted, *solution)))
    return failure();
  SmallVector<int64_t> budget;
  for (std::optional<int64_t> bytes : request.budget)
    budget.push_back(bytes.value_or(-1));
  if (llvm::any_of(budget, [](int64_t bytes) { return bytes >= 0; }))
    program.setBudgetAttr(TierBytesAttr::get(program.getContext(), budget));
  return success();
}

LogicalResult plim::plan::recordPeaks(ModuleOp module) {
  FailureOr<EncodedTable> table = encodeTable(module);
  if (failed(table))
    return failure();
  recordFigures(module, *table);
  return success();
}
