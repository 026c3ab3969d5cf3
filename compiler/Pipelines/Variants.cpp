//===- Variants.cpp - One module under several budgets ------------------------------------------===//
#include "compiler/Pipelines/Variants.h"
#include "compiler/Lowering/PlanTable/PlanTable.h"
#include "compiler/Pipelines/JoinVariants.h"
#include "plim/check.h"
#include "llvm/ADT/StringExtras.h"
#include <bit>
#include <cmath>

using namespace mlir;

namespace plim {
namespace {

constexpr unsigned kRam = unsigned(plan::Tier::Ram);

/// By variant of the table, what a budget must hold for each of its programs.
llvm::StringMap<int64_t> needsByVariant(const plim_table *t, bool countIO) {
  llvm::StringMap<int64_t> needs;
  auto *programs = static_cast<const plim_t_program *>(plim_table_section(t, PLIM_SEC_PROGRAMS));
  auto *variants = static_cast<const plim_t_variant *>(plim_table_section(t, PLIM_SEC_VARIANTS));
  for (uint32_t p = 0; p < t->sections[PLIM_SEC_PROGRAMS].count; ++p) {
    int64_t &need = needs[plim_table_string(t, variants[programs[p].variant].name)];
    need = std::max(need, ramNeeded(t, p, countIO));
  }
  return needs;
}

/// Constants in memory.
llvm::StringSet<> keptBy(plan::ModuleOp module) {
  llvm::StringSet<> kept;
  for (auto program : module.getOps<plan::ProgramOp>())
    for (auto resident : program.getOps<plan::ResidentOp>())
      if (!resident.getInFile())
        kept.insert(resident.getSymbol());
  return kept;
}

struct Planned {
  const Budget *budget;
  OwningOpRef<plan::ModuleOp> module;
  emit::PlanFacts facts;
};

class VariantPlanner {
public:
  VariantPlanner(plan::ModuleOp virtualForm, const plan::FitRequest &request, ArrayRef<Budget> budgets, bool curve)
      : virtualForm(virtualForm), request(request), budgets(budgets), curve(curve), less(budgets.size()) {}

  FitOutcome run(OwningOpRef<plan::ModuleOp> &joined, emit::PlanFacts &facts) {
    // A joined file has gaps that the file of one variant has not: who they push beyond its budget plans for less.
    for (int tries = 0; tries < kTries; ++tries) {
      if (FitOutcome outcome = planAll(); outcome.status != FitStatus::Done)
        return outcome;
      SmallVector<Variant> variants;
      for (const Planned &p : planned)
        variants.push_back({p.budget->name, *p.module});
      joined = joinVariants(variants);
      FailureOr<plan::EncodedTable> table = plan::encodeTable(*joined);
      if (failed(table))
        return {FitStatus::Internal};
      if (fits(table->bytes.table())) {
        report(facts);
        return {};
      }
    }
    emitError(virtualForm.getLoc())
        << "no layout of the weight file found that keeps all variants within their budgets";
    return {FitStatus::Internal};
  }

private:
  static constexpr int kTries = 8;

  FitOutcome planAll() {
    planned.clear();
    merged.clear();
    llvm::StringSet<> kept;
    for (auto [i, budget] : llvm::enumerate(budgets)) {
      Planned next{&budget, {}, {}};
      FitOutcome outcome = fit(next, kept, budget.bytes - less[i], curve && i == 0);
      if (outcome.status == FitStatus::Internal)
        return outcome;
      const bool gains = outcome.status == FitStatus::Done &&
                         (planned.empty() || next.facts.predictedNs() < planned.back().facts.predictedNs());
      if (!gains && planned.empty())
        return refuse(i, outcome);
      if (!gains) {
        merged.push_back({&budget, planned.back().budget});
        continue;
      }
      for (auto program : next.module->getOps<plan::ProgramOp>())
        program.setBudgetAttr(withRam(program, budget.bytes));
      for (const auto &name : keptBy(*next.module))
        kept.insert(name.getKey());
      planned.push_back(std::move(next));
    }
    return {};
  }

  /// What smaller variants keep is in the memory of this one all the same, so it is kept.
  FitOutcome fit(Planned &next, const llvm::StringSet<> &kept, int64_t bytes, bool withCurve) {
    said.clear();
    ScopedDiagnosticHandler keep(virtualForm.getContext(), [this](Diagnostic &diagnostic) {
      said.push_back(std::move(diagnostic));
      return success();
    });
    plan::FitRequest mine = request;
    mine.kept = kept;
    mine.budget[kRam] = bytes;
    next.module = cast<plan::ModuleOp>(virtualForm->clone());
    return fitModule(*next.module, mine, withCurve, next.facts);
  }

