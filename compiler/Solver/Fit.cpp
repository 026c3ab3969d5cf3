//===- Fit.cpp - A plan that fits the budget, or why there is none ----------------------------===//
//
// The ladder: plans from the fastest to the one of least memory, found without looking at the budget. A budget is met
// if and only if a plan of the ladder fits, and gets the fastest that does; so both are monotone by construction.
//
//===------------------------------------------------------------------------------------------===//
#include "compiler/Solver/Fit.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/Check/CheckSolution.h"
#include "compiler/Solver/Assemble.h"
#include "compiler/Solver/Choose.h"
#include "compiler/Solver/Order.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <tuple>

namespace plim::solver {

struct Ladder::State {
  struct Rung {
    Draft draft;
    int64_t ns = 0;
    std::array<int64_t, kTierCount> least{};
    std::optional<Solution> plan; // packed when first asked for
  };
  State(const Problem &given, const FitOptions &options) : problem(given), options(options), context(problem) {}

  const Problem problem;
  const FitOptions options;
  const Context context;
  std::vector<Rung> rungs; // by rising time, then memory

  void add(const Draft &draft) {
    if (std::none_of(rungs.begin(), rungs.end(), [&](const Rung &r) { return r.draft == draft; }))
      rungs.push_back({draft, computeNs(layOut(context, draft)), leastPeak(context, draft), std::nullopt});
  }

  void order(Draft &draft) const {
    if (problem.levers.order)
      orderForMemory(context, draft, options.orderRounds);
  }

  void descend(const Draft &start) {
    std::vector<Draft> path = tradeDown(context, start, options.tradeEvaluations);
    for (const Draft &draft : path)
      add(draft);
    // Another order may bring the smallest of them down further, and open other trades.
    Draft again = path.back();
    order(again);
    if (again != path.back())
      for (const Draft &draft : tradeDown(context, again, options.tradeEvaluations))
        add(draft);
  }

  void build() {
    Draft fastest = fastestDraft(problem);
    if (!problem.levers.choose)
      for (size_t s = 0; s < problem.steps.size(); ++s) {
        const auto &all = problem.steps[s].candidates;
        if (problem.steps[s].group < 0)
          fastest.candidates[s] =
              int(std::find_if(all.begin(), all.end(), [](const Candidate &c) { return c.barredBy.empty(); }) -
                  all.begin());
      }
    add(fastest);
    Draft ordered = fastest;
    order(ordered);
    descend(ordered);
    if (problem.levers.choose) {
      Draft lean = leanestDraft(problem, ordered);
      order(lean);
      descend(lean);
    }
    std::stable_sort(rungs.begin(), rungs.end(), [](const Rung &a, const Rung &b) {
      return std::tie(a.ns, a.least[0]) < std::tie(b.ns, b.least[0]);
    });
  }

  const Solution &plan(Rung &rung) {
    if (!rung.plan) {
      PackOptions pack;
      pack.passes = options.packPasses, pack.exactNodes = options.exactNodes;
      rung.plan = assemble(context, rung.draft, pack);
      // A plan that its independent checker refuses must never leave: it would corrupt memory at run time.
      std::vector<std::string> faults = check::checkSolution(problem, *rung.plan, check::IgnoreCapacity::Yes);
      if (!faults.empty()) {
        std::fprintf(stderr, "internal error: the planner made an unsound plan: %s\n", faults.front().c_str());
        std::abort();
      }
    }
    return *rung.plan;
  }

