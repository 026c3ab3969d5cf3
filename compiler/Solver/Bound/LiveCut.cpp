//===- LiveCut.cpp - Bytes alive at a step, whatever ran before it -----------------------------===//
//
// For a step v: D, what ran before it, holds all that v depends on, and with each step all that this depends on. A
// segment is alive at v where its maker is in D and a reader is not. Network: what is on the source's side is D. An
// edge of the segment's bytes leads from its maker to a node of its own, endless ones from there to its readers, and
// from each step to those it depends on. A flow of any value is a bound, so the search for a larger one may stop
// anywhere.
//
//===------------------------------------------------------------------------------------------===//
#include "compiler/Solver/Bound/LiveCut.h"
#include <algorithm>
#include <numeric>

namespace plim::solver {
namespace {

constexpr int64_t kEndless = int64_t(1) << 61; // above the sum of all sizes

// Dinic's maximum flow ("Algorithm for solution of a problem of maximum flow in networks", 1970).
class Network {
public:
  explicit Network(int nodes) : heads(nodes) {}

  void edge(int from, int to, int64_t capacity) {
    heads[from].push_back(int(edges.size())), edges.push_back({to, capacity});
    heads[to].push_back(int(edges.size())), edges.push_back({from, 0});
  }
  int addNode() {
    heads.emplace_back();
    return int(heads.size()) - 1;
  }

  int64_t flow(int source, int sink, int64_t &work) {
    int64_t sum = 0;
    while (work > 0 && findLevels(source, sink, work))
      sum += saturate(source, sink, work);
    return sum;
  }
  bool reached(int node) const { return level[node] >= 0; } // from the source, after the last flow that ended by itself

private:
  struct Edge {
    int to;
    int64_t room;
  };
  std::vector<std::vector<int>> heads;
  std::vector<Edge> edges;
  std::vector<int> level;
  std::vector<size_t> next;

  bool findLevels(int source, int sink, int64_t &work) {
    level.assign(heads.size(), -1), next.assign(heads.size(), 0);
    std::vector<int> queue{source};
    level[source] = 0;
    for (size_t k = 0; k < queue.size(); ++k)
      for (int e : heads[queue[k]]) {
        --work;
        if (edges[e].room > 0 && level[edges[e].to] < 0)
          level[edges[e].to] = level[queue[k]] + 1, queue.push_back(edges[e].to);
      }
    return level[sink] >= 0;
  }

  int64_t saturate(int source, int sink, int64_t &work) {
    int64_t sum = 0;
    std::vector<int> path; // edges
    for (int at = source; work > 0;) {
      if (at == sink) {
        int64_t room = kEndless;
        for (int e : path)
          room = std::min(room, edges[e].room);
        size_t full = path.size();
        for (size_t k = path.size(); k-- > 0;) {
          edges[path[k]].room -= room, edges[path[k] ^ 1].room += room;
          if (edges[path[k]].room == 0)
            full = k;
        }
        sum += room, work -= int64_t(path.size());
        at = edges[path[full] ^ 1].to;
        path.resize(full);
        continue;
      }
      bool moved = false;
      for (; next[at] < heads[at].size() && !moved; --work) {
        const int e = heads[at][next[at]];
        if (edges[e].room > 0 && level[edges[e].to] == level[at] + 1)
          path.push_back(e), at = edges[e].to, moved = true;
        else
          ++next[at];
      }
      if (moved)
        continue;
      if (path.empty())
        break;
      level[at] = -1; // leads nowhere
      at = edges[path.back() ^ 1].to;
      path.pop_back();
    }
    return sum;
  }
};

// A segment that steps make, as the cut sees it.
struct Life {
  int segment = -1, maker = -1;
  std::vector<int> readers{};
  bool forever = false; // an output
};

class LiveCut {
public:
  explicit LiveCut(const Footprint &footprint) : f(footprint), p(f.problem), deps(dependenciesOf(p)) {
    for (int s = 0; s < int(f.segments.all.size()); ++s)
      addLife(s);
    atHome = std::accumulate(f.homes.begin(), f.homes.end(), int64_t(0));
    own.assign(p.steps.size(), 0), made.assign(p.buffers.size(), 0);
    for (const Life &life : lives) {
      const Segments::Segment &segment = f.segments.all[life.segment];
      own[life.maker] += segment.bytes;
      for (int b : segment.buffers)
        made[b] += f.uses.writer[b] == life.maker ? segment.bytes : 0;
    }
  }

  CutCase run(int64_t known, int64_t work) {
    // In the given order the bytes alive are known; no cut exceeds them.
    const std::vector<int64_t> given = aliveInGivenOrder();
    std::vector<int> steps(p.steps.size());
    std::iota(steps.begin(), steps.end(), 0);
    std::stable_sort(steps.begin(), steps.end(), [&](int a, int b) { return given[a] > given[b]; });
    CutCase best;
    best.arena = known;
    for (int v : steps) {
      if (given[v] <= best.arena || work <= 0)
        break;
      if (!p.levers.order) {
        best.arena = given[v], best.step = v;
        best.alive = aliveWith(v, [&](int step) { return step < v; });
        break;
      }
      cut(v, best, work);
    }
    return best;
  }

private:
  const Footprint &f;
  const Problem &p;
  const Dependencies deps;
  std::vector<Life> lives;
  int64_t atHome = 0;        // bytes of outputs in which values may lie; these count as alive from their maker on
  std::vector<int64_t> own;  // by step: bytes of the segments that it makes
  std::vector<int64_t> made; // by buffer: of its bytes, those that its step makes and does not pass on