  /// The smallest budget is refused: all that are below the need.
  FitOutcome refuse(size_t first, FitOutcome outcome) {
    outcome.need += less[first];
    for (Diagnostic &diagnostic : said)
      virtualForm.getContext()->getDiagEngine().emit(std::move(diagnostic));
    reportRefused(virtualForm.getLoc(), budgets, outcome.need);
    return outcome;
  }

  static plan::TierBytesAttr withRam(plan::ProgramOp program, int64_t bytes) {
    SmallVector<int64_t> all(plan::kTierCount, -1);
    if (std::optional<plan::TierBytesAttr> known = program.getBudget())
      all.assign(known->getBytes().begin(), known->getBytes().end());
    all[kRam] = bytes;
    return plan::TierBytesAttr::get(program.getContext(), all);
  }

  bool fits(const plim_table *table) {
    llvm::StringMap<int64_t> needs = needsByVariant(table, request.countIO);
    bool all = true;
    for (auto [i, budget] : llvm::enumerate(budgets))
      if (auto need = needs.find(budget.name); need != needs.end() && need->second > budget.bytes) {
        less[i] += need->second - budget.bytes;
        all = false;
      }
    return all;
  }

  void report(emit::PlanFacts &facts) {
    facts.programs.clear();
    for (Planned &p : planned)
      for (emit::PlanFacts::Program &program : p.facts.programs) {
        program.variant = p.budget->name;
        facts.programs.push_back(std::move(program));
      }
    for (auto [budget, served] : merged)
      emitRemark(virtualForm.getLoc()) << "a budget of " << budget->name << " gains no time over " << served->name
                                       << ", whose variant serves it";
  }

  plan::ModuleOp virtualForm;
  const plan::FitRequest &request;
  ArrayRef<Budget> budgets;
  bool curve;
  std::vector<int64_t> less; // than its budget, each is planned for
  std::vector<Planned> planned;
  std::vector<std::pair<const Budget *, const Budget *>> merged;
  std::vector<Diagnostic> said;
};

} // namespace

std::string budgetName(int64_t bytes) {
  constexpr std::pair<const char *, int> units[] = {{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}};
  for (auto [unit, shift] : units)
    if (bytes && bytes % (int64_t(1) << shift) == 0)
      return std::to_string(bytes >> shift) + unit;
  return std::to_string(bytes) + "B";
}

void reportRefused(Location loc, ArrayRef<Budget> budgets, int64_t need) {
  SmallVector<StringRef> names;
  for (const Budget &budget : budgets)
    if (budget.bytes < need)
      names.push_back(budget.name);
  emitError(loc) << "refused of " << budgets.size() << " budgets: " << llvm::join(names, ", ") << " (need " << need
                 << " bytes each)";
}

std::vector<Budget> proposeBudgets(plan::ModuleOp virtualForm, const plan::FitRequest &asked, int64_t count) {
  plan::FitRequest request = asked;
  emit::PlanFacts facts;
  auto plan = [&](std::optional<int64_t> ram, OwningOpRef<plan::ModuleOp> &module) {
    request.budget[kRam] = ram;
    module = cast<plan::ModuleOp>(virtualForm->clone());
    return fitModule(*module, request, false, facts);
  };
  OwningOpRef<plan::ModuleOp> fastest, refused;
  if (plan(std::nullopt, fastest).status != FitStatus::Done)
    return {};
  FailureOr<plan::EncodedTable> table = plan::encodeTable(*fastest);
  if (failed(table))
    return {};
  int64_t most = 0;
  for (const auto &need : needsByVariant(table->bytes.table(), request.countIO))
    most = std::max(most, need.second);
  FitOutcome outcome;
  {
    ScopedDiagnosticHandler silent(virtualForm.getContext(), [](Diagnostic &) { return success(); });
    outcome = plan(1, refused);
  }
  if (outcome.status != FitStatus::Budget)
    return {};
  const int64_t least = std::min(outcome.need, most);
  std::vector<Budget> budgets;
  for (int64_t k = 0; k < count; ++k) {
    const double share = count == 1 ? 1 : double(k) / double(count - 1);
    const int64_t exact =
        k + 1 == count ? most : int64_t(double(least) * std::pow(double(most) / double(least), share));
    // The joined file and tables of several variants take some pages more.
    const int64_t grain = std::max<int64_t>(PLIM_PAGE, int64_t(std::bit_floor(uint64_t(exact))) >> 6);
    const int64_t bytes = (exact + grain) / grain * grain;
    if (budgets.empty() || bytes > budgets.back().bytes)
      budgets.push_back({budgetName(bytes), bytes});
  }
  return budgets;
}

FitOutcome fitVariants(plan::ModuleOp virtualForm, const plan::FitRequest &request, ArrayRef<Budget> budgets,
                       bool curve, OwningOpRef<plan::ModuleOp> &joined, emit::PlanFacts &facts) {
  return VariantPlanner(virtualForm, request, budgets, curve).run(joined, facts);
}

} // namespace plim
