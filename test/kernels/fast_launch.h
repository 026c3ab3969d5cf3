//===- fast_launch.h - Launches of fast kernels with guard zones and any cut of the tasks --===//
#ifndef PLIM_TEST_KERNELS_FAST_LAUNCH_H
#define PLIM_TEST_KERNELS_FAST_LAUNCH_H

#include "kernels/attrs.h"
#include "kernels/epilogue/epilogue.h"
#include "kernels/registry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace plim::test {

/// Bytes between two guard zones; every byte starts as 0xa5, which as a float is -2.9e-16 and as an index nonsense.
class GuardedBytes {
public:
  explicit GuardedBytes(size_t bytes) : size(bytes), storage(bytes + 2 * kGuard + 64, kPattern) {
    uintptr_t start = reinterpret_cast<uintptr_t>(storage.data()) + kGuard;
    offset = kGuard + (64 - start % 64) % 64;
  }
  void *data() { return storage.data() + offset; }
  size_t bytes() const { return size; }
  void poison() { std::memset(data(), kPattern, size); }
  bool guardsIntact() const {
    for (size_t i = 0; i < storage.size(); ++i)
      if ((i < offset || i >= offset + size) && storage[i] != kPattern)
        return false;
    return true;
  }

private:
  static constexpr size_t kGuard = 4096;
  static constexpr unsigned char kPattern = 0xa5;
  size_t size, offset;
  std::vector<unsigned char> storage;
};

struct Tensor {
  plim_shape shape = {};
  std::shared_ptr<GuardedBytes> memory;

  Tensor() = default;
  /// Row layout with `gap` unused elements after each row of the last dim.
  explicit Tensor(const std::vector<int64_t> &dims, int64_t gap = 0, int64_t lastStride = 1) {
    std::vector<int64_t> strides(dims.size());
    int64_t stride = lastStride;
    for (size_t i = dims.size(); i-- > 0;) {
      strides[i] = stride;
      stride *= dims[i];
      if (i + 1 == dims.size())
        stride += gap;
    }
    init(dims, strides);
  }
  Tensor(const std::vector<int64_t> &dims, const std::vector<int64_t> &strides) { init(dims, strides); }

  float *data() const { return static_cast<float *>(memory->data()); }
  int64_t elements() const { return plim_elements(&shape); }
  template <typename Indices> int64_t offset(const Indices &index) const {
    int64_t at = 0, i = 0;
    for (int64_t value : index)
      at += value * shape.strides[i++];
    return at;
  }
  float &operator()(const std::vector<int64_t> &index) const { return data()[offset(index)]; }
  float &operator()(std::initializer_list<int64_t> index) const { return data()[offset(index)]; }
  std::vector<int64_t> indexOf(int64_t element) const {
    std::vector<int64_t> index(shape.rank);
    for (int i = shape.rank - 1; i >= 0; --i) {
      index[i] = element % shape.dims[i];
      element /= shape.dims[i];
    }
    return index;
  }
  void fill(std::mt19937 &random, float low = -1.0f, float high = 1.0f) const {
    std::uniform_real_distribution<float> value(low, high);
    for (size_t i = 0; i < memory->bytes() / sizeof(float); ++i)
      data()[i] = value(random);
  }

private:
  void init(const std::vector<int64_t> &dims, const std::vector<int64_t> &strides) {
    shape.dtype = PLIM_F32;
    shape.rank = static_cast<uint8_t>(dims.size());
    int64_t last = 0;
    bool empty = false;
    for (size_t i = 0; i < dims.size(); ++i) {
      shape.dims[i] = dims[i];
      shape.strides[i] = strides[i];
      last += (dims[i] - 1) * strides[i];
      empty |= dims[i] == 0;
    }
    memory = std::make_shared<GuardedBytes>(empty ? 0 : (last + 1) * sizeof(float));
  }
};

/// [K, N] random values as panel32; `value(k, n)` reads them back.
struct Panels {
  Tensor tensor;
  int64_t k, n;

  Panels(int64_t k, int64_t n, std::mt19937 &random) : tensor({(n + 31) / 32 * 32 * k}), k(k), n(n) {
    std::uniform_real_distribution<float> value(-1.0f, 1.0f);
    for (int64_t i = 0; i < tensor.elements(); ++i)
      tensor.data()[i] = i / 32 / (k ? k : 1) * 32 + i % 32 < n ? value(random) : 0.0f;
    tensor.shape.layout = PLIM_PANEL32;
    tensor.shape.rank = 2;
    tensor.shape.dims[0] = k;
    tensor.shape.dims[1] = n;
  }
  float value(int64_t row, int64_t column) const { return tensor.data()[(column / 32 * k + row) * 32 + column % 32]; }
};

