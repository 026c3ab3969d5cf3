//===- RandomGraph.cpp - Small problems with the structure of real models ------------------------===//
#include "test/compiler/Solver/RandomGraph.h"
#include <algorithm>
#include <random>

namespace plim::solver {

const char *familyName(GraphFamily family) {
  static constexpr const char *kNames[] = {"layered", "series-parallel", "transformer", "unet", "resnet"};
  return kNames[int(family)];
}

namespace {

class Generator {
public:
  Generator(int steps, uint64_t seed) : steps(steps), random(seed) {}

  Problem run(GraphFamily family) {
    p.workers = 1 + below(4);
    p.countIo = below(3) != 0;
    p.granule = below(2) ? 64 : 4096;
    p.links = {{Tier::Ram, Tier::Ssd, 900'000'000, 5'000}, {Tier::Ssd, Tier::Ram, 1'200'000'000, 3'000}};
    if (below(2))
      p.links.push_back({Tier::Ram, Tier::Ram, 30'000'000'000, 50});
    if (below(2))
      p.fixed = {{"worker stacks", Tier::Ram, 4096}, {"staging ring", Tier::Ssd, 4096 * below(2)}};
    unit = 64 * (4 + below(120)) * (below(3) ? 32 : 1); // blocks of the ssd are no small part of small values
    if (below(3) == 0)
      unit += 4 * below(16);
    const int x = buffer(BufferKind::Input, unit);
    switch (family) {
    case GraphFamily::Layered:
      layered(x);
      break;
    case GraphFamily::SeriesParallel:
      leave(seriesParallel(x, steps));
      break;
    case GraphFamily::Transformer:
      transformer(x);
      break;
    case GraphFamily::UNet:
      leave(unet(x, steps));
      break;
    case GraphFamily::ResNet:
      resnet(x);
      break;
    }
    return std::move(p);
  }

private:
  const int steps;
  std::mt19937_64 random;
  Problem p;
  int64_t unit = 0; // bytes of a typical value

  int below(int limit) { return int(random() % uint64_t(limit)); }
  int64_t bytes(int b) const { return p.buffers[b].bytes; }
  bool transient(int b) const { return p.buffers[b].kind == BufferKind::Transient && p.buffers[b].group < 0; }
  bool done() const { return int(p.steps.size()) >= steps; }

  int buffer(BufferKind kind, int64_t bytes) {
    Buffer b;
    b.name = std::string(kindName(kind)) + std::to_string(p.buffers.size());
    b.bytes = std::max<int64_t>(4, bytes), b.kind = kind;
    b.align = kind == BufferKind::Transient && below(24) == 0 ? 256 : 64;
    b.movable = kind != BufferKind::Transient || below(24) != 0;
    p.buffers.push_back(b);
    return int(p.buffers.size()) - 1;
  }

  int value(int64_t bytes) { return buffer(BufferKind::Transient, bytes); }

  int step(const char *name, std::vector<int> reads, std::vector<int> writes, int64_t ns) {
    Step s;
    s.name = name + std::to_string(p.steps.size());
    s.source = "node of " + s.name;
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    s.reads = std::move(reads), s.writes = std::move(writes);
    s.candidates = {{.kernel = name, .ns = ns}};
    if (!p.steps.empty() && below(30) == 0)
      s.after = {below(int(p.steps.size()))};
    p.steps.push_back(std::move(s));
    return int(p.steps.size()) - 1;
  }

  void alias(AliasKind kind, int buffer, int base, int64_t offset = 0, int64_t run = 0, int64_t stride = 0) {
    p.aliases.push_back({kind, buffer, base, int(p.steps.size()) - 1, offset, run, stride,
                         kind == AliasKind::InPlace ? 0 : 1 + below(200)});
  }

  // Elementwise over one or two values, in place where it may.
  int pointwise(std::vector<int> reads) {
    const int out = value(bytes(reads[0]));
    const int s = step("pointwise", reads, {out}, 20 + below(100));
    p.steps[s].pure = below(40) != 0;
    if (below(10) == 0)
      p.steps[s].candidates[0].flags = uint32_t(below(4));
    for (int b : p.steps[s].reads)
      if (transient(b) && bytes(out) <= bytes(b))
        alias(AliasKind::InPlace, out, b);
    return out;
  }

  // A matrix product or convolution, most with a weight; faster candidates want more workspace.
  int product(std::vector<int> reads, int64_t outBytes) {
    if (below(4))
      reads.push_back(buffer(BufferKind::Constant, 64 * (1 + below(int(unit / 32)))));
    const int out = value(outBytes), s = step("product", reads, {out}, 500 + below(3000));
    const Candidate first = p.steps[s].candidates[0];
    for (int c = 0, count = 1 + below(3); c < count; ++c) {
      if (c > 0)
        p.steps[s].candidates.push_back(first);
      Candidate &candidate = p.steps[s].candidates[c];
      candidate.kernel = "product." + std::to_string(c);
      candidate.ns = first.ns * (4 + c) / 4;
      candidate.sharedBytes = 64 * below(int(unit / 64) + 1) / (c + 1);
      candidate.scratchBytes = below(2) ? 64 * below(8) / (c + 1) : 0;
      candidate.tasks = below(2) ? kMaxTasks : 1 + below(6);
      if (count > 1)
        candidate.label = "product=" + std::to_string(c);
    }
    return out;
  }

  int reduce(int x, int64_t to) {
    const int out = value(to);
    step("reduce", {x}, {out}, 30 + below(60));
    return out;
  }

  // Side by side, or row by row where all have `rows` equal parts.
  int concat(const std::vector<int> &parts) {
    const int64_t rows = below(2) ? 4 : 1;
    int64_t total = 0;
    for (int b : parts) {
      if (bytes(b) % rows != 0 || std::count(parts.begin(), parts.end(), b) > 1)
        return pointwise({parts[0], parts[1]});
      total += bytes(b);
    }
    const int out = value(total);
    step("concat", parts, {out}, 100 + below(300));
    int64_t at = 0;
    for (int b : parts) {
      const bool strided = rows > 1;
      if (transient(b))
        alias(AliasKind::Into, b, out, at, strided ? bytes(b) / rows : 0, strided ? total / rows : 0);
      at += bytes(b) / rows;
    }
    return out;
  }

  // A view of a part, or of all under another shape.
  int slice(int x, int parts, int part) {
    const int64_t size = bytes(x) / parts / 4 * 4;
    const int out = value(size);
    step("slice", {x}, {out}, 30 + below(100));
    if (p.buffers[x].kind != BufferKind::Output)
      alias(AliasKind::View, out, x, size * part);
    return out;
  }

  // Appends to a state; what reads it afterwards sees the new value.
  int appendTo(int state, int x) {
    const int out = value(bytes(x));
    step("append", {state, x}, {state, out}, 40);
    return out;
  }

  void leave(int x) {
    const int out = buffer(BufferKind::Output, bytes(x));
    step("leave", {x}, {out}, 50);
    if (transient(x))
      alias(AliasKind::InPlace, out, x);
  }

  void layered(int x) {
    std::vector<int> before{x};
    while (!done()) {
      std::vector<int> layer;
      for (int k = 0, width = 1 + below(4); k < width; ++k) {
        const int a = before[size_t(below(int(before.size())))], b = before[size_t(below(int(before.size())))];
        const int dice = below(6);
        layer.push_back(dice < 2    ? product({a, b}, 64 * (1 + below(int(unit / 32))))
                        : dice == 2 ? concat({a, b})
                        : dice == 3 ? slice(a, 1 + below(3), 0)
                                    : pointwise({a, b}));
      }
      // Mostly the layer before, at times one from earlier.
      const int old = before[size_t(below(int(before.size())))];
      before = layer;
      if (below(2))
        before.push_back(old);
    }
    for (int b : before)
      if (transient(b))
        leave(b);
    if (std::none_of(before.begin(), before.end(), [&](int b) { return transient(b); }))
      leave(pointwise({before[0]}));
  }

  int seriesParallel(int x, int budget) {
    if (budget <= 2)
      return below(2) ? pointwise({x}) : product({x}, unit);
    if (below(2)) {
      const int first = 1 + below(budget - 1);
      return seriesParallel(seriesParallel(x, first), budget - first);
    }
    const int a = seriesParallel(x, (budget - 1) / 2), b = seriesParallel(x, (budget - 1) / 2);
    return below(3) ? pointwise(bytes(a) >= bytes(b) ? std::vector{a, b} : std::vector{b, a}) : concat({a, b});
  }

  void transformer(int x) {
    const int cache = below(2) ? buffer(BufferKind::State, unit * 2) : -1;
    while (!done()) {
      const int normed = pointwise({x, buffer(BufferKind::Constant, unit)}), qkv = product({normed}, bytes(normed) * 3);
      const int q = slice(qkv, 3, 0), v = slice(qkv, 3, 2);
      int k = slice(qkv, 3, 1);
      if (cache >= 0)
        k = appendTo(cache, k);
      const int weighted = below(2) ? groupedAttention({q, k, v}, bytes(x)) : product({q, k, v}, bytes(x));
      x = pointwise({x, product({weighted}, bytes(x))});
      x = pointwise({x, product({pointwise({product({pointwise({x})}, bytes(x) * 4)})}, bytes(x))});
    }
    leave(reduce(x, bytes(x) / 2));
    leave(x);
  }

  // Probabilities are large where attention is naive, and then it is fast.
  int groupedAttention(const std::vector<int> &reads, int64_t outBytes) {
    const int group = int(p.groups.size());
    p.groups.push_back({"attention" + std::to_string(group), {"naive", "flash"}});
    const int saved = value(4), out = value(outBytes);
    const int first = step("attention", reads, {saved}, 800);
    p.buffers[saved].group = group, p.buffers[saved].sizes = {unit * 3, 64};
    const int second = step("weigh", {saved, reads[2]}, {out}, 300);
    for (int s : {first, second}) {
      Candidate flash = p.steps[s].candidates[0];
      flash.ns = flash.ns * 3 / 2, flash.kernel += ".flash", flash.label = "attention=flash";
      p.steps[s].candidates[0].label = "attention=naive";
      p.steps[s].candidates.push_back(flash), p.steps[s].group = group;
    }
    return out;
  }

  int unet(int x, int budget) {
    if (budget < 8)
      return pointwise({product({x}, bytes(x))});
    const int skip = pointwise({product({x}, bytes(x))});
    const int low = unet(reduce(skip, bytes(x) / 2 / 4 * 4), budget - 8);
    const int up = product({low}, bytes(x) / 4 * 4);
    return pointwise({product({concat({skip, up})}, bytes(x))});
  }

  void resnet(int x) {
    while (!done()) {
      int y = pointwise({product({x}, bytes(x))});
      y = product({y}, bytes(x));
      if (below(2)) { // squeeze and excite: a global reduction, then the whole again
        const int gate = pointwise({reduce(y, 64)});
        const int scaled = value(bytes(y));
        step("scale", {y, gate}, {scaled}, 60);
        alias(AliasKind::InPlace, scaled, y);
        y = scaled;
      }
      x = pointwise({pointwise({y, x})});
      if (below(4) == 0 && bytes(x) > 256)
        x = reduce(x, bytes(x) / 2 / 4 * 4);
    }
    leave(x);
  }
};

} // namespace

Problem randomGraph(GraphFamily family, int steps, uint64_t seed) { return Generator(steps, seed).run(family); }

} // namespace plim::solver
