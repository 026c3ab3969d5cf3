// Every n-th call that loads weights, or saves or loads states, fails in every way: a clear status, nothing lost, no
// wrong answer.
#include "runtime/io/io_fault.h"
#include "test/runtime/SsdPlan.h"

#include "plim/weights.h"

#include <algorithm>
#include <atomic>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace plim::test;
using namespace plim::rt;

namespace {

enum class Kind { eio, nospace, cutShort, nothing, torn, bitFlip };

size_t openFiles() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

/// The n-th call that loads or saves a whole file fails.
struct NthFileFault {
  IoCall call;
  Kind kind;
  int n;
  std::atomic<int> seen{0};
  std::atomic<bool> struck{false};

  NthFileFault(IoCall call, Kind kind, int n) : call(call), kind(kind), n(n) {
    setIoFault(&NthFileFault::strike, this);
  }
  ~NthFileFault() { setIoFault(nullptr, nullptr); }

  static int64_t strike(void *data, const IoEvent &e, int64_t result) {
    auto &self = *static_cast<NthFileFault *>(data);
    if (e.call != self.call || self.seen++ != self.n || result <= 0)
      return result;
    self.struck = true;
    switch (self.kind) {
    case Kind::eio:
      return -EIO;
    case Kind::nospace:
      return -ENOSPC;
    case Kind::cutShort:
      return result / 2;
    case Kind::nothing:
      return 0;
    case Kind::torn:
      memset(e.memory + e.bytes / 2, 0, e.bytes - e.bytes / 2);
      return result;
    case Kind::bitFlip:
      e.memory[e.bytes / 3] ^= 4;
      return result;
    }
    return result;
  }
};

/// Lets every n-th call fail in every way; `attempt` says whether what it did came to its right end, `recover` what
/// must hold after a failure.
template <class Attempt, class Recover>
void everyFileFault(IoCall call, std::initializer_list<Kind> ways, Attempt attempt, Recover recover) {
  int calls;
  {
    NthFileFault none(call, Kind::eio, INT32_MAX);
    ASSERT_EQ(attempt(), PLIM_OK) << lastError();
    calls = none.seen;
  }
  ASSERT_GT(calls, 0);
  size_t files = openFiles();
  uint64_t held, after, peak;
  plim_ledger_totals(&held, &peak);
  for (Kind kind : ways)
    for (int n = 0; n < calls; ++n) {
      SCOPED_TRACE(testing::Message() << "kind " << static_cast<int>(kind) << ", call " << n);
      plim_status st;
      {
        NthFileFault fault(call, kind, n);
        st = attempt();
        ASSERT_TRUE(fault.struck);
      }
      if (kind == Kind::eio || kind == Kind::nospace) {
        EXPECT_EQ(st, PLIM_ERR_IO) << lastError();
        EXPECT_EQ(plim_last_error()->code, kind == Kind::eio ? EIO : ENOSPC);
      } else {
        EXPECT_TRUE(kind == Kind::cutShort || kind == Kind::torn || st != PLIM_OK) << "a wrong answer";
      }
      recover(st);
    }
  EXPECT_EQ(openFiles(), files);
  plim_ledger_totals(&after, &peak);
  EXPECT_EQ(after, held);
}

TEST(FileFault, EveryNthReadThatLoadsWeightsFailsInEveryWay) {
  Folder folder;
  std::string path = folder.path + "/model.weights";
  std::vector<float> w(700000, 0.25f);
  for (size_t i = 0; i < w.size(); i += 3)
    w[i] = static_cast<float>(i);
  plim_weight_writer *writer;
  TableBuilder b;
  uint64_t bytes = w.size() * 4;
  PLIM_OK_OR_FAIL(plim_weight_writer_open(path.c_str(), bytes, &writer));
  PLIM_OK_OR_FAIL(plim_weight_writer_put(writer, 0, w.data(), bytes));
  PLIM_OK_OR_FAIL(plim_weight_writer_finish(writer, &b.weightsBytes, &b.weightsHash));
  uint32_t arena = b.arena(PLIM_PERSISTENT, plim_page(bytes)), vector = b.shape({700000});
  uint32_t constant = b.constant("w", vector, 0, bytes, XXH3_64bits(w.data(), bytes));
  b.beginVariant("only");
  b.beginProgram("forward");
  uint32_t home = b.resident(false, constant, arena, 0, bytes);
  b.copy(home, b.ioView(b.output("y", vector)), bytes);
  b.endProgram();
  Model model(b);
  std::vector<float> y(w.size());
  everyFileFault(
      IoCall::loadFile, {Kind::eio, Kind::cutShort, Kind::nothing, Kind::torn, Kind::bitFlip},
      [&] {
        Running r(model.model, 1, path.c_str());
        if (r.status)
          return r.status;
        plim_bind_output(r.session, PLIM_NONE, "y", y.data(), bytes);
        EXPECT_EQ(r.run(), PLIM_OK) << lastError();
        EXPECT_TRUE(y == w) << "a wrong answer";
        return PLIM_OK;
      },
      [](plim_status) {});
}

/// A state of 40,000 bytes that counts runs.
struct CountedState {
  CountedState() {
    uint32_t arena = b.arena(PLIM_PERSISTENT, plim_page(bytes)), vector = b.shape({10000});
    uint32_t state = b.state("s", vector, bytes);
    b.beginVariant("only");
    b.beginProgram("forward");
    uint32_t home = b.resident(true, state, arena, 0, bytes), y = b.ioView(b.output("y", vector));
    uint32_t x = b.ioView(b.input("x", vector));
    b.launch("test.add", {b.read(home, vector), b.read(x, vector), b.write(y, vector)});
    b.commit();
    b.copy(y, home, bytes);
    b.endProgram();
  }
  static constexpr uint64_t bytes = 40000;
  TableBuilder b;
};

TEST(FileFault, EveryNthCallThatSavesOrLoadsStatesFailsInEveryWay) {
  CountedState counted;
  Model model(counted.b);
  Running r(model.model);
  PLIM_OK_OR_FAIL(r.status);
  std::vector<float> x(10000, 1), y(10000);
  plim_bind_input(r.session, PLIM_NONE, "x", x.data(), counted.bytes, nullptr, 0);
  plim_bind_output(r.session, PLIM_NONE, "y", y.data(), counted.bytes);
  Folder folder;
  std::string path = folder.path + "/state";
  auto holds = [&](float value) {
    void *data;
    uint64_t bytes;
    EXPECT_EQ(plim_state_data(r.session, "s", &data, &bytes), PLIM_OK);
    const auto *s = static_cast<const float *>(data);
    return std::all_of(s, s + 10000, [&](float v) { return v == value; });
  };
  PLIM_OK_OR_FAIL(r.run());
  everyFileFault(
      IoCall::saveFile, {Kind::eio, Kind::nospace, Kind::cutShort},
      [&] { return plim_state_save(r.session, path.c_str()); },
      [&](plim_status st) {
        EXPECT_EQ(folder.entries(), 1u) << "the file of before, and no part of a new one";
        EXPECT_EQ(plim_state_load(r.session, path.c_str()), PLIM_OK) << st << lastError();
        EXPECT_TRUE(holds(1));
      });
  everyFileFault(
      IoCall::loadFile, {Kind::eio, Kind::cutShort, Kind::nothing, Kind::torn, Kind::bitFlip},
      [&] {
        plim_status st = plim_state_load(r.session, path.c_str());
        EXPECT_TRUE(st || holds(1)) << "a wrong answer";
        return st;
      },
      [&](plim_status st) {
        plim_status next = r.run();
        EXPECT_TRUE(next == PLIM_OK || (st && next == PLIM_ERR_TORN)) << lastError();
        EXPECT_TRUE(next || holds(2)) << "a session that is not torn has its states";
        EXPECT_EQ(plim_state_load(r.session, path.c_str()), PLIM_OK) << lastError();
        EXPECT_TRUE(holds(1));
      });
}

} // namespace
