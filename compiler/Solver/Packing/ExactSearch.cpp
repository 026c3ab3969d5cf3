//===- ExactSearch.cpp - Bottom-up search with propagation and backjumping ---------------------===//
#include "compiler/Solver/Packing/ExactSearch.h"
#include <algorithm>
#include <bit>
#include <cassert>
#include <numeric>

namespace plim::solver {

ExactSearch::ExactSearch(const std::vector<Item> &items, int64_t capacity) : capacity(capacity) {
  const int n = int(items.size());
  std::vector<int64_t> times;
  for (const Item &i : items)
    times.insert(times.end(), {i.lower, i.upper});
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  sections = std::max(int(times.size()) - 1, 0);
  auto at = [&](int64_t t) { return int(std::lower_bound(times.begin(), times.end(), t) - times.begin()); };

  from.resize(n), to.resize(n), size.resize(n), width.resize(n), fullest.assign(n, 0);
  meets.resize(n), slot.resize(n), members.resize(sections);
  total.assign(sections, 0), floor.assign(sections, 0), active.assign(sections, 0), cuts.assign(sections + 1, 0);
  edges.assign(sections + 1, 0);
  dirty.assign(sections, 0);
  for (int i = 0; i < n; ++i) {
    from[i] = at(items[i].lower), to[i] = at(items[i].upper);
    ++edges[from[i]], ++edges[to[i]];
    size[i] = items[i].size, width[i] = items[i].upper - items[i].lower;
    for (int s = from[i]; s < to[i]; ++s) {
      slot[i].push_back(int(members[s].size()));
      members[s].push_back(i);
      total[s] += size[i];
      cuts[s] += s > from[i];
    }
    for (int j = 0; j < i; ++j)
      if (from[j] < to[i] && from[i] < to[j])
        meets[i].push_back(j), meets[j].push_back(i);
  }
  for (int s = 0; s < sections; ++s)
    active[s] = int64_t(members[s].size());
  for (int i = 0; i < n; ++i)
    for (int s = from[i]; s < to[i]; ++s)
      fullest[i] = std::max(fullest[i], total[s]);
  offset.assign(n, -1), low.assign(n, 0), base.assign(n, 0), below.assign(n, -1), blocker.assign(n, -1);
  why.resize(n), under.resize(n), watched.assign(n, 0);
}

Verdict ExactSearch::run(Strategy next, Weights &learned, int64_t limit, int64_t &spent) {
  strategy = std::move(next), weights = &learned;
  learned.ofSection.resize(sections, 1);
  nodesLeft = limit, placed = 0;
  std::vector<int> all(count());
  std::iota(all.begin(), all.end(), 0);
  std::sort(all.begin(), all.end(), [&](int a, int b) { return strategy.rank[a] < strategy.rank[b]; });
  for (int s = 0; s < sections; ++s)
    touch(s);
  Verdict verdict = propagate() ? solveParts(all, 0, sections, 0, sections) : Verdict::Infeasible;
  spent += limit - nodesLeft;
  if (verdict != Verdict::Packed)
    undo(0, 0);
  return verdict;
}

void ExactSearch::undo(size_t mark, size_t causeMark) {
  auto indexIn = [](const std::vector<int64_t> &values, const int64_t *where) {
    return where >= values.data() && where < values.data() + values.size() ? int(where - values.data()) : -1;
  };
  for (; trail.size() > mark; trail.pop_back()) {
    auto [where, old] = trail.back();
    *where = old;
    // Rules 4 and 5 may apply again.
    if (int item = indexIn(low, where); item >= 0)
      watch(item);
    else if (item = indexIn(base, where); item >= 0)
      watch(item);
  }
  for (; causeTrail.size() > causeMark; causeTrail.pop_back())
    *causeTrail.back().where = causeTrail.back().old;
  for (int s : queue)
    dirty[s] = 0;
  queue.clear();
}

void ExactSearch::watch(int item) {
  if (!watched[item]) {
    watched[item] = 1;
    unsupported.push_back(item);
  }
}

void ExactSearch::touch(int section) {
  if (!dirty[section]) {
    dirty[section] = 1;
    queue.push_back(section);
  }
}

void ExactSearch::raise(int item, int64_t value, const Cause &cause) {
  const int64_t old = low[item];
  set(low[item], value);
  saveCause(why[item]);
  why[item].join(cause);
  for (int s = from[item]; s < to[item]; ++s)
    if (old <= capacity - total[s]) // else it was no support of the rest of the section anyway
      touch(s);
  if (value > base[item])
    watch(item);
}

// A dead end at this section: later ones weigh more.
bool ExactSearch::fail(int section) {
  double &bump = weights->bump;
  weights->ofSection[section] += bump;
  bump *= 1.001;
  if (bump > 1e100) {
    for (double &w : weights->ofSection)
      w = w * 1e-100 + 1e-30;
    bump *= 1e-100;
  }
  return false;
}

// Rule 2. Only t above `limit`, the capacity without all open items, can fail.
bool ExactSearch::checkLoad(int section, int64_t limit, int64_t last) {
  // A coarse check of kClasses of t at once, which nearly always suffices.
  constexpr int kClassBits = 4, kClasses = 1 << kClassBits;
  const int shift = std::max(0, int(std::bit_width(uint64_t(last - limit - 1))) - kClassBits);
  int64_t sums[kClasses] = {}, highest[kClasses] = {};
  const int *m = members[section].data();
  for (int k = 0; k < int(active[section]); ++k)
    if (const int64_t l = low[m[k]]; l > limit) {
      const int c = int((l - limit - 1) >> shift);
      sums[c] += size[m[k]], highest[c] = std::max(highest[c], l);
    }
  int64_t sum = 0;
  bool fits = true;
  for (int c = kClasses; c-- > 0;) {
    sum += sums[c];
    fits = fits && (sums[c] == 0 || highest[c] + sum <= capacity);
  }
  if (fits)
    return true;
  byLow.clear();
  for (int k = 0; k < int(active[section]); ++k)
    if (low[m[k]] > limit)
      byLow.push_back({low[m[k]], m[k]});
  std::sort(byLow.begin(), byLow.end());
  sum = 0;
  for (size_t k = byLow.size(); k-- > 0;) {
    sum += size[byLow[k].second];
    if (byLow[k].first + sum <= capacity)
      continue;
    conflict = {};
    for (; k < byLow.size(); ++k)
      conflict.join(why[byLow[k].second]);
    return fail(section);
  }
  return true;
}

// Rules 2 and 3. An item with low > limit cannot lie below all others of the section.
bool ExactSearch::checkSection(int section) {
  const int *m = members[section].data();
  const int open = int(active[section]);
  const int64_t limit = capacity - total[section];
  if (open == 0)
    return true;
  auto whyAll = [&] {
    Cause cause;
    for (int k = 0; k < open; ++k)
      cause.join(why[m[k]]);
    return cause;
  };
  int64_t first = INT64_MAX, last = 0, firstEnd = INT64_MAX; // firstEnd: least end of an item that can be lowest
  for (int k = 0; k < open; ++k) {
    const int64_t l = low[m[k]];
    first = std::min(first, l), last = std::max(last, l);
    if (l <= limit)
      firstEnd = std::min(firstEnd, l + size[m[k]]);
  }
  if (first > limit) {
    conflict = whyAll();
    return fail(section);
  }
  if (floor[section] != first)
    set(floor[section], first);
  if (last <= limit)
    return true;
  if (!checkLoad(section, limit, last))
    return false;
  bool known = false;
  Cause cause;
  for (int k = 0; k < open; ++k)
    if (low[m[k]] > limit && low[m[k]] < firstEnd) {
      if (!known)
        cause = whyAll();
      known = true;
      raise(m[k], firstEnd, cause);
    }
  return true;
}

ExactSearch::Cause ExactSearch::causeAround(int item) const {
  Cause cause = why[item];
  cause.join(under[item]);
  for (int other : meets[item])
    if (offset[other] < 0)
      cause.join(why[other]);
  return cause;
}

// Rules 4 and 5, for an item above `base`.
bool ExactSearch::checkSupport(int item) {
  int w = below[item];
  if (w < 0 || offset[w] >= 0 || low[w] + size[w] > low[item]) {
    int64_t best = INT64_MAX;
    for (int other : meets[item])
      if (offset[other] < 0 && low[other] + size[other] < best)
        best = low[other] + size[other], below[item] = other;
    if (best == INT64_MAX) {
      conflict = causeAround(item);
      return fail(from[item]);
    }
    if (best > low[item])
      raise(item, best, causeAround(item));
  }
  w = blocker[item];
  if (w >= 0 && offset[w] < 0 && low[w] < base[item] + size[item])
    return true;
  blocker[item] = -1;
  for (int other : meets[item])
    if (offset[other] < 0 && low[other] < base[item] + size[item]) {
      blocker[item] = other;
      return true;
    }
  conflict = causeAround(item);
  return false;
}

bool ExactSearch::propagate() {
  while (true) {
    while (!queue.empty()) {
      const int s = queue.back();
      queue.pop_back();
      dirty[s] = 0;
      if (repeats(s))
        continue;
      if (!checkSection(s))
        return false;
    }
    // The list is rebuilt also after a failure, so that no watched item is lost.
    size_t keep = 0;
    bool ok = true;
    for (size_t k = 0; k < unsupported.size(); ++k) {
      const int item = unsupported[k];
      if (offset[item] >= 0 || low[item] <= base[item]) {
        watched[item] = 0;
        continue;
      }
      unsupported[keep++] = item;
      ok = ok && checkSupport(item);
    }
    unsupported.resize(keep);
    if (!ok)
      return false;
    if (queue.empty())
      return true;
  }
}

// Puts the item at its low.
void ExactSearch::place(int item, int decision) {
  const int64_t top = low[item] + size[item];
  set(offset[item], low[item]);
  for (int s = from[item]; s < to[item]; ++s) {
    set(total[s], total[s] - size[item]);
    touch(s);
    const int at = slot[item][s - from[item]], end = int(active[s]) - 1, other = members[s][end];
    std::swap(members[s][at], members[s][end]);
    slot[other][s - from[other]] = at;
    slot[item][s - from[item]] = end;
    set(active[s], end);
    if (s > from[item])
      set(cuts[s], cuts[s] - 1);
  }
  set(edges[from[item]], edges[from[item]] - 1);
  set(edges[to[item]], edges[to[item]] - 1);
  Cause cause;
  cause.add(decision);
  for (int other : meets[item]) {
    if (offset[other] >= 0)
      continue;
    saveCause(under[other]);
    under[other].add(decision);
    if (base[other] < top)
      set(base[other], top);
    if (low[other] < top)
      raise(other, top, cause);
  }
}

// Sections [begin, end) hold the open items of `list`; cuts inside (left, right) may have vanished. Solves each stretch
// that no open item crosses.
Verdict ExactSearch::solveParts(const std::vector<int> &list, int begin, int end, int left, int right) {
  std::vector<int> stops;
  for (int s = left + 1; s < right; ++s)
    if (cuts[s] == 0)
      stops.push_back(s);
  if (stops.empty())
    return solve(list, begin, end);
  stops.push_back(end);
  for (int start = begin; int stop : stops) {
    std::vector<int> part;
    for (int item : list)
      if (offset[item] < 0 && from[item] >= start && to[item] <= stop)
        part.push_back(item);
    if (!part.empty())
      if (Verdict verdict = solve(part, start, stop); verdict != Verdict::Packed)
        return verdict;
    start = stop;
  }
  return Verdict::Packed;
}

// On Infeasible, `conflict` holds the decisions that cannot stand together.
Verdict ExactSearch::solve(const std::vector<int> &given, int begin, int end) {
  std::vector<int> list;
  while (true) {
    if (nodesLeft <= 0)
      return Verdict::Stopped;
    --nodesLeft;
    list.clear();
    int64_t level = INT64_MAX;
    for (int item : given)
      if (offset[item] < 0)
        list.push_back(item), level = std::min(level, low[item]);
    if (list.empty())
      return Verdict::Packed;
    const int item = choose(list, begin, end, level);
    assert(item >= 0 && "an open item at the lowest level rests on what is placed");
    const size_t mark = trail.size(), causeMark = causeTrail.size();
    const int decision = placed++;
    place(item, decision);
    if (propagate())
      if (Verdict verdict = solveParts(list, begin, end, from[item], to[item]); verdict != Verdict::Infeasible)
        return verdict;
    undo(mark, causeMark);
    placed = decision;
    if (!conflict.has(decision))
      return Verdict::Infeasible; // placing the item elsewhere would not help
    if (count() <= Cause::kBits)  // else decisions share bits, and one more in a cause is harmless
      conflict.drop(decision);
    raise(item, low[item] + 1, Cause(conflict));
    if (!propagate())
      return Verdict::Infeasible;
  }
}

// Of the items at the lowest level the first in order; by section, only from the most critical one.
int ExactSearch::choose(const std::vector<int> &list, int begin, int end, int64_t level) const {
  int critical = -1;
  double most = 0;
  if (strategy.bySection != BySection::No)
    for (int s = begin; s < end; ++s)
      if (active[s] > 0 && floor[s] == level && !repeats(s)) {
        double key = weights->ofSection[s];
        if (strategy.bySection == BySection::Slack)
          key /= double(capacity - floor[s] - total[s] + 1);
        if (critical < 0 || key > most)
          critical = s, most = key;
      }
  const int *first = critical < 0 ? list.data() : members[critical].data();
  const int *stop = first + (critical < 0 ? int64_t(list.size()) : active[critical]);
  int pick = -1;
  for (; first < stop; ++first)
    if (low[*first] == level && base[*first] == level && (pick < 0 || strategy.rank[*first] < strategy.rank[pick]))
      pick = *first;
  return pick;
}

} // namespace plim::solver
