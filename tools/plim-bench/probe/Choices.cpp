//===- Choices.cpp - Predicted and measured times of the kernels for one launch ---------------===//
#include "tools/plim-bench/probe/Probe.h"

#include "kernels/attention/attention.h"
#include "kernels/attrs.h"
#include "kernels/conv/conv.h"
#include "kernels/registry.h"
#include "tools/launches/Shapes.h"

#include <algorithm>
#include <cmath>

namespace plim::probe {
namespace {

using launches::floatsOf;
using launches::panels;
using launches::rows;

constexpr double kBatchMs = 2, kBudgetMs = 120; // of one timing, and of all of a kernel

struct Launch {
  std::string name;
  std::vector<const char *> kernels;
  std::vector<plim_shape> shapes;
  std::vector<int64_t> attrs;
};

Launch convolution(int64_t side, int64_t in, int64_t out) {
  return {"conv3x3 " + std::to_string(in) + "->" + std::to_string(out) + " " + std::to_string(side),
          {"conv.nhwc_winograd", "conv.nhwc_direct"},
          {rows({1, side, side, in}), panels(9 * in, out), rows({out}), rows({1, side, side, out})},
          launches::convolutionAttrs(PLIM_CONV_FILTER_TAPS, 3, 1)};
}

Launch attention(int64_t heads, int64_t groups, int64_t queries, int64_t keys, int64_t depth, bool causal) {
  const int64_t flags = causal ? PLIM_ATTENTION_CAUSAL | PLIM_ATTENTION_FROM_END : 0;
  std::vector<const char *> kernels = {"attention.flash", "attention.chunked", "attention.naive"};
  if (queries <= 16)
    kernels.insert(kernels.begin(), "attention.decode");
  return {std::string("attention ") + (causal ? "causal " : "") + std::to_string(heads) + "/" + std::to_string(groups) +
              "x" + std::to_string(depth) + " S" + std::to_string(queries) + " T" + std::to_string(keys),
          kernels,
          {rows({1, heads, queries, depth}), rows({1, groups, keys, depth}), rows({1, groups, keys, depth}),
           rows({1, heads, queries, depth})},
          {flags, plim_attr_from_double(1 / std::sqrt(double(depth))), 0, 0}};
}

std::vector<Launch> contestedLaunches() {
  return {convolution(56, 64, 64),
          convolution(28, 128, 128),
          convolution(14, 256, 256),
          convolution(7, 512, 512),
          convolution(240, 96, 24),
          convolution(240, 8, 16),
          attention(12, 12, 128, 128, 32, false),
          attention(12, 12, 1024, 1024, 64, false),
          attention(12, 12, 1024, 1024, 64, true),
          attention(9, 3, 1, 256, 64, false),
          attention(9, 3, 1, 2048, 64, false),
          attention(12, 12, 16, 512, 64, false)};
}

/// Median time of a launch in one piece.
double measure(const plim_kernel &kernel, plim_isa isa, plim_launch &launch, void *scratch) {
  plim_kernel_fn function = kernel.fn[isa];
  const auto run = [&] {
    for (launch.phase = 0; launch.phase < kernel.phases; ++launch.phase)
      if (function(&launch, scratch, 0, launch.tasks))
        return false;
    return true;
  };
  if (!run())
    return -1;
  const double begin = cpuMilliseconds();
  run();
  const double first = std::max(cpuMilliseconds() - begin, 1e-4);
  const int batch = std::max(1, int(kBatchMs / first));
  std::vector<double> times;
  do {
    const double start = cpuMilliseconds();
    for (int i = 0; i < batch; ++i)
      run();
    times.push_back((cpuMilliseconds() - start) / batch);
  } while (cpuMilliseconds() - begin < kBudgetMs);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

} // namespace

double Choice::regret() const {
  const auto byPrediction = [](const Candidate &a, const Candidate &b) { return a.predictedMs < b.predictedMs; };
  const auto byTime = [](const Candidate &a, const Candidate &b) { return a.measuredMs < b.measuredMs; };
  return std::min_element(candidates.begin(), candidates.end(), byPrediction)->measuredMs /
         std::min_element(candidates.begin(), candidates.end(), byTime)->measuredMs;
}

std::vector<Choice> measureChoices(plim_isa isa) {
  std::vector<Choice> choices;
  for (Launch &l : contestedLaunches()) {
    std::vector<HugeFloats> memory;
    std::vector<void *> buffers;
    std::vector<const plim_shape *> shapes;
    for (const plim_shape &s : l.shapes) {
      buffers.push_back(memory.emplace_back(floatsOf(s)).get());
      shapes.push_back(&s);
    }
    Choice choice{l.name, {}};
    for (const char *name : l.kernels) {
      const plim_kernel_entry *entry = plim_find_kernel_entry(name);
      if (!entry || !entry->kernel->fn[isa])
        continue;
      const plim_cost cost = entry->cost(shapes.data(), uint32_t(shapes.size()), l.attrs.data(), &plim_default_machine);
      HugeFloats shared(cost.shared_bytes / sizeof(float)), scratch(cost.scratch_bytes / sizeof(float));
      plim_launch launch = launches::launchOf(shapes, buffers, l.attrs);
      launch.shared = shared.get();
      launch.tasks = cost.tasks;
      const double ms = measure(*entry->kernel, isa, launch, scratch.get());
      if (ms >= 0)
        choice.candidates.push_back({name, cost.ns / 1e6, ms});
    }
    if (!choice.candidates.empty())
      choices.push_back(std::move(choice));
  }
  return choices;
}

} // namespace plim::probe
