//===- EntryLadder.cpp - Plans of several programs under one budget ---------------------------===//
#include "compiler/Solver/Entries/EntryLadder.h"
#include "absl/strings/str_cat.h"
#include "compiler/Solver/JointRungs.h"
#include "compiler/Solver/Ladder.h"
#include <algorithm>
#include <cmath>
#include <list>
#include <map>
#include <set>

namespace plim::solver {
namespace {

constexpr int kRam = int(Tier::Ram);
constexpr int kCoarse = 8, kFine = 8; // steps of the grid, and budgets between two of them
// Of the bytes above the smallest budget, that sets are tried for: from the first on until plans fit, and the last.
constexpr double kShares[] = {1, 0.97, 0.93, 0.87, 0.8, 0.6};
constexpr int kRounds = 4; // until the tables of a plan are counted

// Where nothing is kept: bytes alive in each action, and when each constant is in memory.
struct Profile {
  int64_t rest = 0; // of the peak, without the arena
  std::vector<int64_t> live;
  std::vector<std::vector<std::pair<int, int>>> inMemory; // by rank: actions [birth, death)

  Profile(const Problem &problem, const Solution &plan, const SharedConstants &constants)
      : rest(plan.peak[kRam] - plan.arena[kRam]), live(plan.actions.size(), 0), inMemory(constants.count()) {
    for (const Storage &s : plan.storages)
      if (s.region == Region::Transient && s.tier == Tier::Ram)
        for (int k = s.birth; k < s.death; ++k)
          live[k] += alignUp(s.bytes, kAlign);
    for (size_t k = 0; k < plan.actions.size(); ++k)
      if (const Action &a = plan.actions[k]; a.workspaceOffset >= 0)
        live[k] += alignUp(problem.workspace(problem.steps[a.step].candidates[a.candidate]), kAlign);
    for (const Place &place : plan.places)
      if (const Storage &s = plan.storages[place.storage]; s.region == Region::Transient && s.tier == Tier::Ram)
        if (const int rank = constants.rank(problem.buffers[place.buffer]); rank < constants.count())
          inMemory[rank].push_back({s.birth, s.death});
  }

  // What the same plan takes where one more constant is kept than before.
  int64_t keep(int rank, int64_t bytes) {
    for (auto [birth, death] : inMemory[rank])
      for (int k = birth; k < death; ++k)
        live[k] -= bytes;
    return rest + (live.empty() ? 0 : *std::max_element(live.begin(), live.end()));
  }
};

} // namespace

struct EntryLadder::State {
  State(EntryProblems given, const FitOptions &how) : entries(std::move(given)), options(how), constants(entries) {}

  const EntryProblems entries;
  const FitOptions options;
  const SharedConstants constants;
  std::vector<Draft> lean; // by program: the draft of least bytes alive, from whose order plans are made
  std::map<int64_t, std::optional<EntryPlan>> made; // by budget of the grid
  std::list<EntryPlan> whole;                       // with all constants kept
  std::optional<EntryPlan> top, leastStreamed, leastWhole;
  std::vector<int64_t> needs;           // by constants kept: about what it takes
  std::vector<const EntryPlan *> bests; // by step of the coarse grid
  int64_t leastNs = 0;                  // no plans are faster
  std::set<const EntryPlan *> checked;
  bool searched = false;

  struct Program {
    Program(const State &state, int p, int kept) : problem(state.constants.problem(p, kept)), context(problem) {}
    const Problem problem;
    const Context context;
  };
  std::vector<std::unique_ptr<Program>> wholes; // by program, all kept
  std::vector<std::unique_ptr<Ladder>> ladders;

  int count() const { return int(entries.programs.size()); }

  const EntryPlan *sound(const EntryPlan *plan) {
    if (plan && checked.insert(plan).second)
      for (size_t p = 0; p < plan->plans.size(); ++p)
        mustBeSound(plan->problems[p], plan->plans[p]);
    return plan;
  }

  TierBytes capacity(int p, int64_t ram) const {
    TierBytes bytes;
    for (int t = 0; t < kTierCount; ++t)
      bytes[t] = entries.programs[p].tiers[t].capacity;
    bytes[kRam] = ram;
    return bytes;
  }

