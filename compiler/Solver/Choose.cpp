//===- Choose.cpp - From the fastest candidates to the smallest, trade by trade ----------------===//
#include "compiler/Solver/Choose.h"
#include <algorithm>
#include <set>

namespace plim::solver {
namespace {

bool allowed(const Problem &problem, int group, int choice) {
  return std::all_of(problem.steps.begin(), problem.steps.end(),
                     [&](const Step &step) { return step.group != group || step.candidates[choice].barredBy.empty(); });
}

void setChoice(const Problem &problem, Draft &draft, int group, int choice) {
  draft.choices[group] = choice;
  for (size_t s = 0; s < problem.steps.size(); ++s)
    if (problem.steps[s].group == group)
      draft.candidates[s] = choice;
}

class Trader {
public:
  Trader(const Context &context, int evaluations) : ctx(context), p(context.problem), left(evaluations) {}

  std::vector<Draft> run(const Draft &start) {
    std::vector<Draft> path{start};
    now = evaluate(start);
    while (left > 0 && now.usage.at >= 0) {
      Draft best;
      Point bestPoint;
      double bestPrice = 0;
      for (Draft &next : trades(path.back())) {
        if (left-- <= 0)
          break;
        Point point = evaluate(next);
        const Usage &u = point.usage, &v = now.usage;
        const int64_t gain = v.live[v.at] - u.live[v.at];
        const bool less = u.peak[0] < v.peak[0] || (u.peak[0] == v.peak[0] && u.atPeak < v.atPeak);
        if (!less || gain <= 0)
          continue;
        const double price = double(point.ns - now.ns) / double(gain);
        if (best.order.empty() || price < bestPrice)
          best = std::move(next), bestPoint = std::move(point), bestPrice = price;
      }
      if (best.order.empty())
        break;
      path.push_back(std::move(best));
      now = std::move(bestPoint);
    }
    return path;
  }

private:
  struct Point {
    Layout layout;
    Usage usage;
    int64_t ns = 0;
  };
  const Context &ctx;
  const Problem &p;
  int left;
  Point now;

  Point evaluate(const Draft &draft) const {
    Point point{layOut(ctx, draft), {}, 0};
    point.ns = computeNs(point.layout);
    point.usage = simulate(ctx, draft, point.layout);
    return point;
  }

  // All changes of one decision that bear on the first position of the peak.
  std::vector<Draft> trades(const Draft &draft) const {
    const int at = now.usage.at, step = draft.order[at];
    std::set<int> steps{step}, groups, dropped;
    for (int b = 0; b < int(p.buffers.size()); ++b) {
      const Member &member = now.layout.members[b];
      const StorageLife &life = now.layout.storages[member.storage];
      if (life.region != Region::Transient || life.birth > at || life.death <= at)
        continue;
      if (p.levers.alias && member.alias >= 0)
        dropped.insert(member.alias);
      if (p.buffers[b].group >= 0)
        groups.insert(p.buffers[b].group);
      steps.insert(ctx.uses.writer[b]);
      steps.insert(ctx.uses.readers[b].begin(), ctx.uses.readers[b].end());
    }
    std::vector<Draft> result;
    for (int s : steps) {
      if (!p.levers.choose || s < 0)
        continue;
      const Step &one = p.steps[s];
      if (one.group >= 0 && s == step)
        groups.insert(one.group);
      const Candidate &chosen = one.candidates[draft.candidates[s]];
      for (int c = 0; c < int(one.candidates.size()) && one.group < 0; ++c) {
        const Candidate &other = one.candidates[c];
        // Away from the peak a candidate matters only by what it lets its operands share.
        const bool matters = s == step ? p.workspace(other) < p.workspace(chosen) || other.flags != chosen.flags
                                       : (other.flags & ~chosen.flags) != 0;
        if (c == draft.candidates[s] || !other.barredBy.empty() || !matters)
          continue;
        result.push_back(draft);
        result.back().candidates[s] = c;
      }
    }
    for (int g : groups)
      for (int c = 0; c < int(p.groups[g].choices.size()) && p.levers.choose; ++c)
        if (c != draft.choices[g] && allowed(p, g, c)) {
          result.push_back(draft);
          setChoice(p, result.back(), g, c);
        }
    for (int a : dropped) {
      result.push_back(draft);
      result.back().refused[a] = 1;
    }
    return result;
  }
};

} // namespace

std::vector<Draft> tradeDown(const Context &context, const Draft &start, int evaluations) {
  return Trader(context, evaluations).run(start);
}

Draft leanestDraft(const Problem &problem, const Draft &start) {
  Draft draft = start;
  for (int s = 0; s < int(problem.steps.size()); ++s) {
    const Step &step = problem.steps[s];
    for (int c = 0; c < int(step.candidates.size()) && step.group < 0; ++c)
      if (step.candidates[c].barredBy.empty() &&
          problem.workspace(step.candidates[c]) < problem.workspace(step.candidates[draft.candidates[s]]))
        draft.candidates[s] = c;
  }
  for (int g = 0; g < int(problem.groups.size()); ++g) {
    auto bytes = [&](int choice) {
      int64_t sum = 0;
      for (const Buffer &b : problem.buffers)
        sum += b.group == g ? b.sizes[choice] : 0;
      for (const Step &s : problem.steps)
        sum += s.group == g ? problem.workspace(s.candidates[choice]) : 0;
      return sum;
    };
    int best = draft.choices[g];
    for (int c = 0; c < int(problem.groups[g].choices.size()); ++c)
      if (allowed(problem, g, c) && bytes(c) < bytes(best))
        best = c;
    setChoice(problem, draft, g, best);
  }
  return draft;
}

Draft draftWithin(const Problem &problem, const Draft &start, int64_t workspace) {
  Draft draft = start;
  for (int s = 0; s < int(problem.steps.size()); ++s) {
    const Step &step = problem.steps[s];
    if (step.group >= 0 || problem.workspace(step.candidates[draft.candidates[s]]) <= workspace)
      continue;
    int best = -1;
    for (int c = 0; c < int(step.candidates.size()); ++c)
      if (step.candidates[c].barredBy.empty() && problem.workspace(step.candidates[c]) <= workspace &&
          (best < 0 || step.candidates[c].ns < step.candidates[best].ns))
        best = c;
    draft.candidates[s] = best < 0 ? draft.candidates[s] : best;
  }
  return draft;
}

} // namespace plim::solver
