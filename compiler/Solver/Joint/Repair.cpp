//===- Repair.cpp - Makes a timeline fit, by shadow prices or by trial ---------------------------===//
#include "compiler/Solver/Joint/Repair.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

namespace plim::solver {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kLeastCost = 1; // ns; orders free moves by what they relieve
constexpr int kRounds = 200;

enum class Way : uint8_t { Make, Read, Late, Prompt, Choice }; // Prompt: late, and written at once

struct Move {
  double density = 0;      // ns for each byte times weight
  int value = 0, slot = 0; // of Choice: group and choice
  Way way = Way::Make;
  bool operator<(const Move &o) const { // in a heap the cheapest is on top
    return density != o.density ? density > o.density : std::tie(value, slot) > std::tie(o.value, o.slot);
  }
};

double density(const Timeline::Quote &quote) {
  return quote.possible && quote.gain > 0 ? (std::max(0.0, quote.cost) + kLeastCost) / quote.gain : kNever;
}

class Repairer {
public:
  Repairer(Timeline &timeline, const RepairOptions &options, std::mt19937_64 &random, const std::vector<int> *only)
      : t(timeline), options(options), random(random), only(only) {}

  bool byPrices() {
    for (int round = 0, stuck = 0; round < kRounds && t.over() > 0 && goesOn(); ++round) {
      const int64_t before = t.over();
      if (takeRound() > 0 && t.over() < before)
        stuck = 0;
      else if (++stuck > 2)
        break;
      else
        bold = true;
    }
    return t.over() <= 0;
  }

  bool byTrial() {
    while (t.over() > 0 && goesOn()) {
      t.memory.values(excess);
      const int worst = t.memory.argmax();
      int at = worst;
      if (random() % 3 == 0) {
        std::vector<int> full;
        for (int slot = 0; slot < t.slots; ++slot)
          if (excess[slot] > 0)
            full.push_back(slot);
        at = full[random() % full.size()];
      }
      if (!takeBest(at) && (at == worst || !takeBest(worst)))
        return false;
    }
    return t.over() <= 0;
  }

private:
  Timeline &t;
  const RepairOptions &options;
  std::mt19937_64 &random;
  const std::vector<int> *only;
  bool bold = false; // also takes moves that leave their own slot over
  std::vector<int64_t> excess;
  std::map<std::tuple<bool, int, int>, double> scores; // of gaps and choices when they were last tried

  bool goesOn() const { return t.work < options.work && t.ns <= options.ceiling; }

  double noisy(double d) { return options.noise <= 0 ? d : d * (1 + options.noise * double(random() % 1024) / 1024.0); }

  void setWeights() {
    const double most = double(std::max<int64_t>(1, t.over()));
    t.memory.values(excess);
    for (int slot = 0; slot < t.slots; ++slot) {
      const double x = double(excess[slot]) / most;
      t.weight[slot] = x <= 0 ? 0 : std::pow(x, options.power);
      t.prefix[slot + 1] = t.prefix[slot] + t.weight[slot];
    }
  }

  double firstLambda() const {
    double bytes = 0;
    for (int v = 0; v < int(t.touches.size()); ++v)
      for (size_t i = 1; i < t.touches[v].size(); ++i)
        bytes += double(t.bytes(v)) *
                 t.weightOf(std::max(0, t.touches[v][i - 1].slot + 1), std::min(t.slots, t.touches[v][i].slot));
    return bytes > 0 ? 0.3 * double(t.begin[t.slots]) / bytes : 0;
  }

  // Bytes beyond what the fullest slot of the gap has too many relieve nothing.
  double usefulShare(int value, int i) {
    const int before = t.touches[value][i - 1].slot;
    const int64_t most = before < 0 ? t.over() : t.gapOver(value, i);
    return most <= 0 || t.bytes(value) <= most ? 1 : double(most) / double(t.bytes(value));
  }

  std::vector<Way> readWays(int value) const {
    if (t.graph.values[value].spillable)
      return {Way::Read, Way::Late, Way::Prompt};
    return {Way::Read, Way::Late};
  }
  void setWay(Way way) { t.lateReads = way == Way::Late || way == Way::Prompt, t.promptWrites = way == Way::Prompt; }

  Move quote(int value, int i) {
    Move move{density(t.quoteMake(value, i)), value, t.touches[value][i].slot, Way::Make};
    if (t.readable(value, i))
      for (Way way : readWays(value)) {
        setWay(way);
        if (const double d = density(t.quoteRead(value, i)); d < move.density)
          move.density = d, move.way = way;
      }
    setWay(Way::Read);
    if (options.capGain)
      move.density /= usefulShare(value, i);
    return move;
  }

