//===- Twins.cpp - Plans for a graph of equal parts ------------------------------------------------===//
//
// Images of a batch that run one after the other peak alike, so that no change of one of them lowers the peak of all.
// The plans of one are looked for alone, and done to each.
//
//===------------------------------------------------------------------------------------------------===//
#include "compiler/Solver/Split/Split.h"
#include <algorithm>

namespace plim::solver {
namespace {

class Twins {
public:
  Twins(const SplitProblem &problem, int64_t copies) : p(problem), copies(int(copies)) {}

  // The first steps are `copies` equal runs of as many as possible; each makes its own values, in the same order.
  bool find() {
    for (size_t n = p.steps.size() / size_t(copies); n > 0 && !steps; --n)
      if (areEqual(n))
        steps = n;
    return steps > 0;
  }

  // The first of them alone; what others read of it leaves it.
  SplitProblem first() const {
    SplitProblem one = p;
    one.steps.resize(steps);
    one.values.resize(size_t(endOf(0)));
    for (SplitValue &v : one.values)
      v.output = false;
    for (size_t s = steps; s < p.steps.size(); ++s)
      for (int read : p.steps[s].reads)
        if (read < endOf(0) && one.values[size_t(read)].kind == SplitValue::Kind::Made)
          one.values[size_t(read)].output = true;
    for (int v = 0; v < endOf(0); ++v)
      if (p.values[size_t(v)].output)
        one.values[size_t(v)].output = true;
    return one;
  }

  SplitPlan forAll(const SplitPlan &one) const {
    SplitPlan all;
    for (int copy = 0; copy < copies; ++copy) {
      for (SplitStage stage : one.stages) {
        for (SplitKeep &keep : stage.keeps)
          keep.value += copy * perCopy();
        all.stages.push_back(std::move(stage));
      }
      for (int step : one.fine)
        all.fine.push_back(step + copy * int(steps));
      for (int step : one.loose)
        all.loose.push_back(step + copy * int(steps));
    }
    return all;
  }

private:
  const SplitProblem &p;
  const int copies;
  size_t steps = 0; // of each

  static int made(const SplitProblem &p, size_t step) { return p.steps[step].write; }
  int perCopy() const { return made(p, steps) - made(p, 0); }
  int endOf(int copy) const { return made(p, 0) + (copy + 1) * perCopy(); }

  bool areEqual(size_t n) const {
    if (n >= p.steps.size() || made(p, 0) < 0)
      return false;
    const int first = made(p, 0), shift = made(p, n) - first;
    for (size_t s = 0; s < n * size_t(copies); ++s) {
      const SplitStep &a = p.steps[s % n], &b = p.steps[s];
      const int offset = int(s / n) * shift;
      if (a.write < first || b.write != a.write + offset || a.reads.size() != b.reads.size() || a.ns != b.ns ||
          a.ways.size() != b.ways.size() || p.values[size_t(a.write)].dims != p.values[size_t(b.write)].dims)
        return false;
      for (size_t r = 0; r < a.reads.size(); ++r)
        if (b.reads[r] != (a.reads[r] < first ? a.reads[r] : a.reads[r] + offset))
          return false;
    }
    return shift > 0;
  }
};

} // namespace

std::vector<PricedSplit> proposeSplitsOfTwins(const SplitProblem &problem, int64_t copies, const SplitSearch &search) {
  Twins twins(problem, copies);
  std::vector<PricedSplit> found;
  std::string why;
  if (copies < 2 || !twins.find())
    return found;
  for (const PricedSplit &one : proposeSplits(twins.first(), search)) {
    if (!one.plan.copied.empty())
      continue; // all copies stand before the first of their readers, which is in the first part
    SplitPlan plan = twins.forAll(one.plan);
    if (std::optional<SplitCost> cost = costOfSplit(problem, plan, why))
      found.push_back({std::move(plan), *cost});
  }
  return found;
}

} // namespace plim::solver
