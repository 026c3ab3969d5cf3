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
// so on, and likewise from the largest ones on.
//
//===------------------------------------------------------------------------------------------===//
#include "compiler/Solver/Split/Axes.h"
#include "compiler/Solver/Split/Cost.h"
#include <algorithm>
#include <map>
#include <set>

namespace plim::solver {
namespace {

constexpr int64_t kStepsCosted = 150000; // of all plans of a descent, a step for each
constexpr double kLeastPart = 0.25;      // of the bytes that are made, which an axis must cut to be worth a search

// What a plan keeps, before it is put in stages.
struct Choice {
  std::set<int> kept, last; // values; those of `last` end their stage
  auto operator<=>(const Choice &) const = default;
};

class Proposer {
public:
  Proposer(const SplitProblem &problem, const SplitSearch &search, SplitCoster &coster, const Axes &axes,
           const SplitCost &unsplit)
      : p(problem), search(search), coster(coster), axes(axes), unsplit(unsplit), writers(writersOf(problem)),
        ways(p.steps.size(), nullptr), sums(p.values.size()) {
    for (size_t s = 0; s < p.steps.size(); ++s)
      for (const SplitWay &way : p.steps[s].ways) {
        const int write = p.steps[s].write;
        if (way.carried ? axes.of(p.steps[s].reads[0]) == way.operands[0].axis && axes.of(write) < 0
                        : axes.of(write) == way.axis && fits(p.steps[s], way)) {
          ways[s] = &way;
          sums[size_t(write)] = way.carried;
          break;
        }
      }
    findCuts();
  }

  // What a step of the search takes: the trade of least memory, or of least time for a byte.
  enum class Greed { Memory, Price };

