//===- Generate.cpp - Generated problems by shape ------------------------------------------------===//
#include "compiler/Solver/Generate/Generate.h"
#include "absl/strings/str_cat.h"
#include "compiler/Solver/Generate/GraphBuilder.h"
#include <algorithm>
#include <cmath>
#include <random>

namespace plim::solver {
namespace {

constexpr int64_t kFloat = 4;

// Repetitions so that `ops` steps are met where one takes `each` and the rest `base`.
int repetitions(int ops, double base, double each) { return std::max(1, int(std::lround((ops - base) / each))); }

Problem gpt(int ops, bool parameters) {
  GraphBuilder b(true, parameters);
  constexpr int64_t d = 512, s = 512, tokens = 32 * s, act = tokens * d * kFloat, heads = 8, vocab = 4096;
  const int layers = parameters ? repetitions(ops, 10, 74) : repetitions(ops, 7, 42);
  b.scope = "embedding";
  const int ids = parameters ? b.buffer(tokens * 4, BufferKind::Input) : -1;
  int x = b.buffer(act);
  b.light("embed", {ids, b.parameter(vocab * d * kFloat)}, {x});
  auto linear = [&](int in, int64_t from, int64_t to) {
    return b.bias(b.dense("linear", in, tokens * to * kFloat, from * to * kFloat, 2.0 * double(tokens * from * to)),
                  to * kFloat);
  };
  auto norm = [&](int in) {
    return b.unary("norm", in, act, {.input = true, .extraBytes = tokens * 8, .parameterBytes = d * 8});
  };
  auto transpose = [&](int in) { return b.unary("transpose", in, act, {}); };
  auto dropout = [&](int in) { return b.unary("dropout", in, act, {.extraBytes = tokens * d}); };
  for (int l = 0; l < layers; ++l) {
    b.scope = absl::StrCat("layer ", l);
    const int y = norm(x);
    int q = transpose(linear(y, d, d)), k = transpose(linear(y, d, d));
    const int v = transpose(linear(y, d, d));
    q = b.unary("rotary", q, act, {}), k = b.unary("rotary", k, act, {});
    const int a = parameters ? b.attention(q, k, v, 4.0 * double(tokens * s * d), heads * tokens * s * kFloat,
                                           heads * tokens * kFloat)
                             : b.add(b.add(q, k), v);
    x = b.add(x, dropout(linear(transpose(a), d, d)));
    const int h = linear(norm(x), d, 4 * d);
    x = b.add(x, dropout(linear(b.unary("gelu", h, 4 * act, {.input = true}), 4 * d, d)));
  }
  b.scope = "head";
  const int logits =
      b.dense("linear", norm(x), tokens * vocab * kFloat, d * vocab * kFloat, 2.0 * double(tokens * d * vocab));
  // Softmax and loss in one: what it makes is the gradient.
  b.backward(b.unary("loss", logits, tokens * vocab * kFloat, {.input = true}));
  return std::move(b.problem);
}

Problem resnet(int ops) {
  GraphBuilder b(true, true);
  constexpr int64_t batch = 32;
  const double scale = std::max(0.0, (ops - 45) / 464.0); // times the blocks of ResNet-50, 29 steps each
  auto block = [&](int x, int64_t size, int64_t from, int64_t to, int64_t kernel, bool relu) {
    const int64_t pixels = batch * size * size, act = pixels * to * kFloat, weights = kernel * kernel * from * to;
    int y = b.dense("convolution", x, act, weights * kFloat, 2.0 * double(pixels * weights), 1 << 20);
    y = b.unary("batch-norm", y, act, {.input = true, .extraBytes = to * 8, .parameterBytes = to * 8});
    return relu ? b.unary("relu", y, act, {.output = true}) : y;
  };
  b.scope = "stem";
  int x = block(b.buffer(batch * 224 * 224 * 3 * kFloat, BufferKind::Input), 112, 3, 64, 7, true);
  x = b.unary("max-pool", x, batch * 56 * 56 * 64 * kFloat, {.input = true, .output = true});
  constexpr int kBlocks[] = {3, 4, 6, 3};
  int64_t channels = 64;
  for (int stage = 0; stage < 4; ++stage)
    for (int i = 0, n = std::max(1, int(std::lround(kBlocks[stage] * scale))); i < n; ++i) {
      b.scope = absl::StrCat("stage ", stage, " block ", i);
      const int64_t size = 56 >> stage, inner = 64 << stage, outer = inner * 4;
      int y = block(x, size, channels, inner, 1, true);
      y = block(block(y, size, inner, inner, 3, true), size, inner, outer, 1, false);
      const int skip = channels == outer ? x : block(x, size, channels, outer, 1, false);
      x = b.unary("relu", b.add(y, skip), batch * size * size * outer * kFloat, {.output = true});
      channels = outer;
    }
  b.scope = "head";
  const int pooled = b.unary("mean", x, batch * channels * kFloat, {});
  b.backward(b.dense("linear", pooled, batch * 1000 * kFloat, channels * 1000 * kFloat,
                     2.0 * double(batch * channels * 1000)));
  return std::move(b.problem);
}

Problem unet(int ops, bool parameters) {
  GraphBuilder b(true, parameters);
  constexpr int64_t batch = 8;
  constexpr int kDepth = 4;
  const int convolutions = parameters ? repetitions(ops, 40, 81) : repetitions(ops, 33, 36); // a level
  auto bytesAt = [&](int64_t size, int64_t channels) { return batch * size * size * channels * kFloat; };
  auto convolution = [&](int x, int64_t size, int64_t from, int64_t to) {
    const int64_t act = bytesAt(size, to);
    int y =
        b.dense("convolution", x, act, 9 * from * to * kFloat, 18.0 * double(batch * size * size * from * to), 1 << 20);
    if (parameters)
      y = b.unary("batch-norm", y, act, {.input = true, .extraBytes = to * 8, .parameterBytes = to * 8});
    return b.unary("relu", y, act, {.output = true});
  };
  int x = b.buffer(bytesAt(256, 3), parameters ? BufferKind::Input : BufferKind::Transient);
  if (!parameters)
    b.light("load", {}, {x});
  int64_t channels = 3;
  std::vector<int> skips;
  for (int level = 0; level <= kDepth; ++level) {
    b.scope = absl::StrCat("down ", level);
    const int64_t size = 256 >> level, to = 32 << level;
    for (int i = 0; i < convolutions; ++i, channels = to)
      x = convolution(x, size, channels, to);
    skips.push_back(x);
    if (level < kDepth)
      x = b.unary("max-pool", x, bytesAt(size / 2, to), {.input = true, .output = true});
  }
  for (int level = kDepth - 1; level >= 0; --level) {
    b.scope = absl::StrCat("up ", level);
    const int64_t size = 256 >> level, to = 32 << level;
    const int up = b.dense("up-convolution", x, bytesAt(size, to), 4 * channels * to * kFloat,
                           2.0 * double(batch * size * size * channels * to));
    x = b.concat(skips[level], up);
    for (int i = 0; i < convolutions; ++i)
      x = convolution(x, size, i ? to : 2 * to, to);
    channels = to;
  }
  b.backward(x);
  return std::move(b.problem);
}

Problem layered(int ops, uint64_t seed) {
  GraphBuilder b(false, false);
  std::mt19937_64 random(seed);
  auto below = [&](int limit) { return int(random() % uint64_t(limit)); };
  const int width = std::max(4, int(std::sqrt(ops) / 2));
  std::vector<int> made;
  for (int i = 0; i < ops; ++i) {
    const int layer = i / width, edges = std::min(layer * width, 1 + below(3));
    b.scope = absl::StrCat("layer ", layer);
    std::vector<int> reads;
    for (int k = 0; k < edges; ++k) { // mostly the layer before, one in eight from anywhere
      const int first = below(8) ? (layer - 1) * width : 0;
      reads.push_back(made[first + below(layer * width - first)]);
    }
    made.push_back(b.buffer(int64_t(1) << 16 << below(7)));
    b.step("random", 1e-4 * (1 + below(100)), reads, {made.back()});
  }
  return std::move(b.problem);
}

Problem stream(int ops) {
  GraphBuilder b(false, true);
  constexpr int64_t d = 2048, tokens = 128, act = tokens * d * kFloat, heads = 16;
  const int layers = repetitions(ops, 0, 15);
  int x = b.buffer(act, BufferKind::Input);
  auto linear = [&](int in, int64_t from, int64_t to) {
    return b.dense("linear", in, tokens * to * kFloat, from * to * kFloat, 2.0 * double(tokens * from * to));
  };
  auto norm = [&](int in) { return b.unary("norm", in, act, {.parameterBytes = d * kFloat}); };
  auto rotary = [&](int in) { return b.unary("rotary", in, act, {}); };
  for (int l = 0; l < layers; ++l) {
    b.scope = absl::StrCat("layer ", l);
    const int y = norm(x), q = rotary(linear(y, d, d)), k = rotary(linear(y, d, d)), v = linear(y, d, d);
    const int a = b.attention(q, k, v, 4.0 * double(tokens * tokens * d), heads * tokens * tokens * kFloat,
                              heads * tokens * kFloat);
    x = b.add(x, linear(b.unary("transpose", a, act, {}), d, d));
    const int z = norm(x);
    // The feed-forward chain as a whole, in two or in four pieces of rows.
    const int g = b.group("feed-forward", {"whole", "halves", "quarters"});
    const int first = int(b.problem.steps.size());
    const int h = linear(z, d, 4 * d), r = b.unary("gelu", h, 4 * act, {}), m = linear(r, 4 * d, d);
    for (int i : {h, r})
      b.problem.buffers[i].group = g, b.problem.buffers[i].sizes = {4 * act, 2 * act, act};
    for (int i = first; i < int(b.problem.steps.size()); ++i) {
      Step &step = b.problem.steps[i];
      const Candidate whole = step.candidates[0];
      step.group = g;
      for (double slower : {1.02, 1.05}) {
        step.candidates.push_back(whole);
        step.candidates.back().ns = std::llround(double(whole.ns) * slower);
      }
    }
    x = b.add(x, m);
  }
  b.problem.buffers[x].kind = BufferKind::Output;
  return std::move(b.problem);
}

Problem ofShape(const GenerateOptions &options) {
  switch (options.shape) {
  case GraphShape::Gpt:
    return gpt(options.ops, options.parameters);
  case GraphShape::ResNet:
    return resnet(options.ops);
  case GraphShape::UNet:
    return unet(options.ops, options.parameters);
  case GraphShape::Layered:
    return layered(options.ops, options.seed);
  case GraphShape::Stream:
    return stream(options.ops);
  }
  return {};
}

constexpr const char *kNames[] = {"gpt", "resnet", "unet", "layered", "stream"};

} // namespace

Problem generateProblem(const GenerateOptions &options) {
  Problem problem = ofShape(options);
  problem.levers.recompute = true;
  if (options.readBytesPerSecond > 0) {
    problem.links.push_back({Tier::Ssd, Tier::Ram, options.readBytesPerSecond, 0});
    problem.levers.stream = true;
  }
  if (options.writeBytesPerSecond > 0) {
    problem.links.push_back({Tier::Ram, Tier::Ssd, options.writeBytesPerSecond, 0});
    problem.levers.spill = options.readBytesPerSecond > 0;
  }
  return problem;
}

const char *graphShapeName(GraphShape shape) { return kNames[int(shape)]; }

std::optional<GraphShape> graphShapeNamed(std::string_view name) {
  for (int s = 0; s < int(std::size(kNames)); ++s)
    if (name == kNames[s])
      return GraphShape(s);
  return std::nullopt;
}

} // namespace plim::solver
