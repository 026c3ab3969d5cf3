//===- RandomProblem.cpp - Small sound problems for tests --------------------------------------===//
#include "test/compiler/Solver/RandomProblem.h"
#include <algorithm>

namespace plim::solver {
namespace {

class Generator {
public:
  Generator(uint64_t seed, const RandomShape &shape) : random(seed), shape(shape) {}

  Problem run() {
    p.workers = 1 + below(3);
    p.countIo = below(4) != 0;
    p.granule = below(3) ? 64 : 4096;
    if (below(2))
      p.fixed.push_back({"worker stacks", Tier::Ram, 4096 * (1 + below(3))});
    for (int k = 0, inputs = 1 + below(2); k < inputs; ++k)
      buffer(BufferKind::Input, size());
    for (int k = 0, constants = below(3); k < constants; ++k)
      buffer(BufferKind::Constant, size());
    if (shape.states && below(3) == 0)
      state = buffer(BufferKind::State, size());
    if (shape.groups && below(3) == 0)
      p.groups.push_back({"attention 0", {"naive", "flash"}});
    for (int k = 0; k < shape.steps; ++k) {
      const int kind = below(10);
      if (kind < 5)
        elementwise();
      else if (kind < 8)
        heavy();
      else if (kind < 9)
        concat();
      else
        slice();
    }
    // The last values leave; one step makes sure that there is an output.
    int out = buffer(BufferKind::Output, bytes(recent()));
    int from = recent();
    step({from}, {out});
    if (shape.aliases && p.buffers[from].kind == BufferKind::Transient && bytes(out) <= bytes(from))
      p.aliases.push_back({AliasKind::InPlace, out, from, int(p.steps.size()) - 1, 0, 0, 0, 0});
    return std::move(p);
  }

private:
  std::mt19937_64 random;
  const RandomShape shape;
  Problem p;
  int state = -1;

  int below(int limit) { return int(random() % uint64_t(limit)); }
  int64_t size() {
    return below(8) == 0 ? 64 * (1 + below(200)) : 64 * (1 + below(20)) - (below(3) == 0 ? below(60) : 0);
  }
  // The smallest size that the buffer can have.
  int64_t bytes(int b) const {
    const std::vector<int64_t> &sizes = p.buffers[b].sizes;
    return sizes.empty() ? p.buffers[b].bytes : *std::min_element(sizes.begin(), sizes.end());
  }

  int buffer(BufferKind kind, int64_t bytes) {
    Buffer b;
    b.name = std::string(kindName(kind)) + std::to_string(p.buffers.size());
    b.source = "node " + std::to_string(p.buffers.size());
    b.bytes = bytes, b.kind = kind;
    b.align = kind == BufferKind::Transient && below(16) == 0 ? 256 : 64;
    p.buffers.push_back(b);
    return int(p.buffers.size()) - 1;
  }

  int recent() {
    while (true) {
      const int n = int(p.buffers.size()), b = below(3) ? n - 1 - below(std::min(n, 5)) : below(n);
      if (p.buffers[b].kind != BufferKind::State && p.buffers[b].kind != BufferKind::Output)
        return b;
    }
  }

  std::vector<int> someReads(int most) {
    std::vector<int> reads;
    for (int k = 0, count = 1 + below(most); k < count; ++k)
      if (int b = recent(); !std::count(reads.begin(), reads.end(), b))
        reads.push_back(b);
    return reads;
  }

  Step &step(std::vector<int> reads, std::vector<int> writes) {
    Step s;
    s.name = "step" + std::to_string(p.steps.size());
    s.source = "node of " + s.name;
    s.reads = std::move(reads), s.writes = std::move(writes);
    s.pure = below(12) != 0;
    if (!p.steps.empty() && below(10) == 0)
      s.after.push_back(below(int(p.steps.size())));
    Candidate c;
    c.kernel = "kernel.base", c.ns = 10 + below(1000);
    if (below(6) == 0)
      c.flags = uint32_t(below(4));
    s.candidates.push_back(c);
    p.steps.push_back(std::move(s));
    return p.steps.back();
  }

