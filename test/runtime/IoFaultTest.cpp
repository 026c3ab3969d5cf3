// Every n-th call to the system fails, in every way that disks and file systems know, at every kind of transfer: a
// clear status or the right answer, nothing in flight and nothing lost, and a session that runs again or says that it
// is torn.
#include "runtime/io/io_fault.h"
#include "test/runtime/SsdPlan.h"

#include <atomic>
#include <fcntl.h>

using namespace plim::test;
using namespace plim::rt;
namespace fs = std::filesystem;

namespace {

enum class Kind { eio, nospace, cutShort, nothing, torn, bitFlip };
const Kind kinds[] = {Kind::eio, Kind::nospace, Kind::cutShort, Kind::nothing, Kind::torn, Kind::bitFlip};

/// The n-th read or write fails in one way.
struct NthFault {
  Kind kind;
  int n;
  std::atomic<int> seen{0};
  std::atomic<bool> struck{false}, wrote{false}, blocks{false}; // blocks: it moved more than one

  NthFault(Kind kind, int n) : kind(kind), n(n) { setIoFault(&NthFault::strike, this); }
  ~NthFault() { setIoFault(nullptr, nullptr); }

  static int64_t strike(void *data, const IoEvent &e, int64_t result) {
    auto &self = *static_cast<NthFault *>(data);
    bool write = e.call == IoCall::write;
    if ((!write && e.call != IoCall::read) || self.seen++ != self.n || result <= 0)
      return result;
    self.struck = true;
    self.wrote = write;
    self.blocks = e.bytes > PLIM_PAGE;
    switch (self.kind) {
    case Kind::eio:
      return -EIO;
    case Kind::nospace:
      return -ENOSPC;
    case Kind::cutShort: { // not even on a block's boundary; the rest is asked for again
      uint64_t moved = static_cast<uint64_t>(result) / 2 + 1, whole = moved / PLIM_PAGE * PLIM_PAGE;
      damage(e, whole, e.bytes - whole);
      return static_cast<int64_t>(moved);
    }
    case Kind::nothing:
      return 0;
    case Kind::torn: // the disk says that it has all, and has half
      damage(e, e.bytes / 2, e.bytes - e.bytes / 2);
      return result;
    case Kind::bitFlip:
      if (write)
        flip(e.fd, e.offset + 77);
      else
        e.memory[77] ^= 4;
      return result;
    }
    return result;
  }

  /// A part of what was moved did not arrive.
  static void damage(const IoEvent &e, uint64_t from, uint64_t bytes) {
    if (e.call == IoCall::write)
      zero(e.fd, e.offset + from, bytes);
    else
      memset(e.memory + from, 0, bytes);
  }

  // Whole blocks, as the file may be open for direct I/O.
  static void zero(int fd, uint64_t offset, uint64_t bytes) {
    alignas(PLIM_PAGE) static const char zeros[PLIM_PAGE] = {};
    for (uint64_t at = offset / PLIM_PAGE * PLIM_PAGE; at < offset + bytes; at += PLIM_PAGE)
      EXPECT_EQ(pwrite(fd, zeros, PLIM_PAGE, static_cast<off_t>(at)), PLIM_PAGE);
  }
  static void flip(int fd, uint64_t offset) {
    alignas(PLIM_PAGE) static char block[PLIM_PAGE];
    auto at = static_cast<off_t>(offset / PLIM_PAGE * PLIM_PAGE);
    EXPECT_EQ(pread(fd, block, PLIM_PAGE, at), PLIM_PAGE);
    block[offset % PLIM_PAGE] ^= 4;
    EXPECT_EQ(pwrite(fd, block, PLIM_PAGE, at), PLIM_PAGE);
  }
};

size_t openFiles() { return static_cast<size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), {})); }

/// What a run may not notice: a part that is asked for again, or damage in the padding of a last block.
bool mayPass(Kind kind) { return kind == Kind::cutShort || kind == Kind::torn || kind == Kind::bitFlip; }

void everyFault(const SsdPlan &plan, uint32_t way, uint32_t flags) {
  plim_context_options o = {};
  o.io_way = way;
  SsdRun r(plan, o);
  PLIM_OK_OR_FAIL(r.running->status);
  PLIM_OK_OR_FAIL(r.run(flags));
  int calls;
  {
    NthFault none(Kind::eio, INT32_MAX);
    PLIM_OK_OR_FAIL(r.run(flags));
    calls = none.seen;
  }
  ASSERT_GE(calls, static_cast<int>(plan.transfers()));
  size_t files = openFiles();
  uint64_t held, after, peak;
  plim_ledger_totals(&held, &peak);
  for (Kind kind : kinds)
    for (int n = 0; n < calls; ++n) {
      SCOPED_TRACE(testing::Message() << "way " << way << ", kind " << static_cast<int>(kind) << ", call " << n);
      plim_status st;
      bool wrote, blocks;
      {
        NthFault fault(kind, n);
        st = r.run(flags);
        ASSERT_TRUE(fault.struck);
        wrote = fault.wrote;
        blocks = fault.blocks;
      }
      if (kind == Kind::cutShort && blocks) {
        EXPECT_EQ(st, PLIM_OK) << "what is left is asked for again: " << lastError();
      }
      if (st == PLIM_OK) {
        EXPECT_TRUE(mayPass(kind));
        EXPECT_TRUE(r.right()) << "a wrong answer";
        continue;
      }
      ASSERT_EQ(st, PLIM_ERR_IO) << lastError();
      const plim_error *e = plim_last_error();
      EXPECT_NE(e->step, PLIM_NONE);
      EXPECT_NE(e->message[0], 0);
      EXPECT_EQ(e->code, kind == Kind::eio ? EIO : kind == Kind::nospace ? ENOSPC : 0) << lastError();
      if (wrote && (kind == Kind::eio || kind == Kind::nospace)) {
        EXPECT_NE(std::string(e->message).find("cannot write the spill file"), std::string::npos) << lastError();
      }
      // Usable again, or torn.
      plim_status again = r.run(flags);
      if (again == PLIM_ERR_TORN) {
        EXPECT_TRUE(plan.commit);
        PLIM_OK_OR_FAIL(plim_state_reset(r.running->session));
        again = r.run(flags);
      }
      ASSERT_EQ(again, PLIM_OK) << lastError();
      EXPECT_TRUE(r.right());
    }
  EXPECT_EQ(openFiles(), files);
  plim_ledger_totals(&after, &peak);
  EXPECT_EQ(after, held);
}

