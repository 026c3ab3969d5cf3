//===- MeasureKernels.cpp - FLOP/s of the library's kernels by family ------------------------------===//
#include "kernels/attention/attention.h"
#include "kernels/attrs.h"
#include "kernels/conv/conv.h"
#include "kernels/elementwise/apply.h"
#include "kernels/matmul/matmul.h"
#include "kernels/norm/norm.h"
#include "kernels/reduce/reduce.h"
#include "kernels/registry.h"
#include "kernels/softmax/rows.h"
#include "plim/plim.h"
#include "tools/launches/Shapes.h"
#include "tools/plim-mem/Measure.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

namespace plim::mem {
namespace {

using launches::floatsOf;
using launches::panels;
using launches::rows;

// A launch whose operands fit a second- or third-level cache, so that arithmetic counts.
struct Launch {
  const char *kernel;
  std::vector<plim_shape> shapes;
  std::vector<int64_t> attrs;
};

Launch convolution(const char *kernel, int64_t filter, int64_t side, int64_t in, int64_t out, int64_t taps,
                   int64_t groups) {
  const plim_shape w = groups > 1 ? rows({taps, taps, in}) : panels(taps * taps * in, out);
  return {kernel,
          {rows({1, side, side, in}), w, rows({out}), rows({1, side, side, out})},
          launches::convolutionAttrs(filter, taps, groups)};
}

std::vector<Launch> measuredLaunches() {
  const int64_t scale = plim_attr_from_double(1 / std::sqrt(64.0)), epsilon = plim_attr_from_double(1e-5);
  const plim_shape heads = rows({1, 8, 256, 64});
  return {
      {"matmul.panel32", {rows({256, 512}), panels(512, 256), rows({256, 256})}, {0, 0, 0, 0}},
      {"matmul.batched", {rows({8, 128, 64}), rows({8, 64, 128}), rows({8, 128, 128})}, {0, 0, 0, 0}},
      convolution("conv.nhwc_direct", PLIM_CONV_FILTER_TAPS, 28, 128, 128, 3, 1),
      convolution("conv.nhwc_winograd", PLIM_CONV_FILTER_TAPS, 28, 128, 128, 3, 1),
      convolution("conv.nhwc_pointwise", PLIM_CONV_FILTER_TAPS, 28, 256, 128, 1, 1),
      {"attention.flash", {heads, heads, heads, heads}, {0, scale, 0, 0}},
      {"attention.chunked", {heads, heads, heads, heads}, {0, scale, 0, 0}},
      {"softmax.rows", {rows({256, 256}), rows({256, 256})}, {1, 0}},
      {"elementwise.apply", {rows({256, 256}), rows({256, 256})}, {PLIM_EW_EXP, 0, 0}},
      {"elementwise.apply", {rows({256, 256}), rows({256, 256}), rows({256, 256})}, {PLIM_EW_ADD, 0, 0}},
      {"reduce.apply", {rows({256, 256}), rows({256, 1})}, {PLIM_REDUCE_SUM, 1 << 1}},
      {"norm.layer", {rows({256, 256}), rows({256, 256})}, {0, 1, epsilon, 1}},
  };
}

class Memory {
public:
  explicit Memory(size_t bytes)
      : data(static_cast<char *>(std::aligned_alloc(4096, (bytes + 4096) / 4096 * 4096)), &std::free) {
    float *values = reinterpret_cast<float *>(data.get());
    for (size_t i = 0; data && i < bytes / sizeof(float); ++i)
      values[i] = float(i * 2654435761u >> 7 & 1023) / 1024.0f - 0.5f;
  }
  void *get() const { return data.get(); }

private:
  std::unique_ptr<char, decltype(&std::free)> data;
};

// The least CPU time of the launch on one thread, or a negative number where it does not run.
double measure(const plim_kernel &kernel, plim_isa isa, plim_launch &launch, void *scratch, double budgetNs) {
  const auto run = [&] {
    for (launch.phase = 0; launch.phase < kernel.phases; ++launch.phase)
      if (kernel.fn[isa](&launch, scratch, 0, launch.tasks))
        return false;
    return true;
  };
  if (!run())
    return -1;
  double least = INFINITY;
  const double end = cpuNs() + budgetNs;
  do {
    const double begin = cpuNs();
    run();
    least = std::min(least, cpuNs() - begin);
  } while (cpuNs() < end);
  return std::max(1.0, least);
}

// The peak with which the cost function comes to `ns`. Memory does not bind: the operands are in the caches.
double peakFor(const plim_kernel_entry &entry, const std::vector<const plim_shape *> &shapes,
               const std::vector<int64_t> &attrs, double ns) {
  double low = 1e-4, high = 1e8; // FLOP a ns
  for (int k = 0; k < 100; ++k) {
    const double middle = std::sqrt(low * high);
    const plim_machine machine = {middle, 1e12, 0};
    (entry.cost(shapes.data(), uint32_t(shapes.size()), attrs.data(), &machine).ns > ns ? low : high) = middle;
  }
  return low * 1e9;
}

} // namespace

std::map<std::string, double> measureKernels(const Effort &effort) {
  const plim_isa isa = plim_cpu_isa();
  std::map<std::string, std::vector<double>> peaks;
  for (const Launch &l : measuredLaunches()) {
    const plim_kernel_entry *entry = plim_find_kernel_entry(l.kernel);
    const plim_isa level = entry && entry->kernel->fn[isa] ? isa : PLIM_ISA_BASE;
    if (!entry || !entry->kernel->fn[level])
      continue;
    std::vector<Memory> memory;
    std::vector<void *> buffers;
    std::vector<const plim_shape *> shapes;
    for (const plim_shape &s : l.shapes) {
      memory.emplace_back(floatsOf(s) * sizeof(float));
      buffers.push_back(memory.back().get());
      shapes.push_back(&s);
    }
    const plim_cost cost = entry->cost(shapes.data(), uint32_t(shapes.size()), l.attrs.data(), &plim_default_machine);
    Memory shared(cost.shared_bytes), scratch(cost.scratch_bytes);
    plim_launch launch = launches::launchOf(shapes, buffers, l.attrs);
    launch.shared = shared.get();
    launch.tasks = cost.tasks;
    const double ns = measure(*entry->kernel, level, launch, scratch.get(), effort.kernelMs * 1e6);
    if (ns > 0)
      peaks[std::string(l.kernel, std::string(l.kernel).find('.'))].push_back(peakFor(*entry, shapes, l.attrs, ns));
  }
  std::map<std::string, double> families;
  for (const auto &[family, values] : peaks) {
    double logs = 0;
    for (double value : values)
      logs += std::log(value);
    families[family] = std::exp(logs / double(values.size()));
  }
  return families;
}

} // namespace plim::mem
