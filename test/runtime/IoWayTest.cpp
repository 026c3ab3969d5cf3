// The ways of I/O fall back where a system refuses them. Each refusal is a real one, in a child process.
#include "test/runtime/SsdPlan.h"

#include <cstddef>
#include <cstring>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

using namespace plim::test;

namespace {

/// Runs the plan in a child after `restrict`; the way that it took, or what went wrong as a number from 100 on.
template <class Fn> int wayInChild(Fn restrict) {
  pid_t child = fork();
  if (child == 0) {
    if (!restrict())
      _exit(100);
    SsdPlan plan;
    plan.n = 300000;
    SsdRun r(plan);
    if (r.running->status)
      _exit(101);
    for (uint32_t flags : {0u, uint32_t(PLIM_RUN_POISON)})
      if (r.run(flags) || !r.right())
        _exit(102);
    plim_usage u = r.usage();
    bool planned = u.reserved[PLIM_RAM] == u.planned[PLIM_RAM] && u.reserved[PLIM_SSD] == u.planned[PLIM_SSD];
    _exit(planned ? static_cast<int>(u.io_way) : 103);
  }
  int status;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 104;
}

bool refuseCall(uint32_t number, uint32_t error) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program = {sizeof code / sizeof *code, code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Whether this machine lets a process use io_uring at all.
bool haveRing() {
  static const int way = wayInChild([] { return true; });
  return way == PLIM_IO_REGISTERED || way == PLIM_IO_URING;
}

TEST(IoWay, ThreadsServeWhereIoUringIsForbidden) {
  for (int error : {EPERM, ENOSYS, ENOMEM})
    EXPECT_EQ(wayInChild([&] { return refuseCall(SYS_io_uring_setup, static_cast<uint32_t>(error)); }), PLIM_IO_THREADS)
        << error;
}

TEST(IoWay, TheRingServesWhereMemoryCannotBeRegistered) {
  if (!haveRing())
    GTEST_SKIP() << "no io_uring here";
  for (int error : {EPERM, ENOMEM, EOPNOTSUPP})
    EXPECT_EQ(wayInChild([&] { return refuseCall(SYS_io_uring_register, static_cast<uint32_t>(error)); }),
              PLIM_IO_URING)
        << error;
}

TEST(IoWay, TheRingServesWhereTheLimitOfLockedMemoryIsBelowTheArenas) {
  if (!haveRing())
    GTEST_SKIP() << "no io_uring here";
  int way = wayInChild([] {
    rlimit limit = {65536, 65536};
    // The limit does not bind a process that may lock any memory.
    __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct sets[2] = {};
    return setrlimit(RLIMIT_MEMLOCK, &limit) == 0 && syscall(SYS_capset, &header, sets) == 0;
  });
  EXPECT_EQ(way, PLIM_IO_URING);
}

TEST(IoWay, AnUnknownWayIsRefused) {
  plim_context_options o = {};
  o.io_way = 4;
  SsdRun r(SsdPlan(), o);
  EXPECT_EQ(r.running->status, PLIM_ERR_ARG);
  EXPECT_STREQ(plim_last_error()->where, "io_way");
}

TEST(IoWay, SixtyFourTransfersAndMoreMayBeOutstanding) {
  for (uint32_t way : {uint32_t(PLIM_IO_ANY), uint32_t(PLIM_IO_THREADS)})
    for (uint32_t flags : {0u, uint32_t(PLIM_RUN_POISON)}) {
      constexpr uint32_t count = 150;
      TableBuilder b;
      b.ioDepth = 2;
      uint32_t arena = b.arena(PLIM_TRANSIENT, count * PLIM_PAGE),
               ssd = b.arena(PLIM_TRANSIENT, count * PLIM_PAGE, PLIM_SSD);
      uint32_t one = b.shape({1});
      b.beginVariant("only");
      b.beginProgram("forward");
      uint32_t x = b.ioView(b.input("x", one)), y = b.ioView(b.output("y", one));
      std::vector<Live> ram, disk;
      std::vector<uint32_t> written, read;
      for (uint32_t i = 0; i < count; ++i) {
        ram.push_back(b.born(arena, i * PLIM_PAGE, 4));
        b.launch("test.scale", {b.read(x, one), b.write(ram[i], one)}, {i + 1.0});
        disk.push_back(b.born(ssd, i * PLIM_PAGE, 4));
        written.push_back(b.token());
        b.copy(ram[i].view, disk[i].view, 4, written[i], 0, PLIM_QUEUE_WRITE);
      }
      b.wait(written);
      for (uint32_t i = 0; i < count; ++i) {
        b.fill(ram[i].view, 0);
        read.push_back(b.token());
        b.copy(disk[i].view, ram[i].view, 4, read[i], 0, PLIM_QUEUE_READ);
      }
      b.wait(read);
      Live sum = ram[0];
      for (uint32_t i = 1; i < count; ++i)
        b.launch("test.add", {b.read(sum, one), b.read(ram[i], one), b.write(sum, one)});
      b.launch("test.scale", {b.read(sum, one), b.write(y, one)}, {1.0});
      for (uint32_t i = 0; i < count; ++i) {
        b.dies(ram[i]);
        b.dies(disk[i]);
      }
      b.endProgram();
      Model model(b);
      Folder folder;
      plim_context_options o = {};
      o.io_way = way;
      o.spill_folder = folder.path.c_str();
      Running r(model.model, 1, nullptr, nullptr, nullptr, o);
      PLIM_OK_OR_FAIL(r.status);
      float in = 2, out = 0;
      plim_bind_input(r.session, PLIM_NONE, "x", &in, 4, nullptr, 0);
      plim_bind_output(r.session, PLIM_NONE, "y", &out, 4);
      plim_run_options options = {};
      options.flags = flags;
      PLIM_OK_OR_FAIL(r.run(&options));
      EXPECT_EQ(out, 2 * count * (count + 1) / 2);
    }
}

// The system ends a ring some time after its file is closed, and writes to its memory once more.
TEST(IoWay, MemoryThatWasLentIsTheCallersOnceTheContextIsDestroyed) {
  if (!haveRing())
    GTEST_SKIP() << "no io_uring here";
  constexpr uint64_t bytes = 1 << 20;
  std::vector<char> pattern(bytes, 0x5a);
  std::unique_ptr<char, decltype(&free)> memory(static_cast<char *>(aligned_alloc(PLIM_PAGE, bytes)), free);
  for (uint32_t round = 0; round < 20; ++round) {
    {
      plim_context_options o = {};
      o.place = {memory.get(), bytes};
      SsdRun r(SsdPlan(), o);
      ASSERT_EQ(r.running->status, PLIM_OK) << lastError();
      ASSERT_EQ(r.run(), PLIM_OK) << lastError();
      EXPECT_TRUE(r.right());
    }
    memcpy(memory.get(), pattern.data(), bytes);
    usleep(20000);
    ASSERT_EQ(memcmp(memory.get(), pattern.data(), bytes), 0) << "round " << round;
  }
}

} // namespace