  // The plan of least ram; of least memory elsewhere among equals.
  const Solution &smallest() {
    std::vector<Rung *> byLeast;
    byLeast.reserve(rungs.size());
    for (Rung &rung : rungs)
      byLeast.push_back(&rung);
    std::stable_sort(byLeast.begin(), byLeast.end(), [](Rung *a, Rung *b) { return a->least < b->least; });
    const Solution *best = nullptr;
    for (Rung *rung : byLeast) {
      if (best && rung->least[0] > best->peak[0])
        break;
      const Solution &candidate = plan(*rung);
      if (!best || candidate.peak < best->peak)
        best = &candidate;
    }
    return *best;
  }
};

Ladder::Ladder(const Problem &problem, const FitOptions &options) : state(std::make_unique<State>(problem, options)) {
  state->build();
}
Ladder::~Ladder() = default;

const Solution &Ladder::smallest() { return state->smallest(); }

const Solution *Ladder::fastest(const std::array<int64_t, kTierCount> &capacity) {
  auto within = [&](const std::array<int64_t, kTierCount> &bytes) {
    for (int t = 0; t < kTierCount; ++t)
      if (bytes[t] > capacity[t])
        return false;
    return true;
  };
  for (State::Rung &rung : state->rungs)
    if (within(rung.least))
      if (const Solution &plan = state->plan(rung); within(plan.peak))
        return &plan;
  return nullptr;
}

namespace {

// All that is reserved while the action of the ram peak runs, by falling size.
std::vector<LiveBuffer> liveAtPeak(const Problem &problem, const Solution &plan) {
  std::vector<LiveBuffer> live;
  const int at = plan.peakAction;
  // A storage goes by the name of the largest buffer in it that is alive then: the one made last, among equals.
  std::vector<int> made(plan.places.size(), -1), last(plan.places.size(), -1);
  for (int k = 0; k < int(plan.actions.size()); ++k) {
    for (int place : plan.actions[k].writes)
      made[place] = k;
    for (int place : plan.actions[k].reads)
      last[place] = k;
  }
  for (size_t s = 0; s < plan.storages.size(); ++s) {
    const Storage &storage = plan.storages[s];
    const bool counted = storage.region != Region::Caller || problem.countIo;
    if (storage.tier != Tier::Ram || !counted || storage.bytes == 0 || storage.birth > at || storage.death <= at)
      continue;
    int name = -1;
    std::tuple<bool, int64_t, int> best;
    for (size_t place = 0; place < plan.places.size(); ++place) {
      if (plan.places[place].storage != int(s))
        continue;
      const bool alive = made[place] <= at && std::max(made[place], last[place]) >= at;
      std::tuple<bool, int64_t, int> value{alive, bytesOf(problem, plan.places[place].buffer, plan.choices),
                                           made[place]};
      if (name < 0 || value > best)
        name = plan.places[place].buffer, best = value;
    }
    live.push_back({problem.buffers[name].name, problem.buffers[name].source, storage.bytes});
  }
  if (at >= 0 && plan.actions[at].workspaceOffset >= 0) {
    const Step &step = problem.steps[plan.actions[at].step];
    const Candidate &c = step.candidates[plan.actions[at].candidate];
    live.push_back({absl::StrCat("workspace of ", c.kernel), step.source, problem.workspace(c)});
  }
  for (const FixedCost &f : problem.fixed)
    if (f.tier == Tier::Ram && f.bytes > 0)
      live.push_back({f.name, "", f.bytes});
  std::stable_sort(live.begin(), live.end(),
                   [](const LiveBuffer &a, const LiveBuffer &b) { return a.bytes > b.bytes; });
  return live;
}

// The problem with nothing but this label where a step offers it (whatever bars it now).
Problem onlyLabel(const Problem &problem, const std::string &label) {
  Problem only = problem;
  for (Step &step : only.steps) {
    auto has = [&](const Candidate &c) { return c.label == label; };
    if (std::none_of(step.candidates.begin(), step.candidates.end(), has))
      continue;
    for (Candidate &c : step.candidates)
      c.barredBy = has(c) ? "" : "other label";
  }
  return only;
}

std::vector<Alternative> priceAlternatives(const Problem &problem, const FitOptions &options) {
  std::map<std::string, std::string> labels; // and what bars each
  for (const Step &step : problem.steps)
    for (const Candidate &c : step.candidates)
      if (!c.label.empty())
        labels.emplace(c.label, c.barredBy);
  std::vector<Alternative> result;
  for (const auto &[label, barredBy] : labels) {
    const Problem only = onlyLabel(problem, label);
    if (validate(only).empty()) // a group may have no choice left
      result.push_back({label, barredBy, Ladder(only, options).smallest().peak[0]});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Alternative &a, const Alternative &b) { return a.need < b.need; });
  return result;
}

} // namespace