  void addLife(int s) {
    const Segments::Segment &segment = f.segments.all[s];
    Life life{.segment = s};
    for (int b : segment.buffers) {
      if (!f.value[b] || !segment.linked)
        return; // of a streamed constant, or alive by no single maker
      // The first maker: the others pass its bytes on.
      life.maker = life.maker < 0 ? f.uses.writer[b] : std::min(life.maker, f.uses.writer[b]);
      life.readers.insert(life.readers.end(), f.uses.readers[b].begin(), f.uses.readers[b].end());
      life.forever |= p.buffers[b].kind == BufferKind::Output;
    }
    lives.push_back(std::move(life));
  }

  // Constants that the step reads from their stream.
  int64_t streamed(int v) const {
    int64_t sum = 0;
    for (const Footprint::Operand &o : f.needs[v].reads)
      sum += f.value[o.buffer] ? 0 : o.bytes;
    return sum;
  }

  // The operands in whose bytes the step may leave a result.
  std::vector<int> operandsFor(int v, int result) const {
    std::vector<int> operands;
    for (auto [r, operand] : f.needs[v].inPlace)
      if (r == result && f.value[operand] && f.leastWorkspace(v, kInPlaceOk) >= 0)
        operands.push_back(operand);
    return operands;
  }
  std::vector<int64_t> aliveInGivenOrder() const {
    const size_t count = p.steps.size();
    std::vector<int64_t> alive(count + 1, 0);
    for (const Life &life : lives) {
      int last = life.forever ? int(count) - 1 : life.maker;
      for (int reader : life.readers)
        last = std::max(last, reader);
      alive[life.maker] += f.segments.all[life.segment].bytes;
      alive[last + 1] -= f.segments.all[life.segment].bytes;
    }
    std::partial_sum(alive.begin(), alive.end(), alive.begin());
    alive.resize(count);
    for (int v = 0; v < int(count); ++v) {
      int64_t raw = alive[v] + streamed(v);
      for (const Footprint::Operand &o : f.needs[v].writes) {
        int64_t most = 0;
        for (int operand : operandsFor(v, o.buffer))
          if (f.uses.readers[operand].back() <= v)
            most = std::max(most, std::min(made[o.buffer], f.bytes[operand]));
        raw -= most;
      }
      alive[v] = f.needs[v].inRam ? f.arena(raw - atHome, f.leastWorkspace(v, 0)) : 0;
    }
    return alive;
  }

  template <typename Done> std::vector<int> aliveWith(int v, Done done) const {
    std::vector<int> alive;
    for (const Life &life : lives) {
      const bool read = life.forever || std::any_of(life.readers.begin(), life.readers.end(),
                                                    [&](int r) { return r == v || !done(r); });
      if (life.maker != v && !(done(life.maker) && read))
        continue;
      // By the member that is alive for it.
      for (int b : f.segments.all[life.segment].buffers) {
        const int maker = f.uses.writer[b];
        if (maker == v || (done(maker) && (p.buffers[b].kind == BufferKind::Output ||
                                           std::any_of(f.uses.readers[b].begin(), f.uses.readers[b].end(),
                                                       [&](int r) { return r == v || !done(r); })))) {
          alive.push_back(b);
          break;
        }
      }
    }
    for (const Footprint::Operand &o : f.needs[v].reads)
      if (!f.value[o.buffer])
        alive.push_back(o.buffer);
    std::sort(alive.begin(), alive.end());
    alive.erase(std::unique(alive.begin(), alive.end()), alive.end());
    return alive;
  }

  void cut(int v, CutCase &best, int64_t &work) {
    const int steps = int(p.steps.size()), source = steps + int(lives.size()), sink = source + 1;
    Network network(sink + 1);
    for (int s = 0; s < steps; ++s)
      for (int before : deps.before[s])
        network.edge(s, before, kEndless);
    for (int k = 0; k < int(lives.size()); ++k) {
      network.edge(lives[k].maker, steps + k, f.segments.all[lives[k].segment].bytes);
      for (int reader : lives[k].readers)
        network.edge(steps + k, reader, kEndless);
      if (lives[k].forever)
        network.edge(steps + k, sink, kEndless);
    }
    for (int before : deps.before[v])
      network.edge(source, before, kEndless);
    network.edge(v, sink, kEndless);
    work -= int64_t(lives.size()) + steps;

    int64_t raw = own[v] + streamed(v);
    for (const Footprint::Operand &o : f.needs[v].writes) {
      const std::vector<int> operands = operandsFor(v, o.buffer);
      int64_t most = 0;
      for (int operand : operands)
        most = std::max(most, std::min(made[o.buffer], f.bytes[operand]));
      raw -= most;
      if (operands.size() != 1)
        continue;
      // In place of its one operand, unless another reader of that is still to come.
      const int node = network.addNode();
      network.edge(source, node, most);
      for (int reader : f.uses.readers[operands[0]])
        if (reader != v)
          network.edge(node, reader, kEndless);
    }
    raw += network.flow(source, sink, work);
    const int64_t arena = f.arena(raw - atHome, f.leastWorkspace(v, 0));
    if (arena <= best.arena)
      return;
    best.arena = arena, best.step = v;
    best.alive = aliveWith(v, [&](int step) { return network.reached(step); });
  }
};

} // namespace

CutCase liveCut(const Footprint &footprint, int64_t known, int64_t work) { return LiveCut(footprint).run(known, work); }

} // namespace plim::solver