  void run(Greed greed, std::vector<PricedSplit> &found) {
    auto worth = [&](const SplitCost &next, const SplitCost &from) {
      const double bytes = double(from.peak - next.peak), ns = double(next.ns - from.ns);
      return greed == Greed::Memory ? std::pair(-bytes, ns) : std::pair(ns / bytes, -bytes);
    };
    Choice now = everyCrossing();
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
  const Axes &axes;
  const SplitCost unsplit;
  const std::vector<int> writers;
  std::vector<const SplitWay *> ways; // by step: how it is cut, or null
  std::vector<char> sums;             // by value: a carried sum
  std::vector<std::vector<int>> cuts; // maps that are made up to a step and read after it, where they are few bytes

  bool fits(const SplitStep &step, const SplitWay &way) const {
    for (size_t r = 0; r < step.reads.size(); ++r)
      if (way.operands[r].axis >= 0 && axes.of(step.reads[r]) != way.operands[r].axis)
        return false;
    return true;
  }
  // Of the steps that make maps of so many rows, the two after which the fewest bytes of maps are read.
  void findCuts() {
    constexpr size_t kept = 2;
    std::vector<int> last(p.values.size(), -1); // step that reads it
    for (size_t s = 0; s < p.steps.size(); ++s)
      for (int read : p.steps[s].reads)
        last[size_t(read)] = int(s);
    std::map<int64_t, std::vector<std::pair<int64_t, int>>> byRows; // bytes and step
    std::vector<std::vector<int>> crossing(p.steps.size());
    for (size_t s = 0; s < p.steps.size(); ++s) {
      if (!isMap(p.steps[s].write) || last[size_t(p.steps[s].write)] < 0)
        continue;
      int64_t bytes = 0;
      for (size_t t = 0; t <= s; ++t)
        if (const int made = p.steps[t].write; isMap(made) && last[size_t(made)] > int(s))
          crossing[s].push_back(made), bytes += p.values[size_t(made)].bytes;
      byRows[extentOf(p, p.steps[s].write, axes.of(p.steps[s].write))].push_back({bytes, int(s)});
    }
    for (auto &[rows, steps] : byRows) {
      std::sort(steps.begin(), steps.end());
      for (size_t k = 0; k < std::min(kept, steps.size()); ++k)
        cuts.push_back(crossing[size_t(steps[k].second)]);
    }
  }
  bool isMap(int value) const {
    const int writer = writers[size_t(value)];
    return writer >= 0 && ways[size_t(writer)] && !sums[size_t(value)];
  }

  // By value: the stage that makes it first, and the first that can read all of it.
  struct Levels {
    std::vector<int> rows, whole;
  };
  Levels levelsOf(const Choice &choice) const {
    Levels l;
    l.rows.assign(p.values.size(), 0);
    l.whole.assign(p.values.size(), 0);
    for (size_t s = 0; s < p.steps.size(); ++s) {
      const size_t made = size_t(p.steps[s].write);
      int level = 0;
      for (size_t r = 0; r < p.steps[s].reads.size(); ++r) {
        const size_t read = size_t(p.steps[s].reads[r]);
        const bool byRows = ways[s] && ways[s]->operands[r].axis >= 0;
        level = std::max(level, byRows ? l.rows[read] + int(choice.last.count(int(read))) : l.whole[read]);
      }
      l.rows[made] = level;
      l.whole[made] = isMap(int(made)) || sums[made] ? level + 1 : level;
    }
    return l;
  }

  // Values that a later stage than their own, or a step outside of all stages, reads.
  Choice everyCrossing() const {
    Choice choice;
    const Levels l = levelsOf(choice);
    for (size_t s = 0; s < p.steps.size(); ++s)
      for (size_t r = 0; r < p.steps[s].reads.size(); ++r) {
        const int read = p.steps[s].reads[r];
        const bool byRows = ways[s] && ways[s]->operands[r].axis >= 0;
        if (isMap(read) && (!byRows || l.rows[size_t(read)] < l.rows[size_t(p.steps[s].write)]))
          choice.kept.insert(read);
      }
    return choice;
  }

  SplitPlan planOf(const Choice &choice) const {
    const Levels l = levelsOf(choice);
    std::vector<SplitStage> stages;
    auto keep = [&](int value, int axis) {
      const size_t level = size_t(l.rows[size_t(value)]);
      if (stages.size() <= level)
        stages.resize(level + 1);
      stages[level].keeps.push_back({value, axis});
    };
    for (size_t s = 0; s < p.steps.size(); ++s) {
      const int value = p.steps[s].write;
      if (sums[size_t(value)])
        keep(value, ways[s]->operands[0].axis);
      else if (isMap(value) && (p.values[size_t(value)].output || choice.kept.count(value)))
        keep(value, axes.of(value));
    }
    SplitPlan plan;
    std::vector<char> before(p.values.size()); // kept by earlier stages
    for (const SplitStage &stage : stages) {
      for (SplitStage &part : partsOf(stage, before)) {
        part.pieces = finest(part, before);
        plan.stages.push_back(std::move(part));
      }
      for (const SplitKeep &k : stage.keeps)
        before[size_t(k.value)] = 1;
    }
    return plan;
  }

  // What has no step in common runs one after the other, so that only one's windows are alive.
  std::vector<SplitStage> partsOf(const SplitStage &stage, const std::vector<char> &before) const {
    std::vector<SplitStage> parts;
    std::vector<int> part(p.steps.size(), -1), into; // of each step; where a part's keeps have gone
    for (const SplitKeep &k : stage.keeps) {
      int mine = int(into.size());
      into.push_back(mine);
      std::vector<int> open{k.value};
      while (!open.empty()) {
        const int value = open.back();
        open.pop_back();
        const int writer = writers[size_t(value)];
        if (writer < 0 || !ways[size_t(writer)] || before[size_t(value)])
          continue;
        if (int other = part[size_t(writer)]; other >= 0) {
          while (into[size_t(other)] != other)
            other = into[size_t(other)];
          const int low = std::min(mine, other);
          into[size_t(mine)] = into[size_t(other)] = low;
          mine = low;
          continue;
        }
        part[size_t(writer)] = mine;
        const SplitStep &step = p.steps[size_t(writer)];
        for (size_t r = 0; r < step.reads.size(); ++r)
          if (ways[size_t(writer)]->operands[r].axis >= 0)
            open.push_back(step.reads[r]);
      }
    }
    std::vector<int> number(into.size(), -1);
    for (size_t k = 0; k < into.size(); ++k) {
      int root = int(k);
      while (into[size_t(root)] != root)
        root = into[size_t(root)];
      if (number[size_t(root)] < 0)
        number[size_t(root)] = int(parts.size()), parts.emplace_back();
      parts[size_t(number[size_t(root)])].keeps.push_back(stage.keeps[k]);
    }
    return parts;
  }

  // No more pieces than the longest value that the stage reads or makes has rows.
  int64_t finest(const SplitStage &stage, const std::vector<char> &before) const {
    int64_t rows = 1, pieces = 1;
    std::vector<char> seen(p.values.size());
    std::vector<int> open;
    for (const SplitKeep &k : stage.keeps)
      open.push_back(k.value);
    while (!open.empty()) {
      const int value = open.back();
      open.pop_back();
      if (seen[size_t(value)]++)
        continue;
      if (axes.of(value) >= 0)
        rows = std::max(rows, extentOf(p, value, axes.of(value)));
      const int writer = writers[size_t(value)];
      if (writer < 0 || !ways[size_t(writer)] || before[size_t(value)])
        continue;
      for (size_t r = 0; r < p.steps[size_t(writer)].reads.size(); ++r)
        if (ways[size_t(writer)]->operands[r].axis >= 0)
          open.push_back(p.steps[size_t(writer)].reads[r]);
    }
    for (int64_t candidate : search.pieces)
      if (candidate <= rows)
        pieces = std::max(pieces, candidate);
    return pieces;
  }

  std::optional<SplitCoster::Detail> evaluate(const Choice &choice, std::vector<PricedSplit> &found) {
    const SplitPlan plan = planOf(choice);
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
        for (int v : open) {
          const size_t writer = size_t(writers[size_t(v)]);
          for (size_t r = 0; r < p.steps[writer].reads.size(); ++r)
            if (const int read = p.steps[writer].reads[r]; ways[writer]->operands[r].axis >= 0 && isMap(read)) {
              next.push_back(read);
              if (p.values[size_t(read)].bytes < p.values[size_t(value)].bytes && !now.kept.count(read)) {
                result.push_back(dropped);
                result.back().kept.insert(read);
              }
            }
        }
        open = std::move(next);
      }
    }
    // A small map ends its stage.
    const Levels l = levelsOf(now);
    const int stage = at.cost.peakStage;
    const int level = stage < 0 ? -1 : l.rows[size_t(planOf(now).stages[size_t(stage)].keeps[0].value)];
    std::vector<int> small;
    for (size_t v = 0; v < p.values.size(); ++v)
      if (isMap(int(v)) && !now.last.count(int(v)) && !p.values[v].output && p.values[v].bytes * 8 < at.cost.peak &&
          (level < 0 || l.rows[v] == level))
        small.push_back(int(v));
    std::stable_sort(small.begin(), small.end(),
                     [&](int a, int b) { return p.values[size_t(a)].bytes < p.values[size_t(b)].bytes; });
    small.resize(std::min<size_t>(small.size(), 8));
    for (int v : small) {
      result.push_back(now);
      result.back().kept.insert(v), result.back().last.insert(v);
    }
    // Or all maps that are read beyond a step do.
    for (const std::vector<int> &cut : cuts) {
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
  for (const std::vector<int> &fine : fineSets(problem, axes)) {
    if (search.kernels == (fine.empty() ? SplitSearch::Kernels::Fine : SplitSearch::Kernels::Own))
      continue;
    const SplitProblem kernels = withFineKernels(problem, fine);
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
    (one.plan.fine.empty() ? plans : fine).push_back(std::move(one));
  plans = paretoOf(std::move(plans));
  const int64_t least = plans.empty() ? INT64_MAX : plans.back().cost.peak;
  for (PricedSplit &one : paretoOf(std::move(fine)))
    if (one.cost.peak < least)
      plans.push_back(std::move(one));
  return plans;
}

} // namespace plim::solver
