//===- registry_test.cpp - What every library kernel must have -------------------------------===//

#include "kernels/registry.h"

#include "gtest/gtest.h"

#include <set>
#include <string>

TEST(Registry, EveryKernelHasNameAbiPhasesFunctionAndCost) {
  std::set<std::string> names;
  uint32_t count = 0;
  while (const plim_kernel_entry *entry = plim_kernel_at(count)) {
    ++count;
    ASSERT_NE(entry->kernel, nullptr);
    ASSERT_NE(entry->kernel->name, nullptr);
    std::string name = entry->kernel->name;
    SCOPED_TRACE(name);
    EXPECT_TRUE(names.insert(name).second) << "two kernels of one name";
    EXPECT_EQ(entry->kernel->abi, PLIM_KERNEL_ABI);
    EXPECT_GE(entry->kernel->phases, 1u);
    bool any = false;
    for (plim_kernel_fn fn : entry->kernel->fn)
      any |= fn != nullptr;
    EXPECT_TRUE(any) << "no function at any level";
    EXPECT_NE(entry->cost, nullptr);
    // The symbol that compiled models reference follows from the name.
    size_t dot = name.find('.');
    ASSERT_NE(dot, std::string::npos) << "a name is family.variant";
    EXPECT_EQ(std::string("plim_kernel_") + name.substr(0, dot) + "_" + name.substr(dot + 1), entry->symbol);
    EXPECT_EQ(plim_find_kernel(name.c_str()), entry->kernel);
    EXPECT_EQ(plim_find_kernel_entry(name.c_str()), entry);
  }
  EXPECT_GT(count, 0u);
  EXPECT_EQ(plim_find_kernel("no.such"), nullptr);
  EXPECT_EQ(plim_find_kernel_entry(""), nullptr);
}