  void elementwise() {
    std::vector<int> reads = someReads(2);
    const int out = buffer(BufferKind::Transient, bytes(reads[0]));
    const bool update = state >= 0 && below(4) == 0;
    if (update)
      reads.push_back(state);
    Step &s = step(reads, {out});
    if (update)
      s.writes.push_back(state);
    for (int b : reads)
      if (shape.aliases && p.buffers[b].kind == BufferKind::Transient && bytes(out) <= bytes(b))
        p.aliases.push_back({AliasKind::InPlace, out, b, int(p.steps.size()) - 1, 0, 0, 0, 0});
  }

  void heavy() {
    std::vector<int> writes{buffer(BufferKind::Transient, size())};
    if (below(5) == 0)
      writes.push_back(buffer(BufferKind::Transient, size()));
    std::vector<int> reads;
    while (reads.empty())
      for (int b : someReads(3))
        if (!std::count(writes.begin(), writes.end(), b))
          reads.push_back(b);
    Step &s = step(reads, writes);
    const bool grouped = !p.groups.empty() && below(3) == 0;
    const int count = grouped ? 2 : 1 + below(4);
    s.candidates.clear();
    for (int k = 0; k < count; ++k) {
      Candidate c;
      c.kernel = "kernel." + std::to_string(k);
      c.ns = 100 + 400 * k + below(300);
      c.sharedBytes = 64 * below(60) / (k + 1), c.scratchBytes = 64 * below(20) / (k + 1);
      c.tasks = below(2) ? kMaxTasks : 1 + below(8);
      if (shape.labels && count > 1)
        c.label = "algorithm=" + std::to_string(k);
      if (!grouped && k > 0 && below(6) == 0)
        c.barredBy = "--algorithm=0";
      s.candidates.push_back(c);
    }
    if (grouped) {
      s.group = 0;
      Buffer &b = p.buffers[writes[0]];
      b.group = 0, b.sizes = {b.bytes, b.bytes / 4};
    }
  }

  void concat() {
    std::vector<int> pieces;
    for (int b : someReads(3))
      if (p.buffers[b].kind == BufferKind::Transient && p.buffers[b].sizes.empty())
        pieces.push_back(b);
    if (pieces.size() < 2)
      return elementwise();
    const bool strided = below(3) == 0;
    const int64_t rows = 4;
    if (strided)
      for (int b : pieces)
        if (bytes(b) % rows != 0)
          return elementwise();
    int64_t total = 0;
    for (int b : pieces)
      total += strided ? bytes(b) / rows : bytes(b);
    const int out = buffer(BufferKind::Transient, strided ? total * rows : total);
    step(pieces, {out}).candidates[0].flags = kInPlaceOk | kSubrangeOk;
    int64_t at = 0;
    for (int b : pieces) {
      Alias a{AliasKind::Into, b, out, int(p.steps.size()) - 1, at, 0, 0, below(200)};
      if (strided)
        a.run = bytes(b) / rows, a.stride = total;
      at += strided ? a.run : bytes(b);
      if (shape.aliases)
        p.aliases.push_back(a);
    }
  }

  void slice() {
    const int from = recent();
    if (bytes(from) < 256 || !p.buffers[from].sizes.empty())
      return elementwise();
    const int64_t half = bytes(from) / 2 / 64 * 64;
    const int out = buffer(BufferKind::Transient, half);
    step({from}, {out});
    if (shape.aliases)
      p.aliases.push_back({AliasKind::View, out, from, int(p.steps.size()) - 1, below(2) ? 0 : half, 0, 0, below(300)});
  }
};

} // namespace

Problem randomProblem(uint64_t seed, const RandomShape &shape) { return Generator(seed, shape).run(); }

} // namespace plim::solver