  void gather(std::vector<Move> &heap, int value) {
    for (int i = 1; i < int(t.touches[value].size()); ++i) {
      if (!t.droppable(value, i))
        continue;
      const int before = t.touches[value][i - 1].slot;
      if (t.gapWeight(value, i) <= 0 && !(before < 0 && t.prefix[t.slots] > 0))
        continue;
      Move move = quote(value, i);
      move.density = noisy(move.density);
      if (move.density < kNever)
        heap.push_back(move);
    }
  }

  int takeRound() {
    setWeights();
    if (t.lambda == 0)
      t.lambda = firstLambda();
    std::vector<Move> heap;
    if (only)
      for (int v : *only)
        gather(heap, v);
    else
      for (int v = 0; v < int(t.touches.size()); ++v)
        gather(heap, v);
    for (int g = 0; g < int(t.graph.groups.size()); ++g)
      for (int c = 0; c < int(t.graph.groups[g].choices.size()); ++c)
        if (c != t.choice[g])
          if (const double d = noisy(density(t.quoteChoice(g, c))); d < kNever)
            heap.push_back({d, g, c, Way::Choice});
    std::make_heap(heap.begin(), heap.end());
    const int64_t start = t.over();
    int moves = 0;
    while (!heap.empty() && t.over() > 0 && t.over() > start - start / 4 && goesOn()) {
      std::pop_heap(heap.begin(), heap.end());
      const Move move = heap.back();
      heap.pop_back();
      if (!wanted(move))
        continue;
      Move now = move;
      if (move.way == Way::Choice)
        now.density = density(t.quoteChoice(move.value, move.slot));
      else
        now = quote(move.value, t.find(move.value, move.slot));
      if (now.density == kNever)
        continue;
      if (!heap.empty() && now.density > move.density * 1.001 && now.density > heap.front().density) {
        heap.push_back(now);
        std::push_heap(heap.begin(), heap.end());
        continue;
      }
      moves += apply(now);
    }
    return moves;
  }

  // Is the gap still there, and across a slot that has too many bytes?
  bool wanted(const Move &move) {
    if (move.way == Way::Choice)
      return t.choice[move.value] != move.slot;
    const int i = t.find(move.value, move.slot);
    if (!t.touchedAt(move.value, i, move.slot) || !t.droppable(move.value, i))
      return false;
    const int before = t.touches[move.value][i - 1].slot;
    return before < 0 || t.gapOver(move.value, i) > 0;
  }

  bool act(const Move &move) {
    if (move.way == Way::Choice) {
      t.setChoice(move.value, move.slot);
      return true;
    }
    const int i = t.find(move.value, move.slot);
    if (move.way == Way::Make) {
      t.quoteMake(move.value, i);
      return t.dropToMake(move.value, i);
    }
    setWay(move.way);
    const bool ok = t.dropToRead(move.value, i);
    setWay(Way::Read);
    return ok;
  }

  bool apply(const Move &move) {
    const size_t mark = t.mark();
    const int64_t all = t.over();
    const bool choice = move.way == Way::Choice;
    const int64_t before = choice ? 0 : t.memory.max(move.slot, move.slot + 1);
    bool ok = act(move) && t.allowed() && t.over() <= all;
    if (ok && !choice) {
      const int64_t after = t.memory.max(move.slot, move.slot + 1);
      ok = after <= 0 || after <= before || after <= (bold ? all : all / 2);
    }
    if (!ok) {
      t.undo(mark);
      return false;
    }
    t.lambda = std::max(t.lambda * 0.995, std::min(move.density, t.lambda * 1.5));
    return true;
  }

  // What a move would do.
  struct Trial {
    bool possible = false, priced = false;
    uint64_t decisions = 0;
    double gain = 0; // bytes times slots
    int64_t ns = 0, work = 0;
  };

