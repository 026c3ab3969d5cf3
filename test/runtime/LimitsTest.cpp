// Limits and pressure as read from folders that look like /proc and /sys/fs/cgroup of machines with cgroup v1, v2 and
// both; and the variant that is picked under them.
#include "plim/limits.h"
#include "test/runtime/TableBuilder.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace plim::test {
namespace {

constexpr uint64_t kMiB = 1 << 20;

class Machine : public testing::Test {
protected:
  std::filesystem::path root = std::filesystem::temp_directory_path() / ("plim-limits-" + std::to_string(getpid()));

  void SetUp() override {
    // MemTotal 4 GiB, MemAvailable 3 GiB.
    write("proc/meminfo", "MemTotal:        4194304 kB\nMemFree:         1024 kB\nMemAvailable:    3145728 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root); }

  void write(const std::string &path, const std::string &text) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  plim_memory_limits read() {
    plim_memory_limits m;
    EXPECT_EQ(plim_memory_limits_read(root.c_str(), &m), PLIM_OK) << plim_last_error()->message;
    return m;
  }
  void mountV2(const std::string &mountRoot = "/") {
    write("proc/self/mountinfo", "21 1 8:1 / / rw,relatime - ext4 /dev/root rw\n"
                                 "30 21 0:26 " +
                                     mountRoot + " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n");
  }
  void mountV1() {
    write("proc/self/mountinfo", "21 1 8:1 / / rw - ext4 /dev/root rw\n"
                                 "32 21 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
                                 "33 21 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  }
  void groupV2(const std::string &group, const std::string &max, uint64_t current, uint64_t inactive = 0) {
    const std::string folder = "sys/fs/cgroup" + group;
    write(folder + "/memory.max", max + "\n");
    write(folder + "/memory.current", std::to_string(current) + "\n");
    write(folder + "/memory.stat", "anon 0\ninactive_anon 7\ninactive_file " + std::to_string(inactive) + "\n");
  }
  void groupV1(const std::string &group, uint64_t limit, uint64_t usage, uint64_t inactive = 0) {
    const std::string folder = "sys/fs/cgroup/memory" + group;
    write(folder + "/memory.limit_in_bytes", std::to_string(limit) + "\n");
    write(folder + "/memory.usage_in_bytes", std::to_string(usage) + "\n");
    write(folder + "/memory.stat", "inactive_file 5\ntotal_inactive_file " + std::to_string(inactive) + "\n");
  }
};

TEST_F(Machine, WithoutCgroupsIsTheHost) {
  const plim_memory_limits m = read();
  EXPECT_EQ(m.limit, 4096 * kMiB);
  EXPECT_EQ(m.available, 3072 * kMiB);
  EXPECT_EQ(m.used, 1024 * kMiB);
  EXPECT_EQ(m.source, PLIM_LIMIT_HOST);
  EXPECT_STREQ(m.where, "");
  EXPECT_EQ(m.level, PLIM_PRESSURE_OK);
}

TEST_F(Machine, TheTightestLevelOfV2Counts) {
  mountV2();
  write("proc/self/cgroup", "0::/box/job\n");
  groupV2("/box/job", "max", 10 * kMiB);
  groupV2("/box", std::to_string(512 * kMiB), 300 * kMiB, 100 * kMiB);
  const plim_memory_limits m = read();
  EXPECT_EQ(m.limit, 512 * kMiB);
  EXPECT_EQ(m.used, 200 * kMiB); // of the level of the limit, without pages that go at once
  EXPECT_EQ(m.available, 312 * kMiB);
  EXPECT_EQ(m.source, PLIM_LIMIT_CGROUP_V2);
  EXPECT_EQ(std::string(m.where), (root / "sys/fs/cgroup/box").string());
}

TEST_F(Machine, RoomMayBeSmallestAboveTheLimit) {
  mountV2();
  write("proc/self/cgroup", "0::/box/job\n");
  groupV2("/box/job", std::to_string(200 * kMiB), 10 * kMiB);
  groupV2("/box", std::to_string(1000 * kMiB), 950 * kMiB); // neighbours fill it
  const plim_memory_limits m = read();
  EXPECT_EQ(m.limit, 200 * kMiB);
  EXPECT_EQ(m.used, 10 * kMiB);
  EXPECT_EQ(m.available, 50 * kMiB);
}

TEST_F(Machine, AContainerSeesAPartOfTheHierarchy) {
  mountV2("/docker/abc");
  write("proc/self/cgroup", "0::/docker/abc/inner\n");
  groupV2("/inner", std::to_string(64 * kMiB), kMiB);
  EXPECT_EQ(read().limit, 64 * kMiB);
  // A path outside of what is mounted: the mount is all that can be seen.
  write("proc/self/cgroup", "0::/../elsewhere\n");
  mountV2();
  groupV2("", std::to_string(32 * kMiB), kMiB);
  EXPECT_EQ(read().limit, 32 * kMiB);
}

TEST_F(Machine, V1) {
  mountV1();
  write("proc/self/cgroup", "5:cpu,cpuacct:/other\n4:memory:/box\n");
  groupV1("/box", 256 * kMiB, 250 * kMiB, 50 * kMiB);
  groupV1("", uint64_t(0x7FFFFFFFFFFFF000), 900 * kMiB); // the number that stands for no limit
  const plim_memory_limits m = read();
  EXPECT_EQ(m.limit, 256 * kMiB);
  EXPECT_EQ(m.used, 200 * kMiB);
  EXPECT_EQ(m.available, 56 * kMiB);
  EXPECT_EQ(m.source, PLIM_LIMIT_CGROUP_V1);
  EXPECT_EQ(m.level, PLIM_PRESSURE_MODERATE); // 78 %
}

TEST_F(Machine, BothMountedMemoryIsCountedByV1) {
  write("proc/self/mountinfo", "33 21 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                               "34 21 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  write("proc/self/cgroup", "4:memory:/box\n0::/box\n");
  groupV1("/box", 128 * kMiB, kMiB);
  EXPECT_EQ(read().source, PLIM_LIMIT_CGROUP_V1);
  EXPECT_EQ(read().limit, 128 * kMiB);
  // Where v1 does not count memory, v2 does.
  write("proc/self/mountinfo", "32 21 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
                               "34 21 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  write("proc/self/cgroup", "5:cpu:/box\n0::/box\n");
  groupV2("/box", std::to_string(96 * kMiB), kMiB);
  EXPECT_EQ(read().source, PLIM_LIMIT_CGROUP_V2);
  EXPECT_EQ(read().limit, 96 * kMiB);
}

TEST_F(Machine, NamesWithBlanksAndManyMounts) {
  std::string mounts;
  for (int i = 0; i < 5000; ++i)
    mounts += "21 1 8:1 / /mnt/" + std::to_string(i) + " rw,relatime shared:1 - ext4 /dev/root rw\n";
  write("proc/self/mountinfo", mounts + "30 21 0:26 / /sys/fs/my\\040groups rw - cgroup2 cgroup2 rw\n");
  write("proc/self/cgroup", "0::/a job\n");
  write("sys/fs/my groups/a job/memory.max", "1048576\n");
  write("sys/fs/my groups/a job/memory.current", "4096\n");
  EXPECT_EQ(read().limit, kMiB);
}

TEST_F(Machine, LevelsRiseWithUseAndStalls) {
  mountV2();
  write("proc/self/cgroup", "0::/box\n");
  const auto level = [&](uint64_t percent, const std::string &some, const std::string &full) {
    groupV2("/box", std::to_string(1000 * kMiB), percent * 10 * kMiB);
    write("sys/fs/cgroup/box/memory.pressure", "some avg10=" + some + " avg60=0.00 avg300=0.00 total=1\nfull avg10=" +
                                                   full + " avg60=0.00 avg300=0.00 total=1\n");
    return read().level;
  };
  EXPECT_EQ(level(69, "0.00", "0.00"), PLIM_PRESSURE_OK);
  EXPECT_EQ(level(70, "0.00", "0.00"), PLIM_PRESSURE_MODERATE);
  EXPECT_EQ(level(85, "0.00", "0.00"), PLIM_PRESSURE_HIGH);
  EXPECT_EQ(level(95, "0.00", "0.00"), PLIM_PRESSURE_CRITICAL);
  EXPECT_EQ(level(10, "9.99", "0.00"), PLIM_PRESSURE_OK);
  EXPECT_EQ(level(10, "12.50", "0.00"), PLIM_PRESSURE_MODERATE);
  EXPECT_EQ(level(10, "80.00", "10.00"), PLIM_PRESSURE_CRITICAL);
  EXPECT_EQ(read().some_avg10, 8000u);
  EXPECT_EQ(read().full_avg10, 1000u);
}

TEST_F(Machine, BrokenFilesAreNoLimit) {
  mountV2();
  write("proc/self/cgroup", "0::/box\n");
  write("sys/fs/cgroup/box/memory.max", "-5\n");
  EXPECT_EQ(read().source, PLIM_LIMIT_HOST);
  write("proc/self/mountinfo", "30 21 0:26\n - cgroup2\n\n");
  EXPECT_EQ(read().source, PLIM_LIMIT_HOST);
  write("proc/self/cgroup", "::::\nnothing");
  EXPECT_EQ(read().source, PLIM_LIMIT_HOST);
  plim_memory_limits m;
  write("proc/meminfo", "MemTotal: many kB\n");
  EXPECT_EQ(plim_memory_limits_read(root.c_str(), &m), PLIM_ERR_IO);
  EXPECT_EQ(plim_memory_limits_read((root / "nowhere").c_str(), &m), PLIM_ERR_IO);
}

TEST(Limits, OfThisMachine) {
  plim_memory_limits m;
  ASSERT_EQ(plim_memory_limits_read(nullptr, &m), PLIM_OK);
  EXPECT_GT(m.limit, 64 * kMiB);
  EXPECT_LE(m.available, m.limit);
}

TEST(PickVariant, TheLargestThatFitsLimitAndRoom) {
  TableBuilder b;
  for (uint64_t arena : {64 * kMiB, 16 * kMiB, 4 * kMiB}) {
    b.beginVariant(std::to_string(arena / kMiB));
    const uint32_t id = b.arena(PLIM_TRANSIENT, arena), f4 = b.shape({4});
    b.beginProgram("forward");
    const uint32_t x = b.input("x", f4), y = b.output("y", f4);
    const Live a = b.born(id, arena - 64, 16, "a");
    b.launch("test.scale", {b.read(b.ioView(x), f4), b.write(a, f4)}, {2.0});
    b.launch("test.scale", {b.read(a, f4), b.write(b.ioView(y), f4)}, {2.0});
    b.dies(a);
    b.endProgram();
  }
  Table table = b.finish();
  const plim_model model = {sizeof(plim_model), PLIM_KERNEL_ABI, "m", table.get(), nullptr, nullptr, 0, 0};
  const auto pick = [&](uint64_t limit, uint64_t available, plim_status need = PLIM_OK) {
    plim_memory_limits m = {};
    m.limit = limit, m.available = available;
    uint32_t variant = 99;
    EXPECT_EQ(plim_pick_variant(&model, &m, &variant), need);
    return variant;
  };
  EXPECT_EQ(pick(1024 * kMiB, 512 * kMiB), 0u);
  EXPECT_EQ(pick(1024 * kMiB, 32 * kMiB), 1u);
  EXPECT_EQ(pick(32 * kMiB, 30 * kMiB), 1u);
  EXPECT_EQ(pick(8 * kMiB, 8 * kMiB), 2u);
  EXPECT_EQ(pick(8 * kMiB, kMiB, PLIM_ERR_MEMORY), 2u);
  EXPECT_GE(plim_last_error()->need, int64_t(4 * kMiB));
  EXPECT_EQ(plim_last_error()->have, int64_t(kMiB));
  uint32_t variant;
  plim_memory_limits m = {};
  EXPECT_EQ(plim_pick_variant(nullptr, &m, &variant), PLIM_ERR_ARG);
}

} // namespace
} // namespace plim::test
