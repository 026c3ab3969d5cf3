//===- Variants.cpp - One artifact for several budgets -------------------------------------------===//
#include "compiler/Pipelines/Variants.h"
#include "compiler/Lowering/PlanTable/PlanTable.h"
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

/// Numbers of the constants that a plan has in memory.
void addKept(const ChosenPlan &plan, ConstantNumbers &numbers, llvm::DenseSet<unsigned> &kept) {
  llvm::StringSet<> names;
  plan::ModuleOp module = *plan.module;
  for (auto program : module.getOps<plan::ProgramOp>())
    for (auto resident : program.getOps<plan::ResidentOp>())
      if (!resident.getInFile())
        names.insert(resident.getSymbol());
  for (const lowering::ConstantSource &constant : plan.alternative->lowered.constants)
    if (names.contains(constant.name))
      kept.insert(numbers.numberOf(constant));
}

struct Planned {
  const Budget *budget;
  ChosenPlan plan;
};

class VariantPlanner {
public:
  VariantPlanner(PlanChooser &chooser, const CompileOptions &options, ArrayRef<Budget> budgets)
      : chooser(chooser), options(options), budgets(budgets) {}

  CompileStatus run(JoinedVariants &joined, emit::PlanFacts &facts) {
    if (CompileStatus status = chooseAll(); status != CompileStatus::Done)
      return status;
    // A joined file has gaps that the file of one variant has not, and what smaller variants keep: who they push beyond
    // its budget keeps the same, and plans for less.
    for (int tries = 0; tries < kTries; ++tries) {
      SmallVector<OwningOpRef<plan::ModuleOp>> copies;
      SmallVector<Variant> variants;
      for (Planned &p : planned) {
        copies.push_back(cast<plan::ModuleOp>((*p.plan.module)->clone()));
        for (auto program : copies.back()->getOps<plan::ProgramOp>())
          program.setBudgetAttr(withRam(program, p.budget->bytes));
        variants.push_back({p.budget->name, *copies.back(), p.plan.alternative->lowered.constants});
      }
      joined = joinVariants(variants, numbers);
      FailureOr<plan::EncodedTable> table = plan::encodeTable(*joined.module);
      if (failed(table))
        return CompileStatus::Internal;
      if (fits(table->bytes.table())) {
        report(facts);
        return CompileStatus::Done;
      }
      if (CompileStatus status = planNested(); status != CompileStatus::Done)
        return status;
    }
    return fail("no layout of the weight file found that keeps all variants within their budgets");
  }

private:
  static constexpr int kTries = 8;

  CompileStatus fail(const char *why) {
    emitError(chooser.location()) << why;
    return CompileStatus::Internal;
  }

  /// Each budget's own plan. Sessions change between variants over one set of weights, of which pieces would be others
  /// than the whole ones: they are in pieces everywhere, or nowhere.
  CompileStatus chooseAll() {
    for (const Budget &budget : budgets) {
      ChosenPlan plan = chooser.choose(budget.bytes);
      if (plan.status == CompileStatus::Budget && planned.empty())
        return refuse(plan);
      if (!plan.fits() && plan.status != CompileStatus::Budget)
        return plan.status;
      take(budget, std::move(plan));
    }
    auto isCut = [](const Planned &p) { return p.plan.alternative->weights > 0; };
    if (llvm::none_of(planned, isCut))
      return CompileStatus::Done;
    std::vector<Planned> before = std::move(planned);
    planned.clear();
    for (Planned &p : before) {
      ChosenPlan plan = isCut(p) ? std::move(p.plan) : chooser.choose(p.budget->bytes, /*cutWeights=*/true);
      if (!plan.fits() && plan.status != CompileStatus::Budget)
        return plan.status;
      take(*p.budget, std::move(plan));
    }
    return CompileStatus::Done;
  }

  /// A variant of its own, or one that a smaller one serves.
  void take(const Budget &budget, ChosenPlan plan) {
    if (!planned.empty() && (!plan.fits() || plan.predictedNs() >= planned.back().plan.predictedNs()))
      merged.push_back({&budget, planned.back().budget});
    else
      planned.push_back({&budget, std::move(plan)});
  }