std::vector<std::string> unplannable(const Problem &problem) {
  std::vector<std::string> faults;
  for (const Step &step : problem.steps) {
    for (const Candidate &c : step.candidates)
      if (c.tier != Tier::Ram)
        faults.push_back(absl::StrCat("step '", step.name, "': need candidates in tier ram, have '", c.kernel,
                                      "' in tier ", tierName(c.tier)));
    for (const auto *list : {&step.reads, &step.writes})
      for (int b : *list)
        if (const Buffer &buffer = problem.buffers[b];
            buffer.kind != BufferKind::Transient && buffer.tier != Tier::Ram && buffer.tier != Tier::Pinned)
          faults.push_back(absl::StrCat("step '", step.name, "': need '", buffer.name,
                                        "' in tier ram, have it in tier ", tierName(buffer.tier)));
  }
  return faults;
}

// "21.1 MiB", for people; the exact number stands beside it.
static std::string humanBytes(int64_t bytes) {
  return bytes < int64_t(1) << 20 ? absl::StrFormat("%.1f KiB", double(bytes) / 1024)
                                  : absl::StrFormat("%.1f MiB", double(bytes) / 1048576);
}

std::string Refusal::message() const {
  std::string text = absl::StrCat("no plan found within the budget of tier ", tierName(tier), ": need ", need,
                                  " bytes, have ", have, " (", humanBytes(need), ", ", humanBytes(have), ")\n");
  absl::StrAppend(&text, "the plan of least memory peaks at step '", peakStep, "'");
  if (!peakSource.empty())
    absl::StrAppend(&text, " from '", peakSource, "'");
  absl::StrAppend(&text, ", where these are in memory:\n");
  constexpr size_t kShown = 12;
  int64_t rest = 0;
  for (size_t k = 0; k < live.size(); ++k) {
    if (k >= kShown) {
      rest += live[k].bytes;
      continue;
    }
    absl::StrAppend(&text, absl::StrFormat("%12d  %10s  ", live[k].bytes, humanBytes(live[k].bytes)), live[k].name);
    if (!live[k].source.empty() && live[k].source != live[k].name)
      absl::StrAppend(&text, " from '", live[k].source, "'");
    absl::StrAppend(&text, "\n");
  }
  if (rest > 0)
    absl::StrAppend(&text, absl::StrFormat("%12d  %10s  ", rest, humanBytes(rest)), live.size() - kShown,
                    " smaller ones\n");
  for (const Alternative &a : alternatives) {
    const int64_t saved = need - a.need;
    absl::StrAppend(&text, a.label, " needs ", a.need, " bytes: ");
    if (saved == 0)
      absl::StrAppend(&text, "saves nothing");
    else
      absl::StrAppend(&text, saved > 0 ? "saves " : "costs ", saved > 0 ? saved : -saved);
    if (!a.barredBy.empty())
      absl::StrAppend(&text, " (forbidden by ", a.barredBy, ")");
    absl::StrAppend(&text, "\n");
  }
  // A round number that is met too, as budgets are monotone.
  const int64_t unit = need < int64_t(4) << 20 ? 1024 : 1 << 20;
  absl::StrAppend(&text, "a budget of ", (need + unit - 1) / unit, unit == 1024 ? "KiB" : "MiB", " is met\n");
  return text;
}

FitResult fitBudget(const Problem &problem, const FitOptions &options) {
  std::array<int64_t, kTierCount> capacity;
  for (int t = 0; t < kTierCount; ++t)
    capacity[t] = problem.tiers[t].capacity;
  Ladder ladder(problem, options);
  FitResult result;
  if (const Solution *plan = ladder.fastest(capacity)) {
    result.solution = *plan;
    return result;
  }
  const Solution &plan = ladder.smallest();
  Refusal refusal;
  for (int t = kTierCount; t-- > 0;)
    if (plan.peak[t] > capacity[t])
      refusal.tier = Tier(t), refusal.need = plan.peak[t], refusal.have = capacity[t];
  if (plan.peakAction >= 0) {
    const Step &step = problem.steps[plan.actions[plan.peakAction].step];
    refusal.peakStep = step.name, refusal.peakSource = step.source;
  }
  refusal.live = liveAtPeak(problem, plan);
  if (options.alternatives)
    refusal.alternatives = priceAlternatives(problem, options);
  result.refusal = std::move(refusal);
  return result;
}

} // namespace plim::solver
