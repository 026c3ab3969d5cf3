//===- Search.cpp - Makes a timeline fit, then cheap ---------------------------------------------===//
#include "compiler/Solver/Joint/Search.h"
#include <algorithm>
#include <tuple>

namespace plim::solver {
namespace {

constexpr int kTrialSlots = 600; // timelines up to this length are also repaired by trial

// What a plan is worth: bytes times slots over the capacities first, then ns.
struct Worth {
  double excess = 0;
  int64_t ns;
  explicit Worth(Timeline &t) : ns(t.ns) {
    if (t.over() <= 0)
      return;
    std::vector<int64_t> values;
    t.memory.values(values);
    for (int64_t x : values)
      excess += double(std::max<int64_t>(0, x));
  }
  bool operator<(const Worth &o) const { return std::tie(excess, ns) < std::tie(o.excess, o.ns); }
};

// ns that the end of a gap as Keep would save; 0 where it is Keep.
int64_t restoreGain(const Timeline &t, int value, int i) {
  const Touch &touch = t.touches[value][i];
  const bool stays = i == 1 && t.graph.values[value].inFile;
  if (i == 0 || touch.slot >= t.slots || touch.source == Source::Keep || stays)
    return 0;
  return touch.source == Source::Make ? t.way(t.graph.values[value].maker).ns : t.transfers[touch.transfer].price;
}

struct Gap {
  int64_t gain;
  int value, slot;
};

void gapsOf(const Timeline &t, int value, std::vector<Gap> &gaps) {
  for (int i = 1; i < int(t.touches[value].size()); ++i)
    if (const int64_t gain = restoreGain(t, value, i); gain > 0)
      gaps.push_back({gain, value, t.touches[value][i].slot});
}

int64_t limitOf(const SearchOptions &options) { return options.work > 0 ? options.work : INT64_MAX; }

} // namespace

void prune(Timeline &t, const std::vector<int> *only) {
  std::vector<Gap> gaps;
  if (only)
    for (int v : *only)
      gapsOf(t, v, gaps);
  else
    for (int v = 0; v < int(t.touches.size()); ++v)
      gapsOf(t, v, gaps);
  std::sort(gaps.begin(), gaps.end(), [](const Gap &a, const Gap &b) {
    return std::tie(b.gain, a.value, a.slot) < std::tie(a.gain, b.value, b.slot);
  });
  for (const Gap &gap : gaps) {
    const int i = t.find(gap.value, gap.slot);
    if (!t.touchedAt(gap.value, i, gap.slot) || restoreGain(t, gap.value, i) <= 0)
      continue;
    const std::vector<Touch> &list = t.touches[gap.value];
    if (list[i].source == Source::Make && t.memory.max(list[i - 1].slot + 1, gap.slot) + t.bytes(gap.value) > 0)
      continue;
    const size_t mark = t.mark();
    const int64_t before = t.ns;
    ++t.work;
    if (!t.restore(gap.value, i) || t.over() > 0 || t.ns > before || !t.allowed())
      t.undo(mark);
  }
  for (int g = 0; g < int(t.graph.groups.size()) && !only; ++g)
    for (int c = 0; c < int(t.graph.groups[g].choices.size()); ++c)
      if (c != t.choice[g]) {
        const size_t mark = t.mark();
        const int64_t before = t.ns;
        t.setChoice(g, c);
        if (t.over() > 0 || t.ns >= before || !t.allowed())
          t.undo(mark);
      }
}

namespace {

struct Seed {
  double power;
  bool postpone, capGain, trial;
  bool bare = false; // starts with all that may be there on the ssd
};
constexpr Seed kSeeds[] = {{4, true, true, false, true}, {4, true, true, false},  {4, false, false, false},
                           {1, false, false, false},     {4, true, true, true},   {1, true, true, false},
                           {16, false, false, false},    {0.3, true, true, false}};

// Keeps nothing in memory that the ssd can hold until it is used next, and lets all wait for that: without another
// order or recomputation no plan takes less memory.
void strip(Timeline &t) {
  t.lateReads = t.promptWrites = true;
  for (int v = 0; v < int(t.touches.size()); ++v)
    for (int i = 1; i < int(t.touches[v].size()) && t.graph.values[v].mayWaitOnSsd(); ++i)
      if (t.touches[v][i].source == Source::Read)
        t.replanTransfer(v, i);
      else if (t.droppable(v, i) && t.readable(v, i))
        t.dropToRead(v, i);
  t.lateReads = t.promptWrites = false;
}

// ns that a plan may take where the best so far takes less, as its overhead times a factor. Where none fits: any.
int64_t ceilingOf(const Timeline &t, const Worth &best, double factor) {
  return best.excess > 0 ? INT64_MAX : t.graph.fastestNs + int64_t(double(best.ns - t.graph.fastestNs) * factor) + 1;
}

void grow(Timeline &t, const SearchOptions &options, const Seed &seed, int64_t ceiling, std::mt19937_64 &random) {
  RepairOptions repairOptions{.power = seed.power,
                              .postpone = seed.postpone,
                              .capGain = seed.capGain,
                              .trial = seed.trial,
                              .work = limitOf(options),
                              .ceiling = ceiling};
  t.lambda = 0;
  if (seed.bare)
    strip(t);
  if (repair(t, repairOptions, random))
    prune(t);
}

// Restores what was dropped: by the slot where it is needed, by the slot where it was made, or anywhere.
void ruin(Timeline &t, std::mt19937_64 &random, std::vector<int> &touched) {
  const int kind = int(random() % 3);
  const int window = 8 + int(random() % uint64_t(std::max(1, std::min(t.slots / 2, 400))));
  // Where the plan does not fit, every other time around the slot that is most over.
  const int middle = t.over() > 0 && random() % 2 ? t.memory.argmax() : int(random() % uint64_t(t.slots));
  const int from = middle - window / 2, kept = int(random() % 70); // percent
  std::vector<Gap> gaps, chosen;
  for (int v = 0; v < int(t.touches.size()); ++v)
    gapsOf(t, v, gaps);
  auto inside = [&](int slot) { return slot >= from && slot < from + window; };
  for (const Gap &gap : gaps) {
    const int i = t.find(gap.value, gap.slot);
    const bool in = kind == 0   ? inside(gap.slot)
                    : kind == 1 ? inside(std::max(0, t.touches[gap.value][i - 1].slot))
                                : int(random() % uint64_t(t.slots)) < window / 2;
    if (in && int(random() % 100) >= kept)
      chosen.push_back(gap);
  }
  touched.clear();
  for (const Gap &gap : chosen)
    if (const int i = t.find(gap.value, gap.slot);
        t.touchedAt(gap.value, i, gap.slot) && restoreGain(t, gap.value, i) > 0)
      t.restore(gap.value, i), touched.push_back(gap.value);
  for (int g = 0; g < int(t.graph.groups.size()); ++g)
    if (t.choice[g] != 0 && int(random() % uint64_t(t.slots)) < window / 2)
      t.setChoice(g, 0);
}

} // namespace

bool plant(Timeline &t, const SearchOptions &options) {
  std::mt19937_64 random(options.seed);
  t.commit();
  const size_t clean = t.mark();
  if (t.over() <= 0)
    return true;
  Worth best(t);
  const Seed *bestSeed = nullptr;
  for (const Seed &seed : kSeeds) {
    if ((seed.trial && t.slots > kTrialSlots) || (seed.bare && !t.graph.transfers()))
      continue;
    grow(t, options, seed, ceilingOf(t, best, 1.3), random);
    if (const Worth now(t); !bestSeed || now < best)
      best = now, bestSeed = &seed;
    t.undo(clean);
    if (best.excess == 0 && options.firstFit)
      break;
  }
  grow(t, options, *bestSeed, INT64_MAX, random);
  t.over();
  t.commit();
  return t.over() <= 0;
}

bool mend(Timeline &t, const SearchOptions &options) { return plant(t, options) || improve(t, options); }

bool improve(Timeline &t, const SearchOptions &options) {
  std::mt19937_64 random(options.seed + 1);
  constexpr double kPowers[] = {0.5, 1, 2, 4, 16}, kNoises[] = {0, 0.3, 1, 3}, kScales[] = {0.3, 1, 1, 3};
  constexpr int kPatience = 60; // rounds without a better plan, then back to the best
  constexpr int kGiveUp = 200;  // rounds without a better plan where only a first fit is wanted
  const bool small = t.touches.size() < 1500;
  const int rounds = t.over() > 0 ? std::max(options.iterations, options.rescues) : options.iterations;
  Worth best(t), current = best;
  std::vector<int> touched, bar;
  t.commit();
  for (int round = 0, sinceBest = 0; round < rounds && t.work < limitOf(options) && !t.touches.empty(); ++round) {
    if (best.excess == 0 ? options.firstFit || best.ns <= t.graph.fastestNs : options.firstFit && sinceBest > kGiveUp)
      break;
    if (best.excess == 0 && options.patience > 0 && sinceBest >= options.patience)
      break;
    const size_t mark = t.mark();
    const double lambda = t.lambda;
    ruin(t, random, touched);
    RepairOptions way{.power = kPowers[random() % 5], .noise = kNoises[random() % 4]};
    way.trial = t.slots <= kTrialSlots && random() % 2;
    // Some of what was restored must stay, so that the repair takes another way.
    const unsigned share = unsigned(random() % 3) * 12;
    bar.clear();
    for (int v : touched)
      if (random() % 100 < share)
        t.barred[v] = 1, bar.push_back(v);
    t.lambda *= kScales[random() % 4];
    way.postpone = random() % 2, way.capGain = random() % 2;
    way.work = limitOf(options), way.ceiling = ceilingOf(t, best, 1.03);
    for (int k = 0; k < 200; ++k)
      touched.push_back(int(random() % t.touches.size()));
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    const bool fits = repair(t, way, random, small ? nullptr : &touched);
    for (int v : bar)
      t.barred[v] = 0;
    const int64_t overhead = best.ns - t.graph.fastestNs;
    if (fits && t.ns - t.graph.fastestNs <= overhead + overhead / 50)
      prune(t, small || random() % 4 == 0 ? nullptr : &touched);
    const Worth now(t);
    if (now < best) {
      best = current = now;
      sinceBest = 0;
      t.commit(); // undo(0) leads back to here
      continue;
    }
    const double slack = 0.03 * double(overhead) * double(random() % 1024) / 1024.0;
    const bool lenient = random() % 4 == 0;
    if (now.excess <= current.excess && double(now.ns) <= double(current.ns) + (lenient ? slack : 0)) {
      current = now;
    } else {
      t.undo(mark);
      t.lambda = lambda;
    }
    if (++sinceBest % kPatience == 0) {
      t.undo(0);
      current = best;
    }
  }
  t.undo(0);
  return t.over() <= 0;
}

} // namespace plim::solver