  /// The same alternatives once more, each of which keeps what smaller ones keep, which is in its memory all the same.
  CompileStatus planNested() {
    std::vector<Planned> before = std::move(planned);
    planned.clear();
    llvm::DenseSet<unsigned> kept;
    for (Planned &p : before) {
      llvm::StringSet<> names;
      for (const lowering::ConstantSource &constant : p.plan.alternative->lowered.constants)
        if (kept.contains(numbers.numberOf(constant)))
          names.insert(constant.name);
      ChosenPlan plan = chooser.planOf(p.plan.alternative, p.budget->bytes - less[p.budget], names);
      if (!plan.fits() && plan.status != CompileStatus::Budget)
        return plan.status;
      if (!plan.fits() && planned.empty())
        return fail("the smallest variant does not fit beside the others");
      const size_t count = planned.size();
      take(*p.budget, std::move(plan));
      if (planned.size() > count)
        addKept(planned.back().plan, numbers, kept);
    }
    return CompileStatus::Done;
  }

  /// The smallest budget is refused: all that are below the need.
  CompileStatus refuse(const ChosenPlan &plan) {
    for (const plan::PlanRefusal &refusal : plan.refusals)
      refusal.emit();
    SmallVector<StringRef> names;
    for (const Budget &budget : budgets)
      if (budget.bytes < plan.need)
        names.push_back(budget.name);
    emitError(chooser.location()) << "refused of " << budgets.size() << " budgets: " << llvm::join(names, ", ")
                                  << " (need " << plan.need << " bytes each)";
    return CompileStatus::Budget;
  }

  bool fits(const plim_table *table) {
    llvm::StringMap<int64_t> needs = needsByVariant(table, options.countIO);
    bool all = true;
    for (const Planned &p : planned)
      if (int64_t over = needs.lookup(p.budget->name) - p.budget->bytes; over > 0) {
        less[p.budget] += isNested ? over : 0;
        all = false;
      }
    isNested = true;
    return all;
  }

  static plan::TierBytesAttr withRam(plan::ProgramOp program, int64_t bytes) {
    SmallVector<int64_t> all(plan::kTierCount, -1);
    if (std::optional<plan::TierBytesAttr> known = program.getBudget())
      all.assign(known->getBytes().begin(), known->getBytes().end());
    all[kRam] = bytes;
    return plan::TierBytesAttr::get(program.getContext(), all);
  }

  void report(emit::PlanFacts &facts) {
    facts.programs.clear();
    for (Planned &p : planned)
      for (emit::PlanFacts::Program &program : p.plan.facts.programs) {
        program.variant = p.budget->name;
        facts.programs.push_back(std::move(program));
      }
    for (auto [budget, served] : merged)
      emitRemark(chooser.location()) << "a budget of " << budget->name << " gains no time over " << served->name
                                     << ", whose variant serves it";
  }

  PlanChooser &chooser;
  const CompileOptions &options;
  ArrayRef<Budget> budgets;
  ConstantNumbers numbers;
  std::vector<Planned> planned;
  std::vector<std::pair<const Budget *, const Budget *>> merged;
  llvm::DenseMap<const Budget *, int64_t> less; // than its budget, each is planned for
  bool isNested = false;
};

} // namespace

std::string budgetName(int64_t bytes) {
  constexpr std::pair<const char *, int> units[] = {{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}};
  for (auto [unit, shift] : units)
    if (bytes && bytes % (int64_t(1) << shift) == 0)
      return std::to_string(bytes >> shift) + unit;
  return std::to_string(bytes) + "B";
}

std::vector<Budget> proposeBudgets(PlanChooser &chooser, const CompileOptions &options) {
  const ChosenPlan fastest = chooser.choose(std::nullopt);
  if (!fastest.fits())
    return {};
  FailureOr<plan::EncodedTable> table = plan::encodeTable(*fastest.module);
  if (failed(table))
    return {};
  int64_t most = 0;
  for (const auto &need : needsByVariant(table->bytes.table(), options.countIO))
    most = std::max(most, need.second);
  const ChosenPlan refused = chooser.choose(1);
  if (refused.status != CompileStatus::Budget)
    return {};
  const int64_t least = std::min(refused.need, most), count = options.variants;
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

CompileStatus fitVariants(PlanChooser &chooser, const CompileOptions &options, ArrayRef<Budget> budgets,
                          JoinedVariants &joined, emit::PlanFacts &facts) {
  return VariantPlanner(chooser, options, budgets).run(joined, facts);
}

} // namespace plim
