//===- ExactPlan.cpp - The fastest plan of a small problem --------------------------------------===//
#include "compiler/Solver/Exact/ExactPlan.h"
#include <algorithm>
#include <numeric>
#include <queue>
#include <unordered_map>

namespace plim::solver {
namespace {

constexpr int kMostSteps = 24, kMostValues = 32;

using Mask = uint64_t;
constexpr Mask bit(int k) { return Mask(1) << k; }

// What has run, and what is in memory.
struct State {
  Mask done = 0, memory = 0;
  bool operator==(const State &) const = default;
};
struct StateHash {
  size_t operator()(const State &s) const { return (s.done * 0x9e3779b97f4a7c15u) ^ (s.memory * 0xc2b2ae3d27d4eb4fu); }
};

struct Operation {
  Mask reads = 0, writes = 0, before = 0;     // values, values, steps
  bool repeats = false;                       // may run again
  std::vector<std::pair<int, int>> inPlace{}; // (result, operand) of equal size
  std::vector<int> candidates{};              // that none beats in both time and workspace, by rising time
};

struct Way {
  int step = -1, candidate = -1;
  State from{};
};

class Search {
public:
  Search(const Context &c, const ExactOptions &options)
      : p(c.problem), options(options), valueOf(p.buffers.size(), -1) {
    for (int b = 0; b < int(p.buffers.size()); ++b)
      if (p.buffers[b].kind == BufferKind::Transient)
        valueOf[b] = int(bytes.size()), bytes.push_back(alignUp(p.buffers[b].bytes, p.buffers[b].align));
    for (int s = 0; s < int(p.steps.size()); ++s)
      addOperation(c, s);
    if (!p.levers.order)
      for (size_t k = 1; k < options.order.size(); ++k)
        operations[options.order[k]].before |= bit(options.order[k - 1]);
  }

  ExactPlan run() {
    const Mask all = bit(int(operations.size())) - 1;
    reach({}, {}, 0);
    ExactPlan plan;
    for (int64_t left = options.states; !open.empty(); --left) {
      const Entry top = open.top();
      open.pop();
      if (cheapest[top.state].first < top.cost)
        continue;
      if (top.state.done == all) {
        trace(top.state, plan);
        plan.outcome = ExactPlan::Outcome::Fastest;
        return plan;
      }
      if (left <= 0)
        return plan;
      for (int s = 0; s < int(operations.size()); ++s)
        tryStep(s, top.state, top.cost);
    }
    plan.outcome = ExactPlan::Outcome::None;
    return plan;
  }

private:
  const Problem &p;
  const ExactOptions &options;
  std::vector<int> valueOf; // by buffer
  std::vector<int64_t> bytes;
  std::vector<Operation> operations;
  struct Entry {
    int64_t cost, number;
    int done;
    State state;
    // The cheapest first; then those that are nearest to the end, and of these the newest.
    bool operator<(const Entry &o) const {
      return cost != o.cost ? cost > o.cost : done != o.done ? done < o.done : number < o.number;
    }
  };
  std::priority_queue<Entry> open;
  std::unordered_map<State, std::pair<int64_t, Way>, StateHash> cheapest;

  void addOperation(const Context &c, int s) {
    const Step &step = p.steps[s];
    Operation op;
    op.repeats = p.levers.recompute && step.pure;
    for (int b : step.reads) {
      if (valueOf[b] >= 0)
        op.reads |= bit(valueOf[b]);
      op.repeats = op.repeats && p.buffers[b].kind != BufferKind::State;
    }
    for (int b : step.writes) {
      if (valueOf[b] >= 0)
        op.writes |= bit(valueOf[b]);
      op.repeats = op.repeats && valueOf[b] >= 0 && p.buffers[b].movable;
    }
    for (int other : c.deps.before[s])
      op.before |= bit(other);
    for (const Alias &alias : p.aliases)
      if (alias.kind == AliasKind::InPlace && alias.step == s && p.levers.alias && valueOf[alias.buffer] >= 0)
        if (const int result = valueOf[alias.buffer], operand = valueOf[alias.base]; bytes[result] == bytes[operand])
          op.inPlace.push_back({result, operand});
    for (int k = 0; k < int(step.candidates.size()); ++k)
      if (step.candidates[k].barredBy.empty())
        op.candidates.push_back(k);
    if (!p.levers.choose)
      op.candidates.resize(1);
    std::stable_sort(op.candidates.begin(), op.candidates.end(),
                     [&](int a, int b) { return step.candidates[a].ns < step.candidates[b].ns; });
    operations.push_back(std::move(op));
  }

  int64_t sum(Mask values) const {
    int64_t total = 0;
    for (int v = 0; v < int(bytes.size()); ++v)
      total += values & bit(v) ? bytes[v] : 0;
    return total;
  }

  void reach(const State &state, const Way &way, int64_t cost) {
    auto [at, isNew] = cheapest.try_emplace(state, cost, way);
    if (!isNew && at->second.first <= cost)
      return;
    at->second = {cost, way};
    open.push({cost, int64_t(cheapest.size()), __builtin_popcountll(state.done), state});
  }

