//===- Propose.cpp - Plans of splitting worth trying ---------------------------------------------===//
//
// A map that steps after a sum over all its rows read again is either kept, or computed again from maps kept before it.
// The search starts where all of them are kept, which costs no arithmetic, and trades at the peak: a map that is whole
// there is dropped, or replaced by one that it is computed from, or a small map ends a stage early, so that fewer
// windows are alive together. Each step takes the trade of least memory; all plans that it sees compete for the Pareto
// set. Stages then get as few pieces as cost no memory.
//
// Tiles of a kernel delay what follows: a tile's rows come together, once the last row is there that one of them needs,
// and the smaller the map the more rows of the large ones wait meanwhile; and tiles take more scratch. So the search
// runs for the problem as it is, and again with the fine kernels of the smallest maps, of the next larger ones too, and
// so on, and likewise from the largest ones on. Then for plans in parts (InParts.cpp).
//
//===------------------------------------------------------------------------------------------===//
#include "compiler/Solver/Split/Cost.h"
#include "compiler/Solver/Split/InParts.h"
#include "compiler/Solver/Split/Staging.h"
#include <algorithm>
#include <map>
#include <set>

namespace plim::solver {
namespace {

constexpr int64_t kStepsCosted = 150000; // of all plans of a descent, a step for each
constexpr double kPartsWorth = 0.8;      // of the memory of plans without parts: those in parts have many more runs
constexpr double kLeastPart = 0.25;      // of the bytes that are made, which an axis must cut to be worth a search

class Proposer {
public:
  Proposer(const SplitProblem &problem, const SplitSearch &search, SplitCoster &coster, const Axes &axes,
           const SplitCost &unsplit)
      : p(problem), search(search), coster(coster), unsplit(unsplit), staging(problem, search, axes),
        writers(writersOf(problem)) {}

  // What a step of the search takes: the trade of least memory, or of least time for a byte.
  enum class Greed { Memory, Price };

  void run(Greed greed, std::vector<PricedSplit> &found) {
    auto worth = [&](const SplitCost &next, const SplitCost &from) {
      const double bytes = double(from.peak - next.peak), ns = double(next.ns - from.ns);
      return greed == Greed::Memory ? std::pair(-bytes, ns) : std::pair(ns / bytes, -bytes);
    };
    Choice now = staging.everyCrossing();
    int64_t left = std::min(search.evaluations / 2, kStepsCosted / std::max<int64_t>(1, int64_t(p.steps.size())));
    std::set<Choice> seen{now};
    std::optional<SplitCoster::Detail> at = evaluate(now, found);
    while (at && left > 0) {
      std::optional<SplitCoster::Detail> best;
      Choice bestChoice;
      for (Choice &next : trades(now, *at)) {
        if (left <= 0)
          break;
        if (!seen.insert(next).second)
          continue;
        --left;
        std::optional<SplitCoster::Detail> detail = evaluate(next, found);
        if (detail && double(detail->cost.ns) <= search.slowest * double(unsplit.ns) &&
            detail->cost.peak < at->cost.peak && (!best || worth(detail->cost, at->cost) < worth(best->cost, at->cost)))
          best = std::move(detail), bestChoice = std::move(next);
      }
      if (!best)
        break;
      at = std::move(best), now = std::move(bestChoice);
    }
  }

  // As few pieces in each stage as cost no memory.
  PricedSplit coarsened(PricedSplit found) {
    for (size_t s = 0; s < found.plan.stages.size(); ++s)
      for (int64_t pieces : search.pieces) {
        if (pieces >= found.plan.stages[s].pieces)
          break;
        SplitPlan plan = found.plan;
        plan.stages[s].pieces = pieces;
        std::string why;
        std::optional<SplitCoster::Detail> detail = coster.cost(plan, why);
        if (detail && detail->cost.peak <= found.cost.peak + found.cost.peak / 200) {
          found.plan.stages[s].pieces = pieces;
          break;
        }
      }
    std::string why;
    found.cost = coster.cost(found.plan, why)->cost;
    return found;
  }

private:
  const SplitProblem &p;
  const SplitSearch &search;
  SplitCoster &coster;
  const SplitCost unsplit;
  const Staging staging;
  const std::vector<int> writers;

