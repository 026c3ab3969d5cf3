//===- ExhaustivePlans.cpp - The least memory of small graphs, by trying everything -------------===//
#include "test/compiler/Solver/ExhaustivePlans.h"
#include <algorithm>
#include <map>
#include <queue>

namespace plim::solver {
namespace {

// Values are numbered by bits. A state is what is in memory and, where nothing may be made twice, what has run.
class Search {
public:
  explicit Search(const Problem &problem) : p(problem), bit(p.buffers.size(), -1) {
    for (size_t b = 0; b < p.buffers.size(); ++b) {
      const Buffer &buffer = p.buffers[b];
      if (buffer.kind == BufferKind::Transient || buffer.kind == BufferKind::Output)
        bit[b] = int(bytes.size()), bytes.push_back(buffer.bytes);
      if (buffer.kind == BufferKind::Output)
        outputs |= uint64_t(1) << bit[b];
      if (buffer.kind == BufferKind::Constant && !p.levers.stream)
        constants += buffer.bytes;
      if ((buffer.kind == BufferKind::Input || buffer.kind == BufferKind::Output) && p.countIo)
        resident += buffer.bytes;
    }
    joinByAliases();
    for (const FixedCost &f : p.fixed)
      resident += f.bytes;
    resident += alignUp(constants, p.granule);
  }

  int64_t run() {
    push(0, 0);
    while (true) {
      const auto [cost, state] = open.top();
      open.pop();
      if (best[state] < cost)
        continue;
      const uint64_t memory = state & 0xfffff;
      if ((memory & outputs) == outputs)
        return resident + alignUp(cost, p.granule);
      for (size_t v = 0; v < bytes.size(); ++v)
        if (memory >> v & 1)
          push(state & ~(uint64_t(1) << v), cost);
      for (size_t s = 0; s < p.steps.size(); ++s)
        runStep(int(s), state, cost);
    }
  }

private:
  const Problem &p;
  std::vector<int> bit;
  std::vector<int64_t> bytes;
  uint64_t outputs = 0;
  std::vector<int> part;          // by value: equal where aliases join them
  std::vector<int64_t> partBytes; // by part: of its outputs, in which its values may lie
  int64_t constants = 0, resident = 0;
  using Entry = std::pair<int64_t, uint64_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  std::map<uint64_t, int64_t> best;

  // Where outputs are lent, all values are one part.
  void joinByAliases() {
    part.resize(bytes.size()), partBytes.assign(bytes.size(), 0);
    for (size_t v = 0; v < part.size(); ++v)
      part[v] = p.levers.lend ? 0 : int(v);
    for (const Alias &alias : p.aliases) {
      const int from = part[bit[alias.buffer]], to = part[bit[alias.base]];
      if (p.levers.alias)
        std::replace(part.begin(), part.end(), from, to);
    }
    for (size_t b = 0; b < p.buffers.size(); ++b)
      if (p.buffers[b].kind == BufferKind::Output)
        partBytes[part[bit[b]]] += p.buffers[b].bytes;
  }

  // Of the arena, for these values and constants; those `inPlace` lie in another's bytes.
  int64_t arena(uint64_t there, uint64_t inPlace, int64_t streamed) const {
    std::vector<int64_t> live(bytes.size(), 0);
    for (size_t v = 0; v < bytes.size(); ++v)
      live[part[v]] += (there >> v & 1) && !(inPlace >> v & 1) ? bytes[v] : 0;
    int64_t sum = p.levers.lend ? 0 : streamed;
    live[0] += streamed - sum;
    for (size_t k = 0; k < live.size(); ++k)
      sum += std::max<int64_t>(0, live[k] - partBytes[k]);
    return sum;
  }

  void push(uint64_t state, int64_t cost) {
    auto [at, isNew] = best.try_emplace(state, cost);
    if (!isNew && at->second <= cost)
      return;
    at->second = cost;
    open.push({cost, state});
  }

  void runStep(int s, uint64_t state, int64_t cost) {
    const Step &step = p.steps[s];
    const uint64_t ran = uint64_t(1) << (20 + s), memory = state & 0xfffff;
    if (!p.levers.recompute && (state & ran))
      return;
    uint64_t reads = 0, writes = 0;
    int64_t streamed = 0;
    for (int b : step.reads)
      if (bit[b] >= 0)
        reads |= uint64_t(1) << bit[b];
      else if (p.buffers[b].kind == BufferKind::Constant && p.levers.stream)
        streamed += p.buffers[b].bytes;
    for (int b : step.writes)
      writes |= uint64_t(1) << bit[b];
    if ((memory & reads) != reads || (memory & writes))
      return;
    const uint64_t after = (state | (p.levers.recompute ? 0 : ran) | writes);
    for (const Candidate &c : step.candidates) {
      if (!c.barredBy.empty())
        continue;
      // Spilled values need not be there.
      const uint64_t there = p.levers.spill ? reads | writes : memory | writes;
      place(step, c, 0, 0, 0, [&](uint64_t dead, uint64_t inPlace) {
        const int64_t now = arena(there, inPlace, streamed);
        push(p.levers.spill ? after : after & ~dead, std::max(cost, now + alignUp(p.workspace(c), kAlign)));
      });
    }
  }

