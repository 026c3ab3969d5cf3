//===- InParts.cpp - Plans whose steps run in parts of a piece ------------------------------------===//
//
// Where maps get smaller and larger again (a U-Net), what is read beyond the smallest map waits for it: the rows that
// the windows of all steps reach, and those of a piece. In parts, a piece can be as few rows as make a tile of the
// smallest map, while the steps of the large maps still run a few rows at a time. Of what then takes most, the map that
// waits is computed by copies of its steps, at the pace of what reads it last; and so on.
//
//===------------------------------------------------------------------------------------------===//
#include "compiler/Solver/Split/InParts.h"
#include "compiler/Solver/Split/Staging.h"
#include <algorithm>

namespace plim::solver {
namespace {

constexpr int64_t kRows = 4;      // of the longest map, in a part
constexpr int64_t kLines = 240;   // parts of a stage, at most
constexpr int kMapsCopied = 4;    // one after the other
constexpr int64_t kRuns = 400000; // of all plans that are costed, a step for each part

class PartsSearch {
public:
  PartsSearch(const SplitProblem &problem, const SplitSearch &search, int largest, int axis, const SplitCost &unsplit,
              std::vector<PricedSplit> &found)
      : p(problem), search(search), largest(largest), axis(axis), unsplit(unsplit), writers(writersOf(problem)),
        found(found), left(kRuns) {}

  // `base` is without parts; without stages, they are those that keep every map that several read.
  void run(SplitPlan base) {
    for (int copies = 0; copies <= kMapsCopied; ++copies) {
      const PlannedProblem planned = asPlanned(p, base);
      const Axes axes(planned.problem, largest, axis);
      const Staging staging(planned.problem, search, axes);
      SplitCoster coster(planned.problem);
      SplitPlan plan = base;
      if (plan.stages.empty())
        plan.stages = staging.planOf(staging.everyCrossing()).stages;
      const std::vector<int> waiting = sizes(plan, staging, coster);
      if (!copyOneOf(waiting, plan, staging, base))
        return;
    }
  }

private:
  const SplitProblem &p;
  const SplitSearch &search;
  const int largest, axis;
  const SplitCost &unsplit;
  const std::vector<int> writers;
  std::vector<PricedSplit> &found;
  int64_t left;

  // All sizes of pieces and parts; the values that wait in the plan of least memory, those of most bytes first.
  std::vector<int> sizes(SplitPlan plan, const Staging &staging, SplitCoster &coster) {
    std::vector<int64_t> lines;
    std::vector<char> before(p.values.size() + plan.copied.size());
    int64_t most = 1;
    for (const SplitStage &stage : plan.stages) {
      int64_t rows = std::max<int64_t>(1, staging.longest(stage, before) / kRows);
      while (rows > kLines)
        rows /= 2;
      lines.push_back(rows), most = std::max(most, rows);
      for (const SplitKeep &keep : stage.keeps)
        before[size_t(keep.value)] = 1;
    }
    std::optional<SplitCoster::Detail> least;
    for (int64_t coarser : {1, 2})
      for (int64_t parts = 2; parts * 2 <= most / coarser; parts *= 2) {
        for (size_t s = 0; s < plan.stages.size(); ++s)
          plan.stages[s].pieces = std::max<int64_t>(1, lines[s] / coarser / parts), plan.stages[s].parts = parts;
        if ((left -= most / coarser * int64_t(p.steps.size())) < 0)
          return {};
        std::string why;
        std::optional<SplitCoster::Detail> detail = coster.cost(plan, why);
        if (!detail || double(detail->cost.ns) > search.slowest * double(unsplit.ns))
          continue;
        if (detail->cost.peak < unsplit.peak)
          found.push_back({plan, detail->cost});
        if (!least || detail->cost.peak < least->cost.peak)
          least = std::move(detail);
      }
    return least ? least->lines : std::vector<int>();
  }

  // Adds copies of what makes the first of the values that is read long after it was made.
  bool copyOneOf(const std::vector<int> &waiting, const SplitPlan &plan, const Staging &staging,
                 SplitPlan &base) const {
    for (int value : waiting) {
      if (value >= int(p.values.size()) || writers[size_t(value)] < 0)
        continue;
      const std::vector<int> readers = readersOf(value);
      if (readers.size() < 2 || std::binary_search(base.readers.begin(), base.readers.end(), readers.back()))
        continue;
      SplitPlan next = base;
      next.readers.push_back(readers.back());
      addWriters(value, plan, staging, next.copied);
      for (std::vector<int> *steps : {&next.copied, &next.readers}) {
        std::sort(steps->begin(), steps->end());
        steps->erase(std::unique(steps->begin(), steps->end()), steps->end());
      }
      if (next.copied.back() >= next.readers.front())
        continue;
      base = std::move(next);
      return true;
    }
    return false;
  }

  std::vector<int> readersOf(int value) const {
    std::vector<int> readers;
    for (size_t s = 0; s < p.steps.size(); ++s)
      if (std::count(p.steps[s].reads.begin(), p.steps[s].reads.end(), value))
        readers.push_back(int(s));
    return readers;
  }

  // The steps that make a value by rows from what is whole.
  void addWriters(int value, const SplitPlan &plan, const Staging &staging, std::vector<int> &steps) const {
    std::vector<char> seen(p.values.size());
    for (const SplitStage &stage : plan.stages)
      for (const SplitKeep &keep : stage.keeps)
        seen[size_t(keep.value)] = keep.value != value;
    std::vector<int> open{value};
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      if (seen[size_t(at)]++)
        continue;
      steps.push_back(writers[size_t(at)]);
      for (int read : p.steps[size_t(writers[size_t(at)])].reads)
        if (writers[size_t(read)] >= 0 && staging.isMap(read))
          open.push_back(read);
    }
  }
};

} // namespace

void proposeInParts(const SplitProblem &problem, const SplitSearch &search, int largest, int axis,
                    const SplitCost &unsplit, const std::vector<SplitPlan> &bases, std::vector<PricedSplit> &found) {
  std::vector<int> tiled;
  for (size_t s = 0; s < problem.steps.size(); ++s)
    if (std::any_of(problem.steps[s].ways.begin(), problem.steps[s].ways.end(),
                    [](const SplitWay &way) { return way.tile > 1; }))
      tiled.push_back(int(s));
  PartsSearch parts(problem, search, largest, axis, unsplit, found);
  for (SplitPlan base : bases) {
    base.fine.clear();
    if (search.kernels != SplitSearch::Kernels::Own && !tiled.empty()) {
      base.loose = tiled;
      parts.run(base);
    }
    base.loose.clear();
    if (search.kernels != SplitSearch::Kernels::Fine)
      parts.run(base);
  }
}

} // namespace plim::solver
