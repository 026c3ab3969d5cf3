//===- RandomPlan.cpp - Sound plans with transfers and recomputation, made at random ------------===//
#include "test/compiler/Check/RandomPlan.h"
#include "test/compiler/Check/DerivedFields.h"
#include <algorithm>
#include <random>

namespace plim::check {

using namespace solver;

void allowTransfers(Problem &p) {
  p.levers.recompute = p.levers.spill = p.levers.stream = p.levers.move = true;
  p.links = {{Tier::Ram, Tier::Ssd, 900'000'000, 80'000},
             {Tier::Ssd, Tier::Ram, 1'200'000'000, 60'000},
             {Tier::Ram, Tier::Ram, 30'000'000'000, 100}};
}

namespace {

class Planner {
public:
  Planner(const Problem &p, uint64_t seed) : p(p), random(seed) {}

  Solution run() {
    for (size_t g = 0; g < p.groups.size(); ++g)
      s.choices.push_back(allowedChoice(int(g)));
    writer.assign(p.buffers.size(), -1), inRam.assign(p.buffers.size(), -1), onSsd = inRam;
    copies.assign(p.buffers.size(), 0), runs.assign(p.steps.size(), 0);
    for (int t = 0; t < int(p.steps.size()); ++t)
      for (int b : p.steps[t].writes)
        writer[b] = t;
    for (int b = 0; b < int(p.buffers.size()); ++b) {
      const BufferKind kind = p.buffers[b].kind;
      if (kind == BufferKind::Transient)
        continue;
      const bool streamed = kind == BufferKind::Constant && p.buffers[b].movable && below(2);
      const bool io = kind == BufferKind::Input || kind == BufferKind::Output;
      const int place = makePlace(b,
                                  streamed                       ? Region::File
                                  : io                           ? Region::Caller
                                  : kind == BufferKind::Constant ? Region::Constant
                                                                 : Region::State,
                                  streamed ? Tier::Ssd : Tier::Ram);
      (streamed ? onSsd : inRam)[b] = kind == BufferKind::Output ? -1 : place;
    }
    for (int t = 0; t < int(p.steps.size()); ++t) {
      bring(p.steps[t].reads);
      launch(t);
      for (int dice = below(4); dice > 0; --dice)
        disturb(below(int(p.buffers.size())));
    }
    while (!flights.empty())
      wait(0);
    finish();
    return std::move(s);
  }

private:
  const Problem &p;
  std::mt19937_64 random;
  Solution s;
  std::vector<int> writer;       // by buffer
  std::vector<int> inRam, onSsd; // by buffer: a place that can be read, or -1
  std::vector<int> copies, runs; // instances so far, by buffer and by step
  struct Flight {
    int action;
    bool write;
    int buffer, target;
  };
  std::vector<Flight> flights;

  int below(int limit) { return int(random() % uint64_t(limit)); }

  static bool allowed(const Candidate &c) { return c.barredBy.empty(); }

  int allowedChoice(int group) const {
    for (int c = 0;; ++c)
      if (std::all_of(p.steps.begin(), p.steps.end(),
                      [&](const Step &step) { return step.group != group || allowed(step.candidates[c]); }))
        return c;
  }

  int64_t bytes(int buffer) const {
    const Buffer &b = p.buffers[buffer];
    return b.group < 0 ? b.bytes : b.sizes[s.choices[b.group]];
  }

  int makePlace(int buffer, Region region, Tier tier) {
    s.storages.push_back({region, tier, 0, bytes(buffer)});
    s.places.push_back({buffer, copies[buffer]++, int(s.storages.size()) - 1});
    return int(s.places.size()) - 1;
  }

  int outputPlace(int buffer) {
    if (p.buffers[buffer].kind != BufferKind::Output)
      return makePlace(buffer, Region::Transient, Tier::Ram);
    for (int i = 0;; ++i)
      if (s.places[i].buffer == buffer)
        return i;
  }

  bool inFlight(int buffer) const {
    return std::any_of(flights.begin(), flights.end(), [&](const Flight &f) { return f.buffer == buffer; });
  }

  // May the value be dropped, as it can be had again without what is dropped?
  bool canReturn(int buffer, bool dropped) const {
    if ((inRam[buffer] >= 0 && !dropped) || onSsd[buffer] >= 0)
      return true;
    if (p.buffers[buffer].kind != BufferKind::Transient)
      return false;
    const Step &step = p.steps[writer[buffer]];
    auto plain = [&](int b) {
      return p.buffers[b].kind != BufferKind::State && p.buffers[b].kind != BufferKind::Output;
    };
    auto again = [&](int b) { return plain(b) && p.buffers[b].movable; };
    return step.pure &&
           std::all_of(step.reads.begin(), step.reads.end(), [&](int b) { return plain(b) && canReturn(b, false); }) &&
           std::all_of(step.writes.begin(), step.writes.end(), again);
  }

  // Later drops must not take away what earlier ones rely on: all that is dropped can still return.
  void drop(int buffer) {
    const int place = inRam[buffer];
    inRam[buffer] = -1;
    for (int b = 0; b < int(p.buffers.size()); ++b)
      if (inRam[b] < 0 && copies[b] > 0 && p.buffers[b].kind != BufferKind::Output && !canReturn(b, false))
        inRam[buffer] = place;
  }

  void copy(int buffer, int from, int to, Queue queue) {
    Action a{.kind = ActionKind::Copy, .reads = {from}, .writes = {to}, .queue = queue};
    s.actions.push_back(a);
    if (queue != Queue::Cpu)
      flights.push_back({int(s.actions.size()) - 1, queue == Queue::Write, buffer, to});
  }

  void land(const Flight &f) { (f.write ? onSsd : inRam)[f.buffer] = f.target; }

  // For the flights from index `first` on: one wait for some, or several.
  void wait(size_t first) {
    Action a{.kind = ActionKind::Wait};
    const size_t end = std::min(flights.size(), first + 1 + size_t(below(3)));
    for (size_t f = first; f < end; ++f)
      a.waits.push_back(flights[f].action), land(flights[f]);
    flights.erase(flights.begin() + int64_t(first), flights.begin() + int64_t(end));
    s.actions.push_back(a);
  }

  void bring(const std::vector<int> &buffers) {
    const size_t known = flights.size();
    for (int b : buffers)
      if (inRam[b] < 0 && onSsd[b] >= 0 && !inFlight(b))
        copy(b, onSsd[b], makePlace(b, Region::Transient, Tier::Ram), Queue::Read);
    while (flights.size() > known)
      wait(known);
    for (int b : buffers) {
      for (size_t f = 0; f < flights.size() && inRam[b] < 0;)
        if (flights[f].buffer == b)
          wait(f), f = 0;
        else
          ++f;
      if (inRam[b] < 0 && onSsd[b] >= 0)
        bring({b});
      if (inRam[b] < 0) {
        bring(p.steps[writer[b]].reads);
        launch(writer[b]);
      }
    }
    // Bringing one may not take away another: nothing is dropped meanwhile.
  }

  void launch(int t) {
    const Step &step = p.steps[t];
    Action a{.step = t, .instance = runs[t]++};
    if (step.group >= 0)
      a.candidate = s.choices[step.group];
    else
      do
        a.candidate = below(int(step.candidates.size()));
      while (!allowed(step.candidates[a.candidate]));
    for (int b : step.reads)
      a.reads.push_back(inRam[b]);
    for (int b : step.writes) {
      if (p.buffers[b].kind != BufferKind::State)
        inRam[b] = outputPlace(b);
      a.writes.push_back(inRam[b]);
    }
    s.actions.push_back(a);
  }

  void disturb(int b) {
    const BufferKind kind = p.buffers[b].kind;
    if (!p.buffers[b].movable || inRam[b] < 0 || inFlight(b) ||
        (kind != BufferKind::Transient && kind != BufferKind::Constant) ||
        s.storages[s.places[inRam[b]].storage].region != Region::Transient)
      return;
    const int dice = below(6);
    if (dice < 2 && canReturn(b, true))
      return drop(b);
    if (dice < 3) {
      const int to = makePlace(b, Region::Transient, Tier::Ram);
      copy(b, inRam[b], to, Queue::Cpu);
      inRam[b] = to;
      return;
    }
    if (onSsd[b] < 0) {
      copy(b, inRam[b], makePlace(b, Region::Transient, Tier::Ssd), Queue::Write);
      if (below(2))
        wait(flights.size() - 1), drop(b);
    }
  }

  struct Hole {
    int64_t offset, bytes;
    int birth, death;
  };

  static int64_t firstFit(const std::vector<Hole> &taken, const Hole &h, int64_t align) {
    int64_t at = 0;
    for (bool again = true; again;) {
      again = false;
      for (const Hole &t : taken)
        if (t.birth < h.death && h.birth < t.death && t.offset < at + h.bytes && at < t.offset + t.bytes)
          at = alignUp(t.offset + t.bytes, align), again = true;
    }
    return at;
  }

  void finish() {
    DerivedFields derived(p, s);
    derived.lives();
    std::vector<Hole> taken[kTierCount];
    std::array<int64_t, kTierCount> constants{}, states{};
    for (size_t i = 0; i < s.storages.size(); ++i) { // place i is alone in storage i
      Storage &st = s.storages[i];
      const int64_t align = derived.alignOf(int(i)), bytes = alignUp(st.bytes, align);
      if (st.region == Region::Constant || st.region == Region::State) {
        int64_t &top = (st.region == Region::Constant ? constants : states)[int(st.tier)];
        st.offset = alignUp(top, align), top = st.offset + alignUp(st.bytes, kAlign);
      } else if (st.region == Region::Transient) {
        // What slides is gone when its target comes, which may so take its bytes.
        Hole h{0, bytes, st.birth, derived.endOf(int(i))};
        h.offset = st.offset = firstFit(taken[int(st.tier)], h, align);
        taken[int(st.tier)].push_back(h);
      }
    }
    for (int k = 0; k < int(s.actions.size()); ++k)
      if (const int64_t bytes = derived.workspace(s.actions[k])) {
        Hole h{0, alignUp(bytes, kAlign), k, k + 1};
        h.offset = s.actions[k].workspaceOffset = firstFit(taken[0], h, kAlign);
        taken[0].push_back(h);
      }
    derived.sums();
    derived.time();
  }
};

} // namespace

Solution randomPlan(const Problem &problem, uint64_t seed) { return Planner(problem, seed).run(); }

} // namespace plim::check
