//===- Backward.cpp - Bytes without which a set of values cannot come together -----------------===//
//
// States are sets of values that are in memory together; the start is `held`. Which of them was made last? For each
// maker: the others and its operands were there before, a state nearer to the empty set. The cost of a way is its
// dearest run, so the least over all ways is a bottleneck shortest path. Stopped early, the cheapest open state bounds
// it.
//
//===------------------------------------------------------------------------------------------===//
#include "compiler/Solver/Bound/Backward.h"
#include <algorithm>
#include <map>
#include <queue>

namespace plim::solver {
namespace {

struct State {
  std::vector<int> held; // sorted
  BackwardCase dearest;
};

// By rising cost; among equals the newest first, which finds cheap ways in few states.
struct Open {
  int64_t cost;
  int64_t number;
  bool operator<(const Open &other) const { return cost != other.cost ? cost > other.cost : number < other.number; }
};

class Search {
public:
  Search(Footprint &footprint, int64_t known, int64_t &work) : f(footprint), known(known), work(work) {}

  BackwardCase run(State start) {
    push(std::move(start));
    while (true) {
      const Open top = open.top();
      open.pop();
      State state = std::move(states[top.number]);
      if (state.held.empty() || work <= 0)
        return std::move(state.dearest);
      expand(state);
    }
  }

private:
  Footprint &f;
  const int64_t known;
  int64_t &work;
  std::vector<State> states;
  std::priority_queue<Open> open;
  std::map<std::vector<int>, int64_t> cheapest; // by state

  void push(State state) {
    work -= int64_t(state.held.size()) + 1;
    const int64_t cost = std::max(state.dearest.arena, known);
    auto [at, isNew] = cheapest.try_emplace(state.held, cost);
    if (!isNew && at->second <= cost)
      return;
    at->second = cost;
    open.push({cost, int64_t(states.size())});
    states.push_back(std::move(state));
  }

  void expand(const State &state) {
    std::vector<int> makers;
    for (int b : state.held)
      makers.push_back(f.uses.writer[b]);
    std::sort(makers.begin(), makers.end());
    makers.erase(std::unique(makers.begin(), makers.end()), makers.end());
    std::vector<State> next;
    for (int maker : makers) {
      State before;
      std::vector<int> kept, made;
      for (int b : state.held)
        (f.uses.writer[b] == maker ? made : kept).push_back(b);
      before.held = kept;
      for (const Footprint::Operand &o : f.needs[maker].reads)
        if (o.whole && f.value[o.buffer])
          before.held.push_back(o.buffer);
      std::sort(before.held.begin(), before.held.end());
      before.held.erase(std::unique(before.held.begin(), before.held.end()), before.held.end());
      const int64_t cost = f.running(maker, kept, made, true, work);
      before.dearest = state.dearest;
      if (cost > state.dearest.arena)
        before.dearest = {cost, maker, kept};
      // Nothing new is needed and nothing gets dearer: no other case can be cheaper.
      if (before.held.size() == kept.size() && cost <= std::max(state.dearest.arena, known))
        return push(std::move(before));
      next.push_back(std::move(before));
    }
    std::stable_sort(next.begin(), next.end(),
                     [](const State &a, const State &b) { return a.dearest.arena > b.dearest.arena; });
    for (State &before : next)
      push(std::move(before));
  }
};

} // namespace

BackwardCase backwardBound(Footprint &footprint, std::vector<int> held, int64_t start, int64_t known, int64_t &work) {
  std::sort(held.begin(), held.end());
  State state;
  state.held = std::move(held), state.dearest.arena = start;
  return Search(footprint, known, work).run(std::move(state));
}

} // namespace plim::solver