  // Tries a move at a price and takes it back. Prices that decide alike, as one of `known` did, need one trial.
  Trial attempt(const Move &move, double price, const std::vector<Trial> &known = {}) {
    const size_t mark = t.mark();
    const int64_t work = t.work;
    t.lambda = price;
    Trial trial;
    bool ok = true;
    if (move.way == Way::Make) {
      const int i = t.find(move.value, move.slot);
      t.quoteMake(move.value, i);
      trial.decisions = t.decisions;
      for (const Trial &other : known)
        if (!other.priced && other.decisions == trial.decisions) {
          t.work = work + other.work;
          return other;
        }
      ok = t.dropToMake(move.value, i);
      trial.priced = t.askedPrice;
    } else {
      ok = act(move);
    }
    if (ok && t.allowed())
      trial.possible = true, trial.gain = -t.excessSince(mark, excess), trial.ns = t.ns;
    t.undo(mark);
    t.work += 1 + t.slots / 16;
    trial.work = t.work - work;
    return trial;
  }

  // Gaps across a slot, and those of constants from the end of a run to the next.
  std::vector<Move> movesAcross(int at) const {
    std::vector<Move> moves;
    for (int v = 0; v < int(t.touches.size()); ++v) {
      const int i = t.find(v, at + 1);
      for (int k : {i, 1}) {
        if (k < int(t.touches[v].size()) && t.droppable(v, k) && (k == i || t.touches[v][0].slot < 0))
          moves.push_back({0, v, t.touches[v][k].slot, Way::Make});
        if (i == 1)
          break;
      }
    }
    return moves;
  }

  // The best way to take a gap, or to choose for a group.
  struct Pick {
    double score = 0; // bytes times slots for a ns
    Move move{};
    double price = 0;
  };

  Pick bestOf(const Move &gap) {
    const double lambda = t.lambda;
    const int64_t before = t.ns;
    const double leastCost = 1e-6 * double(t.begin[t.slots]) / t.slots + 1e-3; // ns
    Pick best;
    auto consider = [&](const Trial &trial, const Move &move, double price) {
      if (!trial.possible)
        return;
      const double cost = std::max(0.0, double(trial.ns - before)) + leastCost;
      if (const double score = noisy(trial.gain / cost); trial.gain > 0 && score > best.score)
        best = {score, move, price};
    };
    if (gap.way == Way::Choice) {
      for (int c = 0; c < int(t.graph.groups[gap.value].choices.size()); ++c)
        if (c != t.choice[gap.value]) {
          const Move choice{0, gap.value, c, Way::Choice};
          consider(attempt(choice, lambda), choice, lambda);
        }
    } else {
      std::vector<Trial> known;
      if (t.graph.values[gap.value].remakable) // what it needs: made again, as prices say, or kept
        for (double price : {0.0, lambda, 1e300}) {
          known.push_back(attempt(gap, price, known));
          consider(known.back(), gap, price);
        }
      if (t.readable(gap.value, t.find(gap.value, gap.slot)))
        for (Way way : readWays(gap.value)) {
          const Move read{0, gap.value, gap.slot, way};
          consider(attempt(read, lambda), read, lambda);
        }
    }
    t.lambda = lambda;
    return best;
  }

  // Scores fall as less is over, so those of earlier tries come in their order, and once the best of these is below the
  // best of now the rest is not tried (lazy greedy; Minoux 1978).
  bool takeBest(int at) {
    for (int slot = 0; slot < t.slots; ++slot) {
      t.weight[slot] = excess[slot] > 0 ? 1 : 0;
      t.prefix[slot + 1] = t.prefix[slot] + t.weight[slot];
    }
    std::vector<Move> gaps = movesAcross(at);
    for (int g = 0; g < int(t.graph.groups.size()); ++g)
      gaps.push_back({0, g, 0, Way::Choice});
    for (Move &gap : gaps) {
      auto known = scores.find({gap.way == Way::Choice, gap.value, gap.slot});
      gap.density = known == scores.end() ? kNever : known->second;
    }
    std::stable_sort(gaps.begin(), gaps.end(), [](const Move &a, const Move &b) { return a.density > b.density; });
    Pick best;
    for (const Move &gap : gaps) {
      if (best.score > 0 && best.score >= gap.density)
        break;
      const Pick pick = bestOf(gap);
      scores[{gap.way == Way::Choice, gap.value, gap.slot}] = pick.score;
      if (pick.score > best.score)
        best = pick;
    }
    if (best.score <= 0)
      return false;
    const double lambda = t.lambda;
    t.lambda = best.price;
    act(best.move);
    t.over();
    t.lambda = lambda;
    return true;
  }
};

} // namespace

bool repair(Timeline &timeline, const RepairOptions &options, std::mt19937_64 &random, const std::vector<int> *only) {
  timeline.postpone = options.postpone;
  Repairer repairer(timeline, options, random, only);
  return options.trial ? repairer.byTrial() : repairer.byPrices();
}

} // namespace plim::solver
