//===- Order.cpp - An order of the steps that needs less memory -------------------------------===//
//
// Minimising the peak over topological orders is NP-hard (register sufficiency, Sethi 1975), so this is a search with
// no bound: list schedules that prefer steps which free more than they allocate, then rounds that schedule a window of
// the best order anew, mostly around its peak, and keep what is not worse. The result is compared with the order given.
//
//===------------------------------------------------------------------------------------------===//
#include "compiler/Solver/Order.h"
#include <algorithm>
#include <random>
#include <tuple>

namespace plim::solver {
namespace {

class Orderer {
public:
  Orderer(const Context &context, Draft &draft, uint64_t seed)
      : ctx(context), p(context.problem), draft(draft), random(seed), steps(int(p.steps.size())) {
    bytes.resize(p.buffers.size());
    for (size_t b = 0; b < bytes.size(); ++b)
      bytes[b] = p.buffers[b].kind == BufferKind::Transient ? bytesOf(p, int(b), draft.choices) : 0;
    open.assign(steps, 0), readsLeft.assign(p.buffers.size(), 0), inside.assign(steps, 0);
  }

  void run(int rounds) {
    const std::vector<int> given = draft.order;
    const Cost before = cost();
    best = before;
    for (bool recent : {false, true}) {
      std::vector<int> order = given;
      reschedule(order, 0, steps, 0, recent);
      consider(order);
    }
    for (int round = 0; round < rounds && steps > 2; ++round) {
      const int longest = std::min(steps, 2 + below(round % 8 == 7 ? 256 : 48));
      const int center = below(2) ? best.at : below(steps);
      const int begin = std::clamp(center - below(longest), 0, steps - longest);
      std::vector<int> order = draft.order;
      if (below(3) == 0)
        moveOne(order, begin, begin + longest);
      else
        reschedule(order, begin, begin + longest, double(below(4)) * 0.25, below(2) == 1);
      if (order != draft.order)
        consider(order);
    }
    if (best.peak >= before.peak)
      draft.order = given;
  }

private:
  struct Cost {
    int64_t peak = 0, crest = 0;
    int at = 0;
    bool notAbove(const Cost &other) const { return std::tie(peak, crest) <= std::tie(other.peak, other.crest); }
  };

  const Context &ctx;
  const Problem &p;
  Draft &draft; // its order is the best so far
  std::mt19937_64 random;
  const int steps;
  Cost best;
  std::vector<int64_t> bytes; // by buffer; 0 where its life does not depend on the order
  std::vector<int> open, readsLeft;
  std::vector<char> inside;

  int below(int limit) { return int(random() % uint64_t(limit)); }

  Cost cost() const {
    Usage usage = simulate(ctx, draft, layOut(ctx, draft));
    return {usage.peak[0], usage.crest, std::max(usage.at, 0)};
  }

  void consider(std::vector<int> &order) {
    draft.order.swap(order);
    Cost now = cost();
    if (now.notAbove(best))
      best = now;
    else
      draft.order.swap(order);
  }

  // Moves one step of [begin, end) to another place inside that its dependencies allow.
  void moveOne(std::vector<int> &order, int begin, int end) {
    const int from = begin + below(end - begin), step = order[from];
    auto isIn = [](const std::vector<int> &sorted, int x) {
      return std::binary_search(sorted.begin(), sorted.end(), x);
    };
    int low = from, high = from;
    while (low > begin && !isIn(ctx.deps.before[step], order[low - 1]))
      --low;
    while (high + 1 < end && !isIn(ctx.deps.before[order[high + 1]], step))
      ++high;
    const int to = low + below(high - low + 1);
    if (to < from)
      std::rotate(order.begin() + to, order.begin() + from, order.begin() + from + 1);
    else
      std::rotate(order.begin() + from, order.begin() + from + 1, order.begin() + to + 1);
  }

  // List-schedules order[begin, end): of the steps that are ready, the one that adds least to the live bytes; among
  // equals the most recently ready one, or the earliest in the order.
  void reschedule(std::vector<int> &order, int begin, int end, double noise, bool recent) {
    for (int k = begin; k < steps; ++k)
      for (int b : p.steps[order[k]].reads)
        ++readsLeft[b];
    for (int k = begin; k < end; ++k)
      inside[order[k]] = 1;
    struct Ready {
      int step, key;
    };
    std::vector<Ready> ready;
    int clock = 0;
    std::vector<int> key(recent ? 0 : steps);
    for (int k = begin; k < end; ++k) {
      const int s = order[k];
      if (!recent)
        key[s] = k;
      open[s] = int(
          std::count_if(ctx.deps.before[s].begin(), ctx.deps.before[s].end(), [&](int b) { return inside[b] != 0; }));
    }
    for (int k = begin; k < end; ++k)
      if (open[order[k]] == 0)
        ready.push_back({order[k], recent ? -clock++ : k});
    std::vector<int> result;
    while (!ready.empty()) {
      size_t pick = 0;
      double least = 0;
      for (size_t r = 0; r < ready.size(); ++r) {
        double growth = double(growthOf(ready[r].step));
        if (noise > 0)
          growth += noise * double(below(2001) - 1000) * 1e-3 * std::abs(growth);
        if (r == 0 || growth < least || (growth == least && ready[r].key < ready[pick].key))
          pick = r, least = growth;
      }
      const int s = ready[pick].step;
      ready.erase(ready.begin() + int64_t(pick));
      result.push_back(s);
      inside[s] = 0;
      for (int b : p.steps[s].reads)
        --readsLeft[b];
      for (int t : ctx.deps.after[s])
        if (inside[t] && --open[t] == 0)
          ready.push_back({t, recent ? -clock++ : key[t]});
    }
    std::copy(result.begin(), result.end(), order.begin() + begin);
    for (int k = end; k < steps; ++k)
      for (int b : p.steps[order[k]].reads)
        --readsLeft[b];
  }

  int64_t growthOf(int step) const {
    int64_t growth = 0;
    for (int b : p.steps[step].writes)
      growth += bytes[b];
    for (int b : p.steps[step].reads)
      growth -= readsLeft[b] == 1 ? bytes[b] : 0;
    return growth;
  }
};

} // namespace

void orderForMemory(const Context &context, Draft &draft, int rounds, uint64_t seed) {
  Orderer(context, draft, seed).run(rounds);
}

} // namespace plim::solver