  // Counts the tables of a plan beyond the first fixed cost of its problem.
  int64_t countTables(int p, Problem &problem, Solution &plan, int kept) const {
    if (!entries.tables || problem.fixed.empty())
      return 0;
    const int64_t more = entries.tables(p, plan, constants.count() - kept) - problem.fixed.front().bytes;
    problem.fixed.front().bytes += more;
    plan.fixed[kRam] += more, plan.peak[kRam] += more;
    return more;
  }

  void add(EntryPlan &all, Problem problem, Solution plan) const {
    all.need = std::max(all.need, plan.peak[kRam]), all.ns += plan.ns;
    all.problems.push_back(std::move(problem)), all.plans.push_back(std::move(plan));
  }

  // A plan of each program, made by `plan(program, capacity)` for what its tables leave of the budget.
  template <typename PlanT> std::optional<EntryPlan> planAll(int64_t ram, int kept, const PlanT &plan) const {
    EntryPlan all;
    for (int p = 0; p < count(); ++p) {
      bool fits = false;
      int64_t tables = 0;
      for (int round = 0; round < kRounds && !fits; ++round) {
        std::optional<Solution> found = plan(p, capacity(p, ram == kUnbounded ? ram : ram - tables));
        if (!found)
          return std::nullopt;
        Problem problem = constants.problem(p, kept);
        tables = std::max(tables, countTables(p, problem, *found, kept));
        fits = found->peak[kRam] <= ram;
        if (fits)
          add(all, std::move(problem), std::move(*found));
      }
      if (!fits)
        return std::nullopt;
    }
    return all;
  }

  void openLadders() {
    for (int p = int(ladders.size()); p < count(); ++p) {
      wholes.push_back(std::make_unique<Program>(*this, p, constants.count()));
      ladders.push_back(std::make_unique<Ladder>(wholes.back()->problem, options));
    }
  }

  std::optional<EntryPlan> planWhole(int64_t ram) {
    openLadders();
    return planAll(ram, constants.count(), [&](int p, const TierBytes &bytes) {
      const Solution *plan = ladders[p]->fastest(bytes);
      return plan ? std::optional(*plan) : std::nullopt;
    });
  }

  void prepare() {
    if (searched)
      return;
    searched = true;
    openLadders();
    leastWhole.emplace();
    for (int p = 0; p < count(); ++p) {
      Problem problem = wholes[p]->problem;
      Solution plan = ladders[p]->smallest();
      countTables(p, problem, plan, constants.count());
      add(*leastWhole, std::move(problem), std::move(plan));
    }
    for (int p = 0; p < count(); ++p)
      for (int t = 0; t < kTierCount && leastWhole; ++t)
        if (t != kRam && leastWhole->plans[p].peak[t] > entries.programs[p].tiers[t].capacity)
          leastWhole.reset();
    top = planWhole(kUnbounded);
    if (constants.count() > 0)
      findLeastStreamed();
  }

  void findLeastStreamed() {
    EntryPlan all;
    std::vector<Profile> profiles;
    for (int p = 0; p < count(); ++p) {
      const Program program(*this, p, 0);
      const Context kept(entries.programs[p]); // drafts do not depend on where constants are
      DraftRungs drafts(kept, options);
      leastNs += drafts.isFastest() ? drafts.first().ns : 0;
      lean.push_back(drafts.leanest());
      if (options.progress)
        options.progress(absl::StrCat("the smallest budget of entry ", p));
      std::optional<Solution> plan = JointRungs(program.context, lean[p], options).smallest(capacity(p, kUnbounded));
      if (!plan)
        return;
      Problem problem = program.problem;
      countTables(p, problem, *plan, 0);
      profiles.emplace_back(problem, *plan, constants);
      add(all, std::move(problem), std::move(*plan));
    }
    needs = {all.need};
    for (int kept = 1; kept < constants.count(); ++kept) {
      const int64_t bytes = constants.bytes(kept) - constants.bytes(kept - 1);
      int64_t most = 0;
      for (Profile &profile : profiles)
        most = std::max(most, profile.keep(kept - 1, bytes));
      needs.push_back(most + constants.bytes(kept));
    }
    leastStreamed = std::move(all);
  }

