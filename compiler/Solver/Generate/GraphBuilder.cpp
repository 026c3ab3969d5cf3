//===- GraphBuilder.cpp - Forward steps, and the backward pass that they ask for -----------------===//
#include "compiler/Solver/Generate/GraphBuilder.h"
#include "absl/strings/str_cat.h"
#include <algorithm>
#include <cmath>

namespace plim::solver {
namespace {

constexpr double kFlops = 200e9, kBytes = 30e9; // per second

int64_t nsOf(double seconds) { return std::llround(seconds * 1e9); }

// Without the numbers that stand for no buffer, sorted, each once.
std::vector<int> operands(std::vector<int> buffers) {
  std::erase(buffers, -1);
  std::sort(buffers.begin(), buffers.end());
  buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
  return buffers;
}

} // namespace

int GraphBuilder::buffer(int64_t bytes, BufferKind kind) {
  Buffer b;
  b.name = absl::StrCat(kindName(kind), " ", problem.buffers.size());
  b.source = scope, b.bytes = bytes, b.kind = kind;
  problem.buffers.push_back(std::move(b));
  return int(problem.buffers.size()) - 1;
}

int GraphBuilder::step(const char *name, double seconds, std::vector<int> reads, std::vector<int> writes,
                       int64_t workspace) {
  Step s;
  s.name = absl::StrCat(name, " ", problem.steps.size()), s.source = scope;
  s.reads = operands(std::move(reads)), s.writes = operands(std::move(writes));
  s.candidates = {{.kernel = name, .ns = nsOf(seconds), .sharedBytes = workspace}};
  problem.steps.push_back(std::move(s));
  return int(problem.steps.size()) - 1;
}

int GraphBuilder::light(const char *name, std::vector<int> reads, std::vector<int> writes) {
  int64_t moved = 0;
  for (const auto *list : {&reads, &writes})
    for (int b : *list)
      moved += b < 0 ? 0 : bytes(b);
  return step(name, double(moved) / kBytes, std::move(reads), std::move(writes));
}

int GraphBuilder::parameter(int64_t bytes) {
  if (!parameters)
    return -1;
  return buffer(bytes, training ? BufferKind::State : BufferKind::Constant);
}

int GraphBuilder::group(const char *name, std::vector<std::string> choices) {
  problem.groups.push_back({absl::StrCat(name, " ", problem.groups.size()), std::move(choices)});
  return int(problem.groups.size()) - 1;
}

void GraphBuilder::record(std::function<void()> backward) {
  if (!training)
    return;
  tape.push_back([this, where = scope, backward = std::move(backward)] {
    scope = where;
    backward();
  });
}

void GraphBuilder::update(int parameter, int gradient) {
  if (parameter < 0)
    return;
  const int mean = buffer(bytes(parameter), BufferKind::State), square = buffer(bytes(parameter), BufferKind::State);
  step("adamw", double(bytes(parameter)) * 7 / kBytes, {parameter, mean, square, gradient}, {parameter, mean, square});
}

void GraphBuilder::addGradient(int b, int part) {
  int whole = part;
  if (gradient(b) >= 0) {
    whole = buffer(bytes(b));
    light("accumulate", {gradient(b), part}, {whole});
  }
  gradients.resize(problem.buffers.size(), -1);
  gradients[b] = whole;
}

int GraphBuilder::unary(const char *name, int x, int64_t outBytes, const Saves &saves) {
  const int y = buffer(outBytes), extra = saves.extraBytes && parameters ? buffer(saves.extraBytes) : -1;
  const int w = saves.parameterBytes ? parameter(saves.parameterBytes) : -1;
  light(name, {x, w}, {y, extra});
  record([=, this] {
    const int dx = buffer(bytes(x)), dw = w < 0 ? -1 : buffer(saves.parameterBytes);
    light("unary-back", {gradient(y), saves.input ? x : -1, saves.output ? y : -1, extra, w}, {dx, dw});
    addGradient(x, dx);
    update(w, dw);
  });
  return y;
}

int GraphBuilder::dense(const char *name, int x, int64_t outBytes, int64_t weightBytes, double flops,
                        int64_t workspace) {
  const int y = buffer(outBytes), w = parameter(weightBytes);
  step(name, flops / kFlops, {x, w}, {y}, workspace);
  record([=, this] {
    const int dx = buffer(bytes(x)), dw = w < 0 ? -1 : buffer(weightBytes), dy = gradient(y);
    step("dense-back-input", flops / kFlops, {dy, w}, {dx}, workspace);
    if (dw >= 0)
      step("dense-back-weight", flops / kFlops, {dy, x}, {dw}, workspace);
    addGradient(x, dx);
    update(w, dw);
  });
  return y;
}

int GraphBuilder::bias(int x, int64_t biasBytes) {
  if (!parameters)
    return x;
  const int y = buffer(bytes(x)), b = parameter(biasBytes);
  light("bias", {x, b}, {y});
  record([=, this] {
    const int db = buffer(biasBytes), dy = gradient(y);
    light("bias-back", {dy}, {db});
    addGradient(x, dy);
    update(b, db);
  });
  return y;
}

int GraphBuilder::add(int a, int b) {
  const int y = buffer(bytes(a));
  light("add", {a, b}, {y});
  record([=, this] {
    addGradient(a, gradient(y));
    addGradient(b, gradient(y));
  });
  return y;
}

int GraphBuilder::concat(int a, int b) {
  const int y = buffer(bytes(a) + bytes(b));
  light("concat", {a, b}, {y});
  record([=, this] {
    const int da = buffer(bytes(a)), db = buffer(bytes(b));
    light("concat-back", {gradient(y)}, {da});
    light("concat-back", {gradient(y)}, {db});
    addGradient(a, da);
    addGradient(b, db);
  });
  return y;
}

int GraphBuilder::attention(int q, int k, int v, double flops, int64_t probabilityBytes, int64_t logSumExpBytes) {
  const int g = group("attention", {"naive", "chunked", "flash"});
  const int out = buffer(bytes(q)), saved = buffer(logSumExpBytes);
  problem.buffers[saved].group = g;
  problem.buffers[saved].sizes = {probabilityBytes, logSumExpBytes, logSumExpBytes};
  // Seconds of the arithmetic, and of one pass over the probabilities.
  const double compute = flops / kFlops, pass = double(probabilityBytes) / kBytes;
  auto choices = [this, g](int step, std::array<std::pair<double, int64_t>, 3> ways) {
    Step &s = problem.steps[step];
    s.group = g;
    s.candidates.clear();
    for (int c = 0; c < 3; ++c)
      s.candidates.push_back({.kernel = absl::StrCat("attention-", problem.groups[g].choices[c]),
                              .label = absl::StrCat("attention=", problem.groups[g].choices[c]),
                              .ns = nsOf(ways[c].first),
                              .sharedBytes = ways[c].second});
  };
  choices(step("attention", 0, {q, k, v}, {out, saved}),
          {{{compute + 3 * pass, 0}, {compute + 3.2 * pass, probabilityBytes / 8}, {1.15 * compute + pass, 4 << 20}}});
  record([=, this] {
    const int dq = buffer(bytes(q)), dk = buffer(bytes(k)), dv = buffer(bytes(v));
    choices(step("attention-back", 0, {q, k, v, out, saved, gradient(out)}, {dq, dk, dv}),
            {{{2 * compute + 4 * pass, probabilityBytes},
              {2.5 * compute + 5 * pass, probabilityBytes / 4},
              {2.9 * compute + pass, 8 << 20}}});
    addGradient(q, dq);
    addGradient(k, dk);
    addGradient(v, dv);
  });
  return out;
}

void GraphBuilder::backward(int loss) {
  addGradient(loss, loss);
  for (size_t k = tape.size(); k-- > 0;)
    tape[k]();
}

} // namespace plim::solver
