//===- Quotes.cpp - What a move would cost and free, with nothing changed ------------------------===//
#include "compiler/Solver/Joint/Timeline.h"
#include <algorithm>
#include <limits>

namespace plim::solver {

void Timeline::decide(int value, Source source) {
  decision[value] = source;
  decisions = (decisions ^ uint64_t(2 * value + (source == Source::Make))) * 0x9e3779b97f4a7c15;
}

// Adds what it takes to have the value at the slot. Costs only grow on the way, so a chain that has become dearer than
// `limit` (its cost less lambda times its gain) is not followed to its end.
void Timeline::quoteNeed(int value, int slot, Quote &quote, double limit) {
  if (!quote.possible || seen[value] == stamp)
    return;
  ++work;
  seen[value] = stamp;
  decide(value, Source::Keep);
  const int i = find(value, slot);
  const std::vector<Touch> &list = touches[value];
  const bool hasNext = i < int(list.size());
  if (hasNext && (list[i].slot == slot || list[i].source != Source::Make))
    return; // there, or kept across, or read, whose price hardly changes
  const int before = i > 0 ? list[i - 1].slot : -1;
  double priced = double(size[value]) * weightOf(before + 1, slot);
  if (priced == 0 && i > 0) {
    if (memory.max(before + 1, slot) + size[value] <= 0)
      return;
    priced = double(size[value]); // it would overflow a slot that just fits now
  }
  const int maker = graph.values[value].maker;
  if (graph.values[value].remakable && (i == 0 || graph.problem.levers.recompute)) {
    Quote make;
    make.possible = slot <= graph.operations[maker].latest;
    make.cost = hasNext ? 0 : double(way(maker).ns); // a later run moves here
    if (hasNext)
      make.gain -= double(size[value]) * weightOf(slot + 1, list[i].slot);
    double most = limit - quote.cost + lambda * quote.gain;
    if (i > 0)
      most = std::min(most, lambda * priced);
    for (int v : graph.operations[maker].reads) {
      if (make.cost - lambda * make.gain >= most)
        break;
      quoteNeed(v, slot, make, most);
    }
    if (make.possible && (i == 0 || make.cost - lambda * make.gain < most)) {
      decide(value, Source::Make);
      quote.cost += make.cost, quote.gain += make.gain;
      return;
    }
  }
  quote.gain -= priced;
  quote.possible = quote.possible && i > 0;
}

Timeline::Quote Timeline::quoteMake(int value, int i) {
  constexpr double limit = std::numeric_limits<double>::infinity();
  const std::vector<Touch> &list = touches[value];
  const int slot = list[i].slot, maker = graph.values[value].maker;
  Quote quote;
  ++stamp, ++work;
  decisions = 0, askedPrice = false;
  quote.possible = graph.values[value].remakable && slot <= graph.operations[maker].latest;
  if (!quote.possible)
    return quote;
  const Graph::Operation &op = graph.operations[maker];
  const auto wanted = std::count_if(op.writes.begin(), op.writes.end(), [&](int v) { return !touches[v].empty(); });
  const bool postpones = i == 1 && list[0].uses == 0 && wanted == 1 && !fixedTouch(value, list[0]);
  quote.possible = postpones || graph.problem.levers.recompute;
  quote.gain = double(size[value]) * gapWeight(value, i);
  quote.cost = postpones ? 0 : double(way(maker).ns);
  for (int v : op.reads)
    quoteNeed(v, slot, quote, limit);
  return quote;
}

Timeline::Quote Timeline::quoteChoice(int group, int to) const {
  Quote quote;
  const Graph::Group &g = graph.groups[group];
  for (int o : g.operations) {
    const Graph::Way &was = way(o), &is = graph.operations[o].ways[to];
    quote.cost += double(is.ns - was.ns) * runCount[o];
    quote.gain += double(was.workspace - is.workspace) * weight[o];
  }
  for (int v : g.values) {
    const double less = double(size[v] - graph.values[v].bytes[to]);
    const std::vector<Touch> &list = touches[v];
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i].slot >= 0 && list[i].slot < slots)
        quote.gain += less * weight[list[i].slot];
      if (i > 0 && list[i].source == Source::Keep)
        quote.gain += less * weightOf(list[i - 1].slot + 1, std::min(list[i].slot, slots));
    }
  }
  return quote;
}

} // namespace plim::solver
