//===- Refusal.cpp - Why there is no plan, and what would help --------------------------------===//
#include "compiler/Solver/Refusal.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/Solver/Bound/Bound.h"
#include "compiler/Solver/Labels.h"
#include "compiler/Solver/Ladder.h"
#include "compiler/Solver/Layout.h"
#include <algorithm>
#include <optional>
#include <tuple>

namespace plim::solver {
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

// The bounds of plans of whole values and, where steps can be cut, of plans in pieces, which lend outputs.
struct Bounds {
  LeastBytes whole{};
  std::optional<LeastBytes> inPieces{};
  int64_t bytes() const { return inPieces ? std::min(whole.bytes, inPieces->bytes) : whole.bytes; }
};

Problem withPieces(Problem problem) {
  problem.levers.split = problem.levers.lend = true;
  return problem;
}

Bounds boundsOf(const Problem &problem) {
  Bounds bounds{leastBytes(problem)};
  auto isCut = [](const Step &step) { return !step.splits.empty(); };
  if (!problem.levers.split && std::any_of(problem.steps.begin(), problem.steps.end(), isCut))
    bounds.inPieces = leastBytes(withPieces(problem));
  return bounds;
}

std::string proofOf(const Problem &problem, const Bounds &bounds) {
  if (!bounds.inPieces)
    return explain(problem, bounds.whole);
  return absl::StrCat(explain(withPieces(problem), *bounds.inPieces), "; without split none needs less than ",
                      bounds.whole.bytes);
}

std::vector<Alternative> priceAlternatives(const Problem &problem, const FitOptions &options) {
  std::vector<Alternative> result;
  for (const auto &[label, barredBy] : labelsOf(problem)) {
    const Problem only = onlyLabel(problem, label);
    if (!validate(only).empty()) // a group has no choice left
      continue;
    const int64_t bound = boundsOf(only).bytes();
    result.push_back({label, barredBy, barredBy.empty() ? bound : Ladder(only, options).smallest().peak[0], bound});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Alternative &a, const Alternative &b) { return a.need < b.need; });
  return result;
}

struct LeverName {
  const char *name, *flag; // what a user types to have it
  bool Levers::*on;
};
// Those that a user decides about; the others are free.
constexpr LeverName kPriced[] = {{"recompute", "with recompute", &Levers::recompute},
                                 {"spill", "with --ssd ", &Levers::spill}, // and what the plan takes of it
                                 {"stream", "without --no-stream", &Levers::stream}};

// A round size that is no less, as options take it.
std::string roundSize(int64_t bytes) {
  const int64_t unit = bytes < int64_t(4) << 20 ? 1024 : bytes < int64_t(4) << 30 ? 1 << 20 : 1 << 30;
  return absl::StrCat((bytes + unit - 1) / unit, unit == 1024 ? "KiB" : unit == 1 << 20 ? "MiB" : "GiB");
}

bool possible(const Problem &problem) {
  const Levers &levers = problem.levers;
  const bool reads = problem.link(Tier::Ssd, Tier::Ram), writes = problem.link(Tier::Ram, Tier::Ssd);
  return (!levers.stream || reads) && (!levers.spill || (reads && writes));
}

std::vector<LeverPrice> priceLevers(const Problem &problem, const FitOptions &options) {
  const int ssd = int(Tier::Ssd);
  std::vector<LeverPrice> result;
  for (const LeverName &lever : kPriced) {
    Problem other = problem;
    bool &on = other.levers.*lever.on;
    on = !on;
    const bool spills = lever.on == &Levers::spill && on;
    if (spills)
      other.tiers[ssd].capacity = kUnbounded;
    if (!possible(other))
      continue;
    Ladder ladder(other, options);
    const Solution &plan = ladder.smallest();
    result.push_back({lever.name, absl::StrCat(lever.flag, spills ? roundSize(plan.peak[ssd]) : ""),
                      problem.levers.*lever.on, plan.peak[0]});
  }
  if (problem.levers.spill && problem.tiers[ssd].capacity != kUnbounded) {
    Problem other = problem;
    other.tiers[ssd].capacity = kUnbounded;
    Ladder ladder(other, options);
    const Solution &plan = ladder.smallest();
    if (plan.peak[ssd] > problem.tiers[ssd].capacity)
      result.push_back({"more ssd", absl::StrCat("with --ssd ", roundSize(plan.peak[ssd])), false, plan.peak[0]});
  }
  return result;
}

} // namespace