inline double activate(double x, int64_t kind, double a, double b) {
  auto clamp = [](double v, double lower, double upper) { return std::min(std::max(v, lower), upper); };
  switch (kind) {
  case PLIM_ACT_RELU:
    return std::max(x, 0.0);
  case PLIM_ACT_CLIP:
    return clamp(x, a, b);
  case PLIM_ACT_LEAKY_RELU:
    return x < 0 ? a * x : x;
  case PLIM_ACT_SIGMOID:
    return 1 / (1 + std::exp(-x));
  case PLIM_ACT_HARD_SIGMOID:
    return clamp(a * x + b, 0, 1);
  case PLIM_ACT_HARD_SWISH:
    return x * clamp(x / 6 + 0.5, 0, 1);
  case PLIM_ACT_SILU:
    return x / (1 + std::exp(-x));
  case PLIM_ACT_GELU_ERF:
    return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
  case PLIM_ACT_GELU_TANH:
    return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case PLIM_ACT_TANH:
    return std::tanh(x);
  default:
    return x;
  }
}

inline bool cpuHas(int isa) {
  return isa == PLIM_ISA_V4   ? __builtin_cpu_supports("x86-64-v4")
         : isa == PLIM_ISA_V3 ? __builtin_cpu_supports("x86-64-v3")
                              : true;
}

/// How the tasks of a launch are handed out: how many there are (0: as the cost function says), how many a call takes,
/// and whether the last come first.
struct Cut {
  uint32_t tasks, perCall;
  bool backwards;
};

struct Launch {
  const plim_kernel_entry *entry;
  std::vector<Tensor> operands; // the last one is written
  std::vector<int64_t> attrs;

  Launch(const char *name, std::vector<Tensor> operands, std::vector<int64_t> attrs)
      : entry(plim_find_kernel_entry(name)), operands(std::move(operands)), attrs(std::move(attrs)) {
    if (!entry)
      ADD_FAILURE() << "no kernel is named " << name;
  }

  /// Bytes of the result, with what lies between its rows. Fails where a guard zone was written.
  std::vector<unsigned char> run(int isa, Cut cut) {
    std::vector<void *> buffers;
    std::vector<const plim_shape *> shapes;
    for (Tensor &t : operands) {
      buffers.push_back(t.memory->data());
      shapes.push_back(&t.shape);
    }
    plim_cost cost = entry->cost(shapes.data(), operands.size(), attrs.data(), &plim_default_machine);
    EXPECT_EQ(cost.shared_bytes % 64, 0u);
    EXPECT_EQ(cost.scratch_bytes % 64, 0u);
    GuardedBytes shared(cost.shared_bytes), scratch(cost.scratch_bytes);
    operands.back().memory->poison();
    plim_launch launch = {};
    launch.attrs = attrs.data();
    launch.buf = buffers.data();
    launch.shape = shapes.data();
    launch.shared = shared.data();
    launch.tasks = cut.tasks ? cut.tasks : cost.tasks;
    launch.operands = operands.size();
    launch.attr_words = attrs.size();
    for (launch.phase = 0; launch.phase < entry->kernel->phases; ++launch.phase)
      for (uint32_t i = 0; i < launch.tasks; i += cut.perCall) {
        scratch.poison();
        uint32_t first = i, last = std::min(i + cut.perCall, launch.tasks);
        if (cut.backwards)
          first = launch.tasks - last, last = launch.tasks - i;
        EXPECT_EQ(entry->kernel->fn[isa](&launch, scratch.data(), first, last), 0);
      }
    EXPECT_TRUE(shared.guardsIntact()) << "shared workspace overrun";
    EXPECT_TRUE(scratch.guardsIntact()) << "scratch overrun";
    for (size_t i = 0; i < operands.size(); ++i)
      EXPECT_TRUE(operands[i].memory->guardsIntact()) << "write outside operand " << i;
    const unsigned char *bytes = static_cast<const unsigned char *>(operands.back().memory->data());
    return {bytes, bytes + operands.back().memory->bytes()};
  }

  /// Runs every implementation that this CPU has, with several cuts of the tasks, and expects the same bits of all.
  /// The result of the last run stays in the last operand. `twins`: implementations must agree with each other.
  void runAll(bool twins = true) {
    std::vector<unsigned char> expected;
    int runs = 0;
    for (int isa = 0; isa < PLIM_ISA_COUNT; ++isa) {
      if (!entry->kernel->fn[isa] || !cpuHas(isa))
        continue;
      if (!twins)
        expected.clear();
      for (Cut cut : {Cut{0, UINT32_MAX / 2, false}, Cut{0, 1, true}, Cut{1, 1, false}, Cut{7, 2, false}}) {
        std::vector<unsigned char> result = run(isa, cut);
        if (expected.empty())
          expected = result;
        EXPECT_TRUE(expected == result) << entry->kernel->name << ": level " << isa << ", " << cut.tasks
                                        << " tasks, other bits than the first run";
        ++runs;
      }
    }
    EXPECT_GT(runs, 0) << entry->kernel->name << " has no implementation for this CPU";
  }
};

/// Whether `got` is `want` up to what `terms` float roundings of numbers of this magnitude may do.
inline void expectNear(double got, double want, double magnitude, const std::string &where) {
  EXPECT_LE(std::abs(got - want), 4e-6 * (std::abs(want) + magnitude)) << where << ": " << got << ", expected " << want;
}

} // namespace plim::test

#endif
