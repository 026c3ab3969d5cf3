//===- ExactPacking.cpp - Restarts of the exact search ----------------------------------------===//
#include "compiler/Solver/Packing/ExactPacking.h"
#include "compiler/Solver/Packing/ExactSearch.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

namespace plim::solver {
namespace {

constexpr int kFixedOrders = 12;
// What restarts after each fixed order had its turn. Each learns weights of its own.
struct Track {
  int order;
  int64_t leastNodes; // of its first restart
};
constexpr std::array<Track, 4> kTracks{{{12, 0}, {13, 2000}, {10, 0}, {6, 0}}};

// 1 1 2 1 1 2 4 ...: within a factor O(log) of the best restart schedule (Luby, Sinclair & Zuckerman 1993).
int64_t luby(int64_t i) {
  int64_t full = 1;
  while (full < i)
    full = 2 * full + 1;
  return full == i ? (full + 1) / 2 : luby(i - full / 2);
}

// A value to sort by, larger first: W width in time, Z size, A area, C sections, T fullest instant.
double sortValue(char key, const ExactSearch &search, int item) {
  const double width = double(search.widthOf(item)), size = double(search.sizeOf(item));
  switch (key) {
  case 'W':
    return width;
  case 'Z':
    return size;
  case 'A':
    return width * size;
  case 'C':
    return double(search.sectionsOf(item));
  default:
    return double(search.fullestOf(item));
  }
}

// Orders 0-5 sort all items; 6-11 the same, inside the section with the least slack for its weight. After these, random
// ones: 12 mixtures of any kind, 13 one mixture with noise inside the section of the largest weight.
ExactSearch::Strategy strategyOf(const ExactSearch &search, int order, uint64_t seed) {
  ExactSearch::Strategy strategy;
  const int count = search.count();
  std::vector<std::vector<double>> keys(count);
  if (order < kFixedOrders) {
    static constexpr const char *kSorts[] = {"WAT", "TAW", "TWA", "AWT", "CAT", "ZWT"};
    strategy.bySection = order < kFixedOrders / 2 ? ExactSearch::BySection::No : ExactSearch::BySection::Slack;
    for (int i = 0; i < count; ++i)
      for (const char *key = kSorts[order % 6]; *key; ++key)
        keys[i].push_back(sortValue(*key, search, i));
  } else {
    std::mt19937_64 random(seed);
    auto uniform = [&] { return double(random() >> 11) * 0x1p-53; };
    strategy.bySection = ExactSearch::BySection::Weight;
    double wide = 1, large = 0.8, full = 1, noise = 0.7;
    if (order == kFixedOrders) {
      strategy.bySection = ExactSearch::BySection(random() % 3);
      wide = 0.3 + 1.4 * uniform(), large = 0.2 + 1.3 * uniform(), full = 2 * uniform(), noise = 1.5 * uniform();
    }
    for (int i = 0; i < count; ++i) {
      const double jitter = uniform() + uniform() + uniform() - 1.5;
      keys[i].push_back(wide * std::log(double(search.widthOf(i))) + large * std::log(double(search.sizeOf(i))) +
                        full * std::log(double(search.fullestOf(i))) + noise * jitter);
    }
  }
  std::vector<int> sorted(count);
  std::iota(sorted.begin(), sorted.end(), 0);
  std::stable_sort(sorted.begin(), sorted.end(), [&](int a, int b) { return keys[a] > keys[b]; });
  strategy.rank.resize(count);
  for (int k = 0; k < count; ++k)
    strategy.rank[sorted[k]] = k;
  return strategy;
}

} // namespace

Verdict packExactly(std::vector<Item> &items, const ExactOptions &options) {
  std::vector<Item> real;
  std::vector<size_t> index;
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].size > 0 && items[i].lower < items[i].upper) {
      index.push_back(i);
      real.push_back({items[i].lower, items[i].upper, items[i].size, 1, -1});
    }
  // Where nothing can drop, each offset is a sum of sizes. In units of what divides all sizes, "one higher" is the next
  // place there is.
  int64_t unit = 0;
  for (const Item &item : real)
    unit = std::gcd(unit, item.size);
  for (Item &item : real)
    item.size /= unit;
  const int64_t capacity = unit > 0 ? options.capacity / unit : options.capacity;
  if (options.capacity < 0 || maxLive(real) > capacity)
    return Verdict::Infeasible;

  ExactSearch search(real, capacity);
  const int64_t first = options.firstNodes > 0 ? options.firstNodes : 2 * int64_t(real.size()) + 1;
  ExactSearch::Weights common;
  std::array<ExactSearch::Weights, kTracks.size()> learned;
  int64_t used = 0;
  for (int turn = 0; used < options.nodes; ++turn) {
    int order = options.order >= 0 ? options.order : turn;
    int64_t share = options.order >= 0 ? first * luby(turn + 1) : first;
    uint64_t stream = options.seed, restart = uint64_t(turn);
    ExactSearch::Weights *weights = &common;
    if (options.order < 0 && turn >= kFixedOrders) {
      const size_t track = size_t(turn - kFixedOrders) % kTracks.size();
      restart = uint64_t(turn - kFixedOrders) / kTracks.size();
      order = kTracks[track].order, weights = &learned[track], stream += track;
      share = std::max(first, kTracks[track].leastNodes) * luby(int64_t(restart) + 1);
    }
    int64_t spent = 0;
    Verdict verdict = search.run(strategyOf(search, order, stream * 1'000'003 + restart), *weights,
                                 std::min(share, options.nodes - used), spent);
    used += std::max<int64_t>(1, spent);
    if (verdict == Verdict::Packed) {
      for (Item &item : items)
        item.offset = 0;
      for (size_t k = 0; k < index.size(); ++k)
        items[index[k]].offset = search.offsetOf(int(k)) * unit;
    }
    if (verdict != Verdict::Stopped)
      return verdict;
  }
  return Verdict::Stopped;
}

} // namespace plim::solver
