//===- launch.cpp - Running a kernel under many cuts -----------------------------------------===//

#include "test/kernels/launch.h"

#include "kernels/attrs.h"
#include "kernels/registry.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace plim::test {

int64_t word(double value) { return plim_attr_from_double(value); }

bool cpuHas(plim_isa isa) {
  __builtin_cpu_init();
  switch (isa) {
  case PLIM_ISA_V4:
    return __builtin_cpu_supports("x86-64-v4");
  case PLIM_ISA_V3:
    return __builtin_cpu_supports("x86-64-v3");
  default:
    return true;
  }
}

namespace {

// 64-byte aligned workspace, contents undefined for the kernel, with a guard behind it.
class Workspace {
public:
  explicit Workspace(uint64_t size) : size(size), memory(static_cast<uint8_t *>(aligned_alloc(64, size + 64)), free) {
    memset(memory.get(), 0xC3, size + 64);
  }
  void *data() { return size ? memory.get() : nullptr; }
  bool guardUntouched() const {
    return std::all_of(memory.get() + size, memory.get() + size + 64, [](uint8_t b) { return b == 0xC3; });
  }

private:
  uint64_t size;
  std::unique_ptr<uint8_t, void (*)(void *)> memory;
};

} // namespace

int32_t runKernel(const std::string &name, const std::vector<Tensor *> &operands, const std::vector<int64_t> &attrs,
                  uint32_t outputs, plim_isa isa) {
  const plim_kernel_entry *entry = plim_find_kernel_entry(name.c_str());
  EXPECT_NE(entry, nullptr) << name;
  if (!entry || !entry->kernel->fn[isa]) {
    ADD_FAILURE() << name << ": no function at this level";
    return -1;
  }
  std::vector<void *> buffers;
  std::vector<const plim_shape *> shapes;
  std::vector<std::vector<uint8_t>> before;
  size_t firstOutput = operands.size() - outputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i >= firstOutput)
      operands[i]->poison();
    buffers.push_back(operands[i]->data());
    shapes.push_back(&operands[i]->shape());
    before.push_back(operands[i]->raw());
  }
  plim_cost cost = entry->cost(shapes.data(), uint32_t(shapes.size()), attrs.data(), &plim_default_machine);
  EXPECT_GE(cost.tasks, 1u);
  EXPECT_TRUE(std::isfinite(cost.ns) && cost.ns >= 0 && cost.flops >= 0 && cost.bytes >= 0);
  EXPECT_EQ(cost.shared_bytes % 64, 0u);
  EXPECT_EQ(cost.scratch_bytes % 64, 0u);

  Random random(7);
  int32_t status = 0;
  std::vector<std::vector<uint8_t>> expected;
  for (uint32_t tasks : {1u, 2u, 3u, 7u, 64u, 1000u, cost.tasks}) {
    for (size_t i = firstOutput; i < operands.size(); ++i)
      operands[i]->poison();
    Workspace shared(cost.shared_bytes), scratch[2] = {Workspace(cost.scratch_bytes), Workspace(cost.scratch_bytes)};
    plim_launch launch = {
        attrs.data(), buffers.data(),           shapes.data(),         nullptr, nullptr, shared.data(), 0,
        tasks,        uint32_t(buffers.size()), uint32_t(attrs.size())};
    int32_t result = 0;
    for (launch.phase = 0; launch.phase < entry->kernel->phases; ++launch.phase) {
      std::vector<std::pair<uint32_t, uint32_t>> ranges;
      for (uint32_t at = 0; at < tasks;) {
        uint32_t end = std::min<uint32_t>(tasks, at + 1 + uint32_t(random() % (1 + tasks / 4)));
        ranges.push_back({at, end});
        at = end;
      }
      std::shuffle(ranges.begin(), ranges.end(), random);
      for (auto [first, last] : ranges)
        result = std::max(result, entry->kernel->fn[isa](&launch, scratch[random() % 2].data(), first, last));
    }
    EXPECT_TRUE(shared.guardUntouched() && scratch[0].guardUntouched() && scratch[1].guardUntouched())
        << name << " with " << tasks << " tasks writes behind its workspace";
    for (size_t i = 0; i < firstOutput; ++i)
      EXPECT_EQ(operands[i]->raw(), before[i]) << name << " with " << tasks << " tasks changes input " << i;
    for (size_t i = firstOutput; i < operands.size(); ++i) {
      EXPECT_TRUE(operands[i]->gapsUntouched()) << name << " with " << tasks << " tasks writes between elements";
      if (tasks == 1)
        expected.push_back(operands[i]->raw());
      else if (result == 0)
        EXPECT_EQ(operands[i]->raw(), expected[i - firstOutput]) << name << " differs with " << tasks << " tasks";
    }
    if (tasks == 1)
      status = result;
    EXPECT_EQ(result, status) << name << " with " << tasks << " tasks";
  }
  return status;
}

} // namespace plim::test