TEST(IoFault, EveryNthCallFailsInEveryWayOnThreads) { everyFault(SsdPlan(), PLIM_IO_THREADS, 0); }

TEST(IoFault, EveryNthCallFailsInEveryWayOnTheRing) {
  everyFault(SsdPlan(), PLIM_IO_ANY, 0);
  everyFault(SsdPlan(), PLIM_IO_URING, 0);
}

TEST(IoFault, EveryNthCallFailsInPoisonRunsToo) { everyFault(SsdPlan(), PLIM_IO_ANY, PLIM_RUN_POISON); }

TEST(IoFault, EveryNthPieceOfLargeTransfersFails) {
  SsdPlan plan;
  plan.n = 300001; // two pieces and a part of a block
  plan.rounds = 1;
  everyFault(plan, PLIM_IO_ANY, 0);
  everyFault(plan, PLIM_IO_THREADS, 0);
}

TEST(IoFault, AFailureAfterTheFirstCommitStepLeavesTheSessionTorn) {
  SsdPlan plan;
  plan.commit = true;
  everyFault(plan, PLIM_IO_ANY, 0);
  SsdRun r(plan);
  uint32_t commit = r.model->table.record<plim_t_program>(PLIM_SEC_PROGRAMS, 0).first_commit_step;
  int torn = 0, whole = 0;
  for (int n = 0; n < 14; ++n) {
    PLIM_OK_OR_FAIL(plim_state_reset(r.running->session));
    plim_status st;
    {
      NthFault fault(Kind::eio, n);
      st = r.run();
    }
    ASSERT_EQ(st, PLIM_ERR_IO);
    bool late = plim_last_error()->step >= commit;
    plim_status next = r.run();
    EXPECT_TRUE(next == PLIM_ERR_TORN || !late) << "the copy that failed came after the commit step";
    (next == PLIM_ERR_TORN ? torn : whole)++;
  }
  EXPECT_GT(torn, 0);
  EXPECT_GT(whole, 0);
}

TEST(IoFault, AWeightFileThatChangesBehindARunIsNoticedByItsHash) {
  SsdPlan plan;
  SsdRun r(plan);
  PLIM_OK_OR_FAIL(r.run());
  std::string path = r.folder.path + "/model.weights";
  int fd = open(path.c_str(), O_RDWR);
  uint64_t at = fs::file_size(path) - plim_page(plan.bytes()) + 100;
  char byte;
  ASSERT_EQ(pread(fd, &byte, 1, static_cast<off_t>(at)), 1);
  byte ^= 1;
  ASSERT_EQ(pwrite(fd, &byte, 1, static_cast<off_t>(at)), 1);
  fsync(fd);
  EXPECT_EQ(r.run(), PLIM_ERR_IO);
  EXPECT_NE(std::string(plim_last_error()->message).find("of the weight file are not those that were written"),
            std::string::npos)
      << lastError();
  byte ^= 1;
  ASSERT_EQ(pwrite(fd, &byte, 1, static_cast<off_t>(at)), 1);
  fsync(fd);
  PLIM_OK_OR_FAIL(r.run());
  EXPECT_TRUE(r.right());
  ASSERT_EQ(ftruncate(fd, static_cast<off_t>(at / PLIM_PAGE * PLIM_PAGE)), 0);
  EXPECT_EQ(r.run(), PLIM_ERR_IO);
  EXPECT_NE(std::string(plim_last_error()->message).find("ended early"), std::string::npos) << lastError();
  close(fd);
}

TEST(IoFault, ARunThatStopsWithTransfersInFlightLeavesNoneBehind) {
  for (uint32_t way : {uint32_t(PLIM_IO_ANY), uint32_t(PLIM_IO_THREADS)}) {
    SsdPlan plan;
    plan.n = 300000;
    plim_context_options o = {};
    o.io_way = way;
    SsdRun r(plan, o);
    PLIM_OK_OR_FAIL(r.running->status);
    uint32_t steps = r.model->table.record<plim_t_program>(PLIM_SEC_PROGRAMS, 0).steps;
    for (uint32_t step = 0; step < steps; ++step) {
      plim_run_options options = {};
      options.fault = step + 1;
      EXPECT_EQ(r.running->run(&options), PLIM_ERR_IO);
    }
    PLIM_OK_OR_FAIL(r.run());
    EXPECT_TRUE(r.right());
  }
}

TEST(IoFault, APlanThatReadsWhatIsStillBeingWrittenIsRefused) {
  SsdPlan plan;
  plan.waitForWrites = false;
  plan.rounds = 1;
  SsdRun r(plan);
  PLIM_OK_OR_FAIL(r.running->status);
  EXPECT_EQ(r.run(PLIM_RUN_POISON), PLIM_ERR_IO);
  EXPECT_NE(std::string(plim_last_error()->message).find("which no finished transfer of this run wrote"),
            std::string::npos)
      << lastError();
}

} // namespace