  void tryStep(int s, const State &state, int64_t cost) {
    const Operation &op = operations[s];
    const bool again = state.done & bit(s);
    if ((op.before & ~state.done) || (op.reads & ~state.memory) ||
        (again && (!op.repeats || !(op.writes & ~state.memory))))
      return;
    const Step &step = p.steps[s];
    const int64_t fastest = step.candidates[op.candidates[0]].ns;
    const Mask kept = state.memory & ~op.writes; // of its results there are new instances
    int64_t least = INT64_MAX;
    for (int k : op.candidates) {
      const Candidate &c = step.candidates[k];
      const int64_t workspace = alignUp(p.workspace(c), kAlign);
      if (workspace >= least) // slower, and no smaller
        continue;
      least = workspace;
      const int64_t extra = c.ns - (again ? 0 : fastest);
      const Way way{s, k, state};
      leave(op, kept, 0, c.flags & kInPlaceOk ? 0 : op.inPlace.size(), 0, 0, [&](Mask dead, int64_t saved) {
        drop(kept & ~op.reads, sum(kept | op.writes) + workspace - saved - options.arena, 0, 0, [&](Mask dropped) {
          reach({state.done | bit(s), (kept & ~dead & ~dropped) | op.writes}, way, cost + extra);
        });
      });
    }
  }

  // All ways to leave results in operands; each result and operand once.
  template <typename Take>
  void leave(const Operation &op, Mask kept, Mask results, size_t from, Mask dead, int64_t saved,
             const Take &take) const {
    take(dead, saved);
    for (size_t k = from; k < op.inPlace.size(); ++k)
      if (auto [result, operand] = op.inPlace[k]; !(results & bit(result)) && !(dead & bit(operand)))
        leave(op, kept, results | bit(result), k + 1, dead | bit(operand), saved + bytes[result], take);
  }

  // All sets of values whose bytes are enough, and with any of them left out are not.
  template <typename Take>
  void drop(Mask values, int64_t excess, int from, Mask dropped, const Take &take, int64_t smallest = INT64_MAX) const {
    if (excess <= 0) {
      if (excess + smallest > 0 || dropped == 0)
        take(dropped);
      return;
    }
    for (int v = from; v < int(bytes.size()); ++v)
      if (values & bit(v))
        drop(values, excess - bytes[v], v + 1, dropped | bit(v), take, std::min(smallest, bytes[v]));
  }

  void trace(State state, ExactPlan &plan) const {
    std::vector<std::pair<Way, State>> runs;
    for (; state != State{};) {
      const Way &way = cheapest.at(state).second;
      runs.push_back({way, state}), state = way.from;
    }
    std::reverse(runs.begin(), runs.end());
    std::vector<int> now(p.buffers.size(), -1), instances(p.steps.size(), 0);
    auto instance = [&](int buffer, Tier tier) {
      plan.schedule.instances.push_back({buffer, tier});
      return int(plan.schedule.instances.size()) - 1;
    };
    for (int b = 0; b < int(p.buffers.size()); ++b)
      if (valueOf[b] < 0)
        now[b] = instance(b, p.buffers[b].tier);
    for (const auto &[way, after] : runs) {
      const Step &step = p.steps[way.step];
      Action a;
      a.step = way.step, a.instance = instances[way.step]++, a.candidate = way.candidate;
      for (int b : step.reads)
        a.reads.push_back(now[b]);
      for (int b : step.writes)
        a.writes.push_back(now[b] = valueOf[b] >= 0 ? instance(b, Tier::Ram) : now[b]);
      plan.schedule.actions.push_back(std::move(a));
      plan.begun.push_back(__builtin_popcountll(way.from.done));
      plan.ns += step.candidates[way.candidate].ns;
    }
    plan.live = mostLive(plan.schedule);
  }

  // Bytes of instances from where they are made to where they are read last, results in place counted once.
  int64_t mostLive(const Schedule &schedule) const {
    std::vector<int> made(schedule.instances.size(), -1), last(schedule.instances.size(), -1);
    for (int k = 0; k < int(schedule.actions.size()); ++k)
      for (const auto *list : {&schedule.actions[k].reads, &schedule.actions[k].writes})
        for (int i : *list) {
          made[i] = made[i] < 0 ? k : made[i];
          last[i] = k;
        }
    int64_t most = 0;
    for (int k = 0; k < int(schedule.actions.size()); ++k) {
      const Action &a = schedule.actions[k];
      const Candidate &c = p.steps[a.step].candidates[a.candidate];
      int64_t live = alignUp(p.workspace(c), kAlign);
      for (size_t i = 0; i < made.size(); ++i)
        if (const int v = valueOf[schedule.instances[i].buffer]; v >= 0 && made[i] <= k && k <= last[i])
          live += bytes[v];
      Mask used = 0; // operands
      for (int i : a.writes)
        for (auto [result, operand] : operations[a.step].inPlace) {
          const bool dies = std::any_of(a.reads.begin(), a.reads.end(), [&](int r) {
            return valueOf[schedule.instances[r].buffer] == operand && last[r] == k;
          });
          if (valueOf[schedule.instances[i].buffer] != result || !dies || (used & bit(operand)) ||
              !(c.flags & kInPlaceOk))
            continue;
          used |= bit(operand), live -= bytes[result];
          break;
        }
      most = std::max(most, live);
    }
    return most;
  }
};

} // namespace

bool isSmall(const Problem &p) {
  const auto values = std::count_if(p.buffers.begin(), p.buffers.end(),
                                    [](const Buffer &b) { return b.kind == BufferKind::Transient; });
  return p.groups.empty() && int(p.steps.size()) <= kMostSteps && values <= kMostValues && !p.levers.stream &&
         std::all_of(p.steps.begin(), p.steps.end(), [](const Step &s) {
           return std::all_of(s.candidates.begin(), s.candidates.end(),
                              [](const Candidate &c) { return c.tier == Tier::Ram; });
         });
}

ExactPlan exactPlan(const Context &context, const ExactOptions &options) { return Search(context, options).run(); }

} // namespace plim::solver
