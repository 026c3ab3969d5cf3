// Where the spill file lies, and what happens where it cannot.
#include "runtime/io/io_fault.h"
#include "test/runtime/SsdPlan.h"

#include <atomic>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/wait.h>

using namespace plim::test;
using namespace plim::rt;
namespace fs = std::filesystem;

namespace {

SsdPlan spillOnly() {
  SsdPlan plan;
  plan.stream = false;
  return plan;
}

plim_context_options in(const std::string &folder) {
  plim_context_options o = {};
  o.spill_folder = folder.c_str();
  return o;
}

size_t openFiles() { return static_cast<size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), {})); }

/// Lets one kind of call fail with an errno for as long as it lives.
struct Refuse {
  IoCall call;
  int error;
  Refuse(IoCall call, int error) : call(call), error(error) {
    setIoFault(
        [](void *data, const IoEvent &e, int64_t result) {
          auto *self = static_cast<Refuse *>(data);
          return e.call == self->call ? -int64_t(self->error) : result;
        },
        this);
  }
  ~Refuse() { setIoFault(nullptr, nullptr); }
};

/// A folder named by a variable of the environment; the old value comes back.
struct Environment {
  std::string name, before;
  bool had;
  Environment(const char *name, const char *value) : name(name), had(getenv(name)) {
    if (had)
      before = getenv(name);
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Environment() { had ? setenv(name.c_str(), before.c_str(), 1) : unsetenv(name.c_str()); }
};

/// The folder in which a process has a file open that has no name (any more).
bool hasNamelessFileIn(const std::string &folder) {
  for (const auto &entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    std::string target = fs::read_symlink(entry.path(), gone).string();
    if (target.rfind(folder + "/", 0) == 0 && target.find("(deleted)") != std::string::npos)
      return true;
  }
  return false;
}

TEST(SpillFolder, IsTheOptionThenTheEnvironmentThenTheUsersCache) {
  Folder option, environment, cache, home;
  Environment spill("PLIM_SPILL_DIR", environment.path.c_str()), xdg("XDG_CACHE_HOME", cache.path.c_str()),
      user("HOME", home.path.c_str());
  auto lies = [](const char *folder, const std::string &where) {
    SsdPlan plan = spillOnly();
    TableBuilder b;
    plan.build(b);
    Model model(b);
    plim_context_options o = {};
    o.spill_folder = folder;
    Running r(model.model, 1, nullptr, nullptr, nullptr, o);
    EXPECT_EQ(r.status, PLIM_OK) << lastError();
    return hasNamelessFileIn(where);
  };
  EXPECT_TRUE(lies(option.path.c_str(), option.path));
  EXPECT_TRUE(lies(nullptr, environment.path));
  unsetenv("PLIM_SPILL_DIR");
  EXPECT_TRUE(lies(nullptr, cache.path + "/plimsoll"));
  unsetenv("XDG_CACHE_HOME");
  EXPECT_TRUE(lies(nullptr, home.path + "/.cache/plimsoll"));
  unsetenv("HOME");
  TableBuilder b;
  spillOnly().build(b);
  Model model(b);
  Running none(model.model);
  EXPECT_EQ(none.status, PLIM_ERR_IO);
  EXPECT_STREQ(plim_last_error()->message,
               "the plan spills to the ssd: name a folder, set PLIM_SPILL_DIR, or set HOME");
}

TEST(SpillFolder, OneThatCannotBeUsedIsRefusedByNameAndNothingLeaks) {
  Folder folder;
  std::ofstream(folder.path + "/file") << "x";
  size_t before = openFiles();
  struct {
    std::string path;
    int error;
  } cases[] = {{folder.path + "/missing", ENOENT}, {folder.path + "/file", ENOTDIR}, {"/sys", EACCES}};
  for (auto &c : cases) {
    uint64_t held, after, peak;
    plim_ledger_totals(&held, &peak);
    SsdRun r(spillOnly(), in(c.path));
    EXPECT_EQ(r.running->status, PLIM_ERR_IO) << c.path;
    EXPECT_EQ(plim_last_error()->where, c.path);
    if (c.path != "/sys") {
      EXPECT_EQ(plim_last_error()->code, c.error) << lastError();
    }
    r.running.reset();
    plim_ledger_totals(&after, &peak);
    EXPECT_EQ(after, held);
  }
  EXPECT_EQ(openFiles(), before);
}

TEST(SpillFolder, AFullOneSaysNeedAndHaveBeforeTheFirstStep) {
  Folder folder;
  for (int error : {ENOSPC, EDQUOT, EFBIG}) {
    Refuse refuse(IoCall::allocate, error);
    SsdRun r(spillOnly(), in(folder.path));
    EXPECT_EQ(r.running->status, PLIM_ERR_IO);
    EXPECT_EQ(plim_last_error()->code, error);
    EXPECT_EQ(plim_last_error()->need, static_cast<int64_t>(spillOnly().spill()));
    EXPECT_GT(plim_last_error()->have, 0);
    EXPECT_STREQ(plim_last_error()->message, "the file system of the spill folder has too little room");
  }
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(SpillFolder, OnASmallFileSystemThePlanThatFitsRunsAndTheOneThatDoesNotIsRefused) {
  Folder folder;
  if (mount("none", folder.path.c_str(), "tmpfs", 0, "size=1m"))
    GTEST_SKIP() << "mounting is not allowed";
  SsdPlan plan = spillOnly();
  {
    SsdRun small(plan, in(folder.path));
    EXPECT_EQ(small.running->status, PLIM_OK) << lastError();
    EXPECT_EQ(small.run(), PLIM_OK);
    EXPECT_TRUE(small.right());
    EXPECT_EQ(small.usage().spill_mode, uint32_t(PLIM_FILE_IN_MEMORY));
  }
  plan.n = 100000;
  SsdRun large(plan, in(folder.path));
  EXPECT_EQ(large.running->status, PLIM_ERR_IO);
  EXPECT_EQ(plim_last_error()->need, static_cast<int64_t>(plan.spill()));
  EXPECT_EQ(plim_last_error()->have, 1 << 20);
  large.running.reset();
  mount("none", folder.path.c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr);
  SsdRun locked(spillOnly(), in(folder.path));
  EXPECT_EQ(locked.running->status, PLIM_ERR_IO);
  EXPECT_EQ(plim_last_error()->code, EROFS) << lastError();
  umount(folder.path.c_str());
}

TEST(SpillFolder, WhereTheFileSystemCannotAllocateZerosAreWrittenInstead) {
  Folder folder;
  if (mount("none", folder.path.c_str(), "ramfs", 0, nullptr))
    GTEST_SKIP() << "mounting is not allowed";
  {
    SsdPlan plan = spillOnly();
    plan.n = 50000; // more than is written at once
    SsdRun r(plan, in(folder.path));
    EXPECT_EQ(r.running->status, PLIM_OK) << lastError();
    EXPECT_EQ(r.run(), PLIM_OK) << lastError();
    EXPECT_TRUE(r.right());
    EXPECT_EQ(r.usage().spill_mode, uint32_t(PLIM_FILE_IN_MEMORY));
  }
  umount(folder.path.c_str());
}

TEST(SpillFolder, WhereDirectIoIsRefusedTheRunIsRightAndSaysThatItIsBuffered) {
  Refuse refuse(IoCall::directFile, EINVAL);
  for (uint32_t way : {uint32_t(PLIM_IO_ANY), uint32_t(PLIM_IO_THREADS)}) {
    plim_context_options o = {};
    o.io_way = way;
    SsdRun r(SsdPlan(), o);
    PLIM_OK_OR_FAIL(r.running->status);
    PLIM_OK_OR_FAIL(r.run());
    EXPECT_TRUE(r.right());
    EXPECT_EQ(r.usage().spill_mode, uint32_t(PLIM_FILE_BUFFERED));
  }
}

TEST(SpillFolder, WhereFilesNeedNamesTheNameGoesAtOnce) {
  Folder folder;
  for (int error : {EOPNOTSUPP, EISDIR, EINVAL}) {
    Refuse refuse(IoCall::unnamedFile, error);
    SsdRun r(spillOnly(), in(folder.path)), second(spillOnly(), in(folder.path));
    PLIM_OK_OR_FAIL(r.running->status);
    PLIM_OK_OR_FAIL(second.running->status);
    EXPECT_EQ(folder.entries(), 0u);
    PLIM_OK_OR_FAIL(r.run());
    PLIM_OK_OR_FAIL(second.run());
    EXPECT_TRUE(r.right() && second.right());
  }
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(SpillFolder, AFileWhoseProcessIsGoneIsSweptAndNoOther) {
  Folder folder;
  std::string gone = folder.path + "/plim-spill-4194999-7-0", held = folder.path + "/plim-spill-1-7-0",
              other = folder.path + "/notes";
  for (const std::string &file : {gone, held, other})
    std::ofstream(file) << "x";
  int owner = open(held.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(owner, LOCK_EX), 0);
  {
    SsdRun r(spillOnly(), in(folder.path));
    PLIM_OK_OR_FAIL(r.running->status);
    EXPECT_FALSE(fs::exists(gone));
    EXPECT_TRUE(fs::exists(held));
    EXPECT_TRUE(fs::exists(other));
  }
  close(owner);
  SsdRun r(spillOnly(), in(folder.path));
  PLIM_OK_OR_FAIL(r.running->status);
  EXPECT_FALSE(fs::exists(held));
  EXPECT_TRUE(fs::exists(other));
}

TEST(SpillFolder, SeveralSessionsInOneFolderDoNotDisturbEachOther) {
  Folder folder;
  SsdPlan plan = spillOnly();
  plan.n = 50000;
  std::vector<std::unique_ptr<SsdRun>> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(std::make_unique<SsdRun>(plan, in(folder.path)));
    PLIM_OK_OR_FAIL(all.back()->running->status);
    for (float &x : all.back()->x)
      x *= static_cast<float>(i);
  }
  std::vector<pthread_t> threads(all.size());
  for (size_t i = 0; i < all.size(); ++i)
    pthread_create(
        &threads[i], nullptr,
        [](void *run) -> void * {
          for (int k = 0; k < 5; ++k)
            EXPECT_EQ(static_cast<SsdRun *>(run)->run(), PLIM_OK) << lastError();
          return nullptr;
        },
        all[i].get());
  for (size_t i = 0; i < all.size(); ++i) {
    pthread_join(threads[i], nullptr);
    EXPECT_TRUE(all[i]->right()) << i;
  }
}

TEST(SpillFolder, ProcessesThatSpillIntoOneFolderDoNotDisturbEachOther) {
  Folder folder;
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    children.push_back(fork());
    if (children.back() != 0)
      continue;
    std::unique_ptr<Refuse> named;
    if (i % 2)
      named = std::make_unique<Refuse>(IoCall::unnamedFile, EOPNOTSUPP);
    SsdPlan plan = spillOnly();
    plan.n = 30000 + 1000 * i;
    for (int start = 0; start < 4; ++start) { // each start sweeps the folder while the others use it
      SsdRun r(plan, in(folder.path));
      for (int k = 0; k < 3; ++k)
        if (r.running->status || r.run() || !r.right())
          _exit(1);
    }
    _exit(0);
  }
  for (pid_t child : children) {
    int status;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  EXPECT_EQ(folder.entries(), 0u);
}

/// The process dies at its n-th call, as by kill -9.
struct KillAtCall {
  int n;
  bool named; // files without a name are refused
  std::atomic<int> seen{0};
  KillAtCall(int n, bool named) : n(n), named(named) {
    setIoFault(
        [](void *data, const IoEvent &e, int64_t result) -> int64_t {
          auto *self = static_cast<KillAtCall *>(data);
          if (self->seen++ == self->n)
            kill(getpid(), SIGKILL);
          return self->named && e.call == IoCall::unnamedFile ? -int64_t(EOPNOTSUPP) : result;
        },
        this);
  }
};

TEST(SpillFolder, AProcessThatIsKilledAtAnyOfItsCallsLeavesNothingAndTheNextOneRuns) {
  Folder folder;
  SsdPlan plan = spillOnly();
  plan.n = 300001; // writes and reads of several pieces, and a part of a block
  for (bool named : {false, true})
    for (uint32_t way : {uint32_t(PLIM_IO_ANY), uint32_t(PLIM_IO_THREADS)}) {
      bool died = true;
      int n = 0;
      for (; died && n < 200; ++n) {
        pid_t child = fork();
        if (child == 0) {
          KillAtCall strike(n, named);
          plim_context_options o = in(folder.path);
          o.io_way = way;
          SsdRun r(plan, o);
          _exit(r.running->status || r.run() || !r.right());
        }
        int status;
        waitpid(child, &status, 0);
        died = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        EXPECT_TRUE(died || (WIFEXITED(status) && WEXITSTATUS(status) == 0)) << status;
        EXPECT_EQ(folder.entries(), 0u) << "call " << n;
      }
      EXPECT_GT(n, 2 * int(plan.rounds)) << "writes and reads are among the calls";
      EXPECT_FALSE(died);
    }
}

/// Runs in a child until it is killed, `pause` microseconds from its start on.
void killed(const std::string &folder, useconds_t pause, bool named) {
  pid_t child = fork();
  if (child == 0) {
    Refuse *refuse = named ? new Refuse(IoCall::unnamedFile, EOPNOTSUPP) : nullptr;
    for (;;) {
      SsdRun r(spillOnly(), in(folder));
      if (r.running->status || r.run() || !r.right())
        _exit(1);
    }
    delete refuse;
  }
  usleep(pause);
  kill(child, SIGKILL);
  int status;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child failed before it was killed";
}

TEST(SpillFolder, AKilledProcessLeavesNothingBehind) {
  Folder folder;
  for (useconds_t i = 0; i < 40; ++i) {
    killed(folder.path, 1000 + 977 * i, false);
    EXPECT_EQ(folder.entries(), 0u) << i;
  }
}

TEST(SpillFolder, WhereFilesNeedNamesTheNextStartSweepsWhatAKilledProcessLeft) {
  Folder folder;
  for (useconds_t i = 0; i < 40; ++i)
    killed(folder.path, 1000 + 977 * i, true);
  SsdRun r(spillOnly(), in(folder.path));
  PLIM_OK_OR_FAIL(r.running->status);
  EXPECT_EQ(folder.entries(), 0u);
}

} // namespace