// "21.1 MiB", for people; the exact number stands beside it.
static std::string humanBytes(int64_t bytes) {
  return bytes < int64_t(1) << 20 ? absl::StrFormat("%.1f KiB", double(bytes) / 1024)
                                  : absl::StrFormat("%.1f MiB", double(bytes) / 1048576);
}

std::string Refusal::provedText() const {
  return proof.empty() ? "" : absl::StrCat(proved ? "proved: no plan fits: " : "what is proved: ", proof);
}

std::string Refusal::message() const {
  std::string text = absl::StrCat("no plan found within the budget of tier ", tierName(tier), ": need ", need,
                                  " bytes, have ", have, " (", humanBytes(need), ", ", humanBytes(have), ")\n");
  if (!proof.empty())
    absl::StrAppend(&text, provedText(), "\n");
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
  // What another label saves is a plan; that one costs memory is said only where no plan needs less.
  for (const Alternative &a : alternatives) {
    const bool saves = !a.barredBy.empty() && a.need <= need;
    if (!saves && a.bound <= need)
      continue;
    if (saves)
      absl::StrAppend(&text, a.label, " needs ", a.need, " bytes: saves ",
                      a.need < need ? absl::StrCat(need - a.need) : "nothing");
    else
      absl::StrAppend(&text, a.label, " needs at least ", a.bound, " bytes: costs ", a.bound - need);
    if (!a.barredBy.empty())
      absl::StrAppend(&text, " (forbidden by ", a.barredBy, ")");
    absl::StrAppend(&text, "\n");
  }
  for (const LeverPrice &lever : levers) {
    const int64_t gain = lever.on ? lever.need - need : need - lever.need;
    absl::StrAppend(&text, lever.on ? lever.lever : lever.flag);
    if (lever.on)
      absl::StrAppend(&text, gain > 0 ? absl::StrCat(" saves ", gain, " bytes of that") : " saves nothing of that");
    else
      absl::StrAppend(&text, " the need is ", lever.need,
                      " bytes: ", gain > 0 ? absl::StrCat("saves ", gain) : std::string("saves nothing"),
                      tier == Tier::Ram && lever.need <= have ? "; the budget is then met" : "");
    absl::StrAppend(&text, "\n");
  }
  // A round number that is met too, as budgets are monotone.
  absl::StrAppend(&text, "a budget of ", roundSize(need), " is met\n");
  return text;
}

Refusal explainRefusal(const Problem &problem, Ladder &ladder, const FitOptions &options) {
  const Solution &plan = ladder.smallest();
  Refusal refusal;
  for (int t = kTierCount; t-- > 0;)
    if (plan.peak[t] > problem.tiers[t].capacity)
      refusal.tier = Tier(t), refusal.need = plan.peak[t], refusal.have = problem.tiers[t].capacity;
  const Bounds bounds = boundsOf(problem);
  refusal.bound = bounds.bytes(), refusal.proof = proofOf(problem, bounds);
  refusal.proved = refusal.tier == Tier::Ram && refusal.have < refusal.bound;
  if (plan.peakAction >= 0 && plan.actions[plan.peakAction].step >= 0) {
    const Step &step = problem.steps[plan.actions[plan.peakAction].step];
    refusal.peakStep = step.name, refusal.peakSource = step.source;
  } else if (plan.peakAction >= 0 && !plan.actions[plan.peakAction].reads.empty()) {
    const Buffer &buffer = problem.buffers[plan.places[plan.actions[plan.peakAction].reads[0]].buffer];
    refusal.peakStep = absl::StrCat("copy of ", buffer.name), refusal.peakSource = buffer.source;
  } else if (plan.peakAction >= 0) {
    refusal.peakStep = "wait";
  }
  refusal.live = liveAtPeak(problem, plan);
  if (options.alternatives) {
    refusal.alternatives = priceAlternatives(problem, withLessSearch(options));
    refusal.levers = priceLevers(problem, withLessSearch(options));
  }
  return refusal;
}

} // namespace plim::solver