  // All ways to leave results, from the k-th on, in operands.
  template <typename Take>
  void place(const Step &step, const Candidate &c, size_t k, uint64_t dead, uint64_t inPlace, const Take &take) {
    if (k == step.writes.size())
      return take(dead, inPlace);
    place(step, c, k + 1, dead, inPlace, take);
    if (!(c.flags & kInPlaceOk) || !p.levers.alias)
      return;
    for (const Alias &alias : p.aliases)
      if (alias.kind == AliasKind::InPlace && alias.buffer == step.writes[k] && &p.steps[alias.step] == &step &&
          !(dead >> bit[alias.base] & 1))
        place(step, c, k + 1, dead | uint64_t(1) << bit[alias.base], inPlace | uint64_t(1) << bit[alias.buffer], take);
  }
};

} // namespace

int64_t exhaustiveLeast(const Problem &problem) { return Search(problem).run(); }

Problem smallProblem(uint64_t seed, const SmallShape &shape) {
  std::mt19937_64 random(seed);
  auto below = [&](int limit) { return int(random() % uint64_t(limit)); };
  Problem p;
  p.countIo = below(3) != 0;
  p.levers.recompute = true;
  auto buffer = [&](BufferKind kind, int64_t bytes) {
    p.buffers.push_back({.name = kindName(kind) + std::to_string(p.buffers.size()), .bytes = bytes, .kind = kind});
    return int(p.buffers.size()) - 1;
  };
  auto size = [&] { return kAlign * (1 + (below(4) == 0 ? below(40) : below(10))); };
  std::vector<int> readable{buffer(BufferKind::Input, size())}, unread, constants;
  for (int k = 0; shape.constants && k < below(3); ++k)
    constants.push_back(buffer(BufferKind::Constant, size()));
  for (int k = 0; k < shape.steps; ++k) {
    Step step{.name = "step" + std::to_string(k)};
    const bool end = k + 1 == shape.steps;
    // Far back as well as near, so that values live long.
    for (int r = 0, count = 1 + below(3); r < count; ++r) {
      const int at = below(2) ? std::max(0, int(readable.size()) - 1 - below(3)) : below(int(readable.size()));
      if (!std::count(step.reads.begin(), step.reads.end(), readable[at]))
        step.reads.push_back(readable[at]);
    }
    for (int b : end ? unread : std::vector<int>())
      if (!std::count(step.reads.begin(), step.reads.end(), b))
        step.reads.push_back(b);
    for (int b : step.reads)
      unread.erase(std::remove(unread.begin(), unread.end(), b), unread.end());
    if (!constants.empty() && below(3) == 0)
      step.reads.push_back(constants[below(int(constants.size()))]);
    const int writes = below(6) == 0 && !end ? 2 : 1;
    for (int w = 0; w < writes; ++w) {
      const bool output = end || below(10) == 0;
      const int read = step.reads[below(int(step.reads.size()))];
      const bool alike = shape.inPlace && below(2) && p.buffers[read].kind == BufferKind::Transient;
      const int64_t bytes = alike ? p.buffers[read].bytes : size();
      const int b = buffer(output ? BufferKind::Output : BufferKind::Transient, bytes);
      step.writes.push_back(b);
      if (alike)
        p.aliases.push_back({AliasKind::InPlace, b, read, k});
      if (!output)
        readable.push_back(b), unread.push_back(b);
    }
    for (int c = 0, count = 1 + below(2); c < count; ++c)
      step.candidates.push_back({.ns = 100 + below(1000),
                                 .sharedBytes = shape.workspaces && below(3) == 0 ? kAlign * below(12) : 0,
                                 .flags = below(5) ? kInPlaceOk | kSubrangeOk : kSubrangeOk});
    p.steps.push_back(std::move(step));
  }
  return p;
}

Problem withReshapes(const Problem &problem, uint64_t seed) {
  std::mt19937_64 random(seed);
  Problem p = problem;
  p.steps.clear();
  std::vector<int> now(problem.buffers.size()), place(problem.steps.size());
  for (size_t b = 0; b < now.size(); ++b)
    now[b] = int(b);
  for (size_t s = 0; s < problem.steps.size(); ++s) {
    Step step = problem.steps[s];
    for (int &b : step.reads)
      b = now[b];
    place[s] = int(p.steps.size());
    p.steps.push_back(step);
    for (int b : step.writes) {
      if (p.buffers[b].kind != BufferKind::Transient || random() % 2)
        continue;
      Buffer view = p.buffers[b];
      view.name += ".reshape";
      now[b] = int(p.buffers.size());
      p.buffers.push_back(view);
      p.aliases.push_back({AliasKind::View, now[b], b, int(p.steps.size())});
      p.steps.push_back({.name = view.name, .reads = {b}, .writes = {now[b]}, .candidates = {{.ns = 10}}});
    }
  }
  // What ran in place of a value runs in place of its reshape.
  for (size_t a = 0; a < problem.aliases.size(); ++a) {
    p.aliases[a].step = place[problem.aliases[a].step];
    p.aliases[a].base = now[problem.aliases[a].base];
  }
  return p;
}

} // namespace plim::solver