  std::optional<SplitCoster::Detail> evaluate(const Choice &choice, std::vector<PricedSplit> &found) {
    const SplitPlan plan = staging.planOf(choice);
    std::string why;
    std::optional<SplitCoster::Detail> detail = coster.cost(plan, why);
    if (detail && detail->cost.peak < unsplit.peak && double(detail->cost.ns) <= search.slowest * double(unsplit.ns))
      found.push_back({plan, detail->cost});
    return detail;
  }

  std::vector<Choice> trades(const Choice &now, const SplitCoster::Detail &at) const {
    std::vector<Choice> result;
    for (int value : at.atPeak) {
      if (!now.kept.count(value))
        continue;
      Choice dropped = now;
      dropped.kept.erase(value), dropped.last.erase(value);
      result.push_back(dropped);
      // Or one of the maps that it is computed from, up to some steps before it.
      std::vector<int> open{value};
      for (int depth = 0; depth < 4 && !open.empty(); ++depth) {
        std::vector<int> next;
        for (int v : open)
          for (int read : staging.mapsReadBy(writers[size_t(v)])) {
            next.push_back(read);
            if (p.values[size_t(read)].bytes < p.values[size_t(value)].bytes && !now.kept.count(read)) {
              result.push_back(dropped);
              result.back().kept.insert(read);
            }
          }
        open = std::move(next);
      }
    }
    // A small map ends its stage.
    const std::vector<int> levels = staging.rowLevels(now);
    const int stage = at.cost.peakStage;
    const int level = stage < 0 ? -1 : levels[size_t(staging.planOf(now).stages[size_t(stage)].keeps[0].value)];
    std::vector<int> small;
    for (size_t v = 0; v < p.values.size(); ++v)
      if (staging.isMap(int(v)) && !now.last.count(int(v)) && !p.values[v].output &&
          p.values[v].bytes * 8 < at.cost.peak && (level < 0 || levels[v] == level))
        small.push_back(int(v));
    std::stable_sort(small.begin(), small.end(),
                     [&](int a, int b) { return p.values[size_t(a)].bytes < p.values[size_t(b)].bytes; });
    small.resize(std::min<size_t>(small.size(), 8));
    for (int v : small) {
      result.push_back(now);
      result.back().kept.insert(v), result.back().last.insert(v);
    }
    // Or all maps that are read beyond a step do.
    for (const std::vector<int> &cut : staging.cuts()) {
      result.push_back(now);
      result.back().kept.insert(cut.begin(), cut.end()), result.back().last.insert(cut.begin(), cut.end());
    }
    return result;
  }
};

// Of plans of falling memory, those that are faster than all of less memory.
std::vector<PricedSplit> paretoOf(std::vector<PricedSplit> found) {
  std::stable_sort(found.begin(), found.end(), [](const PricedSplit &a, const PricedSplit &b) {
    return std::pair(a.cost.peak, a.cost.ns) < std::pair(b.cost.peak, b.cost.ns);
  });
  std::vector<PricedSplit> best;
  for (PricedSplit &one : found)
    if (best.empty() || one.cost.ns < best.back().cost.ns)
      best.push_back(std::move(one));
  std::reverse(best.begin(), best.end());
  return best;
}

// By rising number: the steps that have a fine kernel and make a map of at most so many rows, and of at least so many,
// for each number of rows.
std::vector<std::vector<int>> fineSets(const SplitProblem &problem, const Axes &axes) {
  std::map<int64_t, std::vector<int>> byRows;
  for (size_t s = 0; s < problem.steps.size(); ++s)
    if (const int value = problem.steps[s].write; problem.steps[s].fine && axes.of(value) >= 0)
      byRows[extentOf(problem, value, axes.of(value))].push_back(int(s));
  std::vector<std::vector<int>> sets(1);
  for (const auto &[rows, steps] : byRows) {
    std::vector<int> next = sets.back();
    next.insert(next.end(), steps.begin(), steps.end());
    sets.push_back(std::move(next));
  }
  std::vector<int> largest;
  for (auto at = byRows.rbegin(); at != byRows.rend() && std::next(at) != byRows.rend(); ++at) {
    largest.insert(largest.end(), at->second.begin(), at->second.end());
    sets.push_back(largest);
  }
  for (std::vector<int> &set : sets)
    std::sort(set.begin(), set.end());
  return sets;
}

void proposeAlong(size_t axis, int largest, const SplitProblem &problem, const SplitSearch &search,
                  const SplitCost &unsplit, std::vector<PricedSplit> &found) {
  const Axes axes(problem, largest, int(axis));
  int64_t all = 1;
  for (const SplitValue &v : problem.values)
    all += v.kind == SplitValue::Kind::Made ? v.bytes : 0;
  if (double(axes.bytes()) < kLeastPart * double(all))
    return;
  const size_t before = found.size();
  for (const std::vector<int> &fine : fineSets(problem, axes)) {
    if (search.kernels == (fine.empty() ? SplitSearch::Kernels::Fine : SplitSearch::Kernels::Own))
      continue;
    SplitPlan with;
    with.fine = fine;
    const SplitProblem kernels = asPlanned(problem, with).problem;
    SplitCoster coster(kernels);
    Proposer proposer(kernels, search, coster, axes, unsplit);
    std::vector<PricedSplit> mine;
    proposer.run(Proposer::Greed::Memory, mine);
    proposer.run(Proposer::Greed::Price, mine);
    for (PricedSplit &one : paretoOf(std::move(mine))) {
      found.push_back(proposer.coarsened(std::move(one)));
      found.back().plan.fine = fine;
    }
  }
  std::vector<SplitPlan> bases(1);
  auto least = std::min_element(found.begin() + int64_t(before), found.end(),
                                [](const PricedSplit &a, const PricedSplit &b) { return a.cost.peak < b.cost.peak; });
  if (least != found.end())
    bases.push_back(least->plan);
  std::vector<PricedSplit> inParts;
  proposeInParts(problem, search, largest, int(axis), unsplit, bases, inParts);
  const int64_t simple = int64_t(found.size());
  for (PricedSplit &one : inParts) {
    int64_t least = unsplit.peak;
    for (int64_t k = int64_t(before); k < simple; ++k)
      if (found[size_t(k)].cost.ns <= one.cost.ns)
        least = std::min(least, found[size_t(k)].cost.peak);
    if (double(one.cost.peak) < kPartsWorth * double(least))
      found.push_back(std::move(one));
  }
}

} // namespace

std::vector<PricedSplit> proposeSplits(const SplitProblem &problem, const SplitSearch &search) {
  std::string why;
  const std::optional<SplitCost> unsplit = costOfSplit(problem, {}, why);
  int largest = -1;
  for (size_t v = 0; v < problem.values.size(); ++v)
    if (problem.values[v].kind == SplitValue::Kind::Made &&
        (largest < 0 || problem.values[v].bytes > problem.values[size_t(largest)].bytes))
      largest = int(v);
  if (largest < 0 || !unsplit)
    return {};
  std::vector<PricedSplit> found;
  for (size_t axis = 0; axis < problem.values[size_t(largest)].dims.size(); ++axis)
    proposeAlong(axis, largest, problem, search, *unsplit, found);
  std::vector<PricedSplit> plans, fine;
  for (PricedSplit &one : found)
    (one.plan.fine.empty() && one.plan.loose.empty() ? plans : fine).push_back(std::move(one));
  plans = paretoOf(std::move(plans));
  const int64_t least = plans.empty() ? INT64_MAX : plans.back().cost.peak;
  for (PricedSplit &one : paretoOf(std::move(fine)))
    if (one.cost.peak < least)
      plans.push_back(std::move(one));
  return plans;
}

} // namespace plim::solver