  // The most constants that about this much ram lets the programs keep.
  int keptWithin(int64_t ram) const {
    for (int kept = int(needs.size()); kept-- > 0;)
      if (needs[kept] <= ram)
        return kept;
    return 0;
  }

  const EntryPlan *planFor(int64_t ram) {
    auto [at, isNew] = made.try_emplace(ram);
    if (!isNew)
      return at->second ? &*at->second : nullptr;
    std::set<int> tried;
    for (double share : kShares) {
      const int kept = keptWithin(needs[0] + int64_t(double(ram - needs[0]) * share));
      if ((at->second && share != kShares[std::size(kShares) - 1]) || !tried.insert(kept).second)
        continue;
      if (options.progress)
        options.progress(absl::StrCat("plans for ", ram, " bytes of ram, ", kept, " constants kept"));
      std::optional<EntryPlan> plan = planAll(ram, kept, [&](int p, const TierBytes &bytes) {
        const Program program(*this, p, kept);
        return JointRungs(program.context, lean[p], options).within(bytes);
      });
      if (plan && (!at->second || plan->ns < at->second->ns))
        at->second = std::move(plan);
    }
    return at->second ? &*at->second : nullptr;
  }

  int64_t budget(int step) const {
    const double floor = double(leastStreamed->need), most = double(top->need);
    return int64_t(floor * std::pow(most / floor, double(step) / (kCoarse * kFine)));
  }

  // The fastest of what is made for the coarse budgets up to this one.
  const EntryPlan *coarse(int step) {
    if (bests.empty())
      bests.push_back(&*leastStreamed);
    while (int(bests.size()) <= step) {
      const EntryPlan *plan = planFor(budget(int(bests.size()) * kFine));
      bests.push_back(plan && plan->ns < bests.back()->ns ? plan : bests.back());
    }
    return bests[step];
  }

  const EntryPlan *fastestStreamed(int64_t ram) {
    if (!leastStreamed || leastStreamed->need > ram)
      return nullptr;
    if (!top || top->need <= leastStreamed->need)
      return &*leastStreamed;
    int step = kCoarse;
    while (step > 0 && budget(step * kFine) > ram)
      --step;
    const EntryPlan *smaller = coarse(step);
    if (step == kCoarse)
      return smaller;
    int64_t faster = coarse(step + 1)->ns;
    for (int low = step * kFine, high = low + kFine; high - low > 1 && faster < smaller->ns;) {
      const int middle = low + (high - low) / 2;
      const EntryPlan *plan = planFor(budget(middle));
      if (!plan || plan->ns > smaller->ns || plan->ns < faster)
        plan = smaller;
      if (ram >= budget(middle))
        low = middle, smaller = plan;
      else
        high = middle, faster = plan->ns;
    }
    return smaller;
  }

  const EntryPlan *fastest(int64_t ram) {
    prepare();
    const EntryPlan *best = nullptr;
    if (std::optional<EntryPlan> plan = planWhole(ram))
      best = &whole.emplace_back(std::move(*plan));
    else if (leastWhole && leastWhole->need <= ram)
      best = &*leastWhole;
    if (best && best->ns <= leastNs)
      return sound(best);
    if (const EntryPlan *plan = fastestStreamed(ram); plan && (!best || plan->ns < best->ns))
      best = plan;
    return sound(best);
  }

  const EntryPlan *smallest() {
    prepare();
    const EntryPlan *best = leastWhole ? &*leastWhole : nullptr;
    if (leastStreamed && (!best || leastStreamed->need < best->need))
      best = &*leastStreamed;
    return sound(best);
  }
};

EntryLadder::EntryLadder(EntryProblems entries, const FitOptions &options)
    : state(std::make_unique<State>(std::move(entries), options)) {}
EntryLadder::~EntryLadder() = default;

const EntryPlan *EntryLadder::fastest(int64_t ram) { return state->fastest(ram); }
const EntryPlan *EntryLadder::smallest() { return state->smallest(); }

} // namespace plim::solver
