//===- CheckTableTest.cpp - Sound tables pass, broken ones are rejected with the reason ---------===//
#include "compiler/Check/CheckTable.h"
#include "plim/check.h"
#include "test/runtime/TableBuilder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <functional>
#include <random>

namespace plim::check {
namespace {

using namespace test;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// y = scale(scale(x)) through two buffers of 64 bytes, the second launch with a workspace behind them.
struct Chain {
  TableBuilder b;
  uint32_t arena, shape, x, y;
  Live first, second;
  Chain() {
    arena = b.arena(PLIM_TRANSIENT, 4096), shape = b.shape({16});
    b.beginVariant("fast");
    b.beginProgram("forward");
    x = b.input("x", shape), y = b.output("y", shape);
    first = b.born(arena, 0, 64, "first");
    b.launch("test.scale", {b.read(b.ioView(x), shape), b.write(first, shape)}, std::vector<double>{2.0});
    second = b.born(arena, 64, 64, "second");
    LaunchOptions options;
    options.attrs = {2.0};
    options.workspaceArena = arena, options.workspaceOffset = 128, options.shared = 64, options.scratch = 64;
    options.tasks = 8;
    b.launch("test.scale", {b.read(first, shape), b.write(second, shape)}, options);
    b.dies(first);
    b.launch("test.scale", {b.read(second, shape), b.write(b.ioView(y), shape)}, std::vector<double>{2.0});
    b.dies(second);
    b.endProgram();
  }
};

plim_t_program &program(Table &t) { return t.record<plim_t_program>(PLIM_SEC_PROGRAMS, 0); }
plim_t_view &view(Table &t, uint32_t i) { return t.record<plim_t_view>(PLIM_SEC_VIEWS, i); }

TEST(CheckTable, AcceptsASoundTable) {
  Table t = Chain().b.finish();
  ASSERT_EQ(plim_table_check(t.get(), t.size()), PLIM_OK);
  EXPECT_THAT(checkTable(t.get()), IsEmpty());
}

TEST(CheckTable, RejectsFiguresThatAreOffByOneByte) {
  for (int change : {-1, 1}) {
    Table t = Chain().b.finish();
    program(t).live_peak[PLIM_RAM] += uint64_t(int64_t(change));
    EXPECT_THAT(checkTable(t.get()), testing::ElementsAre(HasSubstr("need a live peak of")));
    Table u = Chain().b.finish();
    u.record<plim_t_arena>(PLIM_SEC_ARENAS, 0).touched += uint64_t(int64_t(change));
    EXPECT_THAT(checkTable(u.get()), testing::ElementsAre(HasSubstr("touched bytes")));
  }
}

TEST(CheckTable, RejectsABirthOnBytesThatAreAlive) {
  Chain c;
  Table t = c.b.finish();
  view(t, c.second.view).offset = 0;
  EXPECT_THAT(checkTable(t.get()),
              Contains(HasSubstr("buffer 1 ('second') [0, 64) is born on bytes of buffer 0 ('first')")));
}

TEST(CheckTable, RejectsAWorkspaceOnBytesThatAreAlive) {
  Chain c;
  Table t = c.b.finish();
  view(t, t.record<plim_t_launch>(PLIM_SEC_LAUNCHES, 1).workspace).offset = 0;
  EXPECT_THAT(checkTable(t.get()), Contains(HasSubstr("the workspace [0, 320) is on bytes of")));
  Table operand = c.b.finish();
  view(operand, operand.record<plim_t_launch>(PLIM_SEC_LAUNCHES, 1).workspace) = {PLIM_BASE_ARENA, c.arena, 64, 64,
                                                                                  PLIM_NONE,       0};
  EXPECT_THAT(checkTable(operand.get()), Contains(HasSubstr("the workspace [64, 128) is on bytes of operand 1")));
  Table small = c.b.finish();
  small.get()->workers = 5;
  EXPECT_THAT(checkTable(small.get()),
              Contains(HasSubstr("need a workspace of 384 bytes at a multiple of 64, have 320")));
}

// A workspace with a birth and death of its own passes; on a buffer that is read later it does not.
TEST(CheckTable, AWorkspaceDestroysWhatLiesThere) {
  for (bool readLater : {false, true}) {
    TableBuilder b;
    uint32_t arena = b.arena(PLIM_TRANSIENT, 4096), shape = b.shape({16});
    b.beginVariant("v");
    b.beginProgram("p");
    uint32_t x = b.ioView(b.input("x", shape)), y = b.ioView(b.output("y", shape));
    Live space = b.born(arena, 64, 64);
    b.launch("test.scale", {b.read(x, shape), b.write(space, shape)}, std::vector<double>{2.0});
    LaunchOptions options;
    options.attrs = {2.0};
    options.workspaceArena = arena, options.workspaceOffset = 64, options.shared = 64;
    b.launch("test.scale", {b.read(x, shape), b.write(y, shape)}, options);
    if (readLater)
      b.launch("test.scale", {b.read(space, shape), b.write(y, shape)}, std::vector<double>{2.0});
    b.dies(space);
    b.endProgram();
    Table t = b.finish();
    EXPECT_THAT(checkTable(t.get()), readLater ? testing::Matcher<std::vector<std::string>>(Contains(
                                                     HasSubstr("operand 0 reads bytes in [64, 128) that were")))
                                               : IsEmpty());
  }
}

TEST(CheckTable, RejectsAccessAfterDeathAndBeforeBirth) {
  for (auto [from, to] : {std::pair{4, 3}, std::pair{6, 5}, std::pair{0, 1}, std::pair{2, 3}}) {
    Table t = Chain().b.finish(); // exchanging a mark with the launch beside it
    std::swap(t.record<plim_t_step>(PLIM_SEC_STEPS, uint32_t(from)),
              t.record<plim_t_step>(PLIM_SEC_STEPS, uint32_t(to)));
    EXPECT_THAT(checkTable(t.get()), Contains(HasSubstr("have them in none that is alive"))) << from;
  }
}

TEST(CheckTable, RejectsAReadOfBytesThatNothingHasWritten) {
  Chain c;
  Table t = c.b.finish();
  t.record<plim_t_operand>(PLIM_SEC_OPERANDS, 1).access = PLIM_ACCESS_READ; // the first launch writes nothing
  EXPECT_THAT(checkTable(t.get()), Contains(HasSubstr("operand 1 reads bytes in [0, 64) that were not written")));
}

TEST(CheckTable, RejectsAnOutputThatIsNotWrittenInFull) {
  Chain c;
  Table t = c.b.finish();
  t.record<plim_t_operand>(PLIM_SEC_OPERANDS, 5).access = PLIM_ACCESS_READ;
  EXPECT_THAT(checkTable(t.get()), Contains(HasSubstr("output 'y': need all of its 64 bytes written")));
}

TEST(CheckTable, RejectsWritesOfInputs) {
  Chain c;
  Table t = c.b.finish();
  t.record<plim_t_operand>(PLIM_SEC_OPERANDS, 0).access = PLIM_ACCESS_READ_WRITE;
  EXPECT_THAT(checkTable(t.get()), Contains(HasSubstr("operand 0 writes the input 'x'")));
}

TEST(CheckTable, AcceptsAnInPlaceLaunchAndRejectsAShiftedOne) {
  for (uint64_t shift : {0, 4}) {
    TableBuilder b;
    uint32_t arena = b.arena(PLIM_TRANSIENT, 4096), shape = b.shape({16}), half = b.shape({8});
    b.beginVariant("v");
    b.beginProgram("p");
    uint32_t x = b.input("x", shape), y = b.output("y", shape);
    Live live = b.born(arena, 0, 64);
    b.launch("test.scale", {b.read(b.ioView(x), shape), b.write(live, shape)}, std::vector<double>{2.0});
    uint32_t target = b.view(arena, shift, 32);
    b.launch("test.scale", {b.read(live, half), {target, half, PLIM_ACCESS_WRITE, live.buffer}},
             std::vector<double>{2.0});
    b.launch("test.scale", {b.read(live, shape), b.write(b.ioView(y), shape)}, std::vector<double>{2.0});
    b.dies(live);
    b.endProgram();
    Table t = b.finish();
    EXPECT_THAT(checkTable(t.get()), shift ? testing::Matcher<std::vector<std::string>>(
                                                 Contains(HasSubstr("operand 1 is written over bytes of operand 0")))
                                           : IsEmpty());
  }
}

TEST(CheckTable, StridedPiecesMakeTheWhole) {
  for (bool both : {false, true}) {
    TableBuilder b;
    uint32_t arena = b.arena(PLIM_TRANSIENT, 4096), dense = b.shape({8, 4}), piece = b.shape({8, 4}),
             whole = b.shape({8, 8});
    b.beginVariant("v");
    b.beginProgram("p");
    uint32_t x = b.input("x", dense), y = b.output("y", whole);
    Live live = b.born(arena, 0, 256);
    for (uint64_t offset : {0, 16})
      if (offset == 0 || both)
        b.launch(
            "test.scale",
            {b.read(b.ioView(x), dense), {b.view(arena, offset, 256 - offset), piece, PLIM_ACCESS_WRITE, live.buffer}},
            std::vector<double>{2.0});
    b.launch("test.scale", {b.read(live, whole), b.write(b.ioView(y), whole)}, std::vector<double>{2.0});
    b.dies(live);
    b.endProgram();
    Table t = b.finish();
    t.record<plim_t_shape>(PLIM_SEC_SHAPES, piece).strides[0] = 8; // rows of 8, of which a piece has 4
    EXPECT_THAT(checkTable(t.get()),
                both ? testing::Matcher<std::vector<std::string>>(IsEmpty())
                     : Contains(HasSubstr("operand 0 reads bytes in [0, 256) that were not written")));
  }
}

TEST(CheckTable, NeedsBytesWrittenOnBothSidesOfABranch) {
  for (bool both : {false, true}) {
    TableBuilder b;
    uint32_t arena = b.arena(PLIM_TRANSIENT, 4096), shape = b.shape({16});
    b.beginVariant("v");
    b.beginProgram("p");
    uint32_t n = b.symbol("n", 0, 1), x = b.input("x", shape), y = b.output("y", shape);
    Live live = b.born(arena, 0, 64);
    auto write = [&] {
      b.launch("test.scale", {b.read(b.ioView(x), shape), b.write(live, shape)}, std::vector<double>{2.0});
    };
    b.beginIf(n);
    write();
    b.otherwise();
    if (both)
      write();
    b.endIf();
    b.launch("test.scale", {b.read(live, shape), b.write(b.ioView(y), shape)}, std::vector<double>{2.0});
    b.dies(live);
    b.endProgram();
    Table t = b.finish();
    ASSERT_EQ(plim_table_check(t.get(), t.size()), PLIM_OK);
    EXPECT_EQ(checkTable(t.get()).empty(), both);
  }
}

TEST(CheckTable, ALoopMayNotRunAtAll) {
  for (bool before : {false, true}) {
    TableBuilder b;
    uint32_t arena = b.arena(PLIM_TRANSIENT, 4096), shape = b.shape({16});
    b.beginVariant("v");
    b.beginProgram("p");
    uint32_t n = b.symbol("n", 0, 9), x = b.input("x", shape), y = b.output("y", shape);
    Live live = b.born(arena, 0, 64);
    if (before)
      b.fill(live.view, 0);
    uint32_t counter = b.scalar();
    b.beginLoop(n, counter, 9);
    b.launch("test.scale", {b.read(b.ioView(x), shape), b.write(live, shape)}, std::vector<double>{2.0});
    b.endLoop();
    b.launch("test.scale", {b.read(live, shape), b.write(b.ioView(y), shape)}, std::vector<double>{2.0});
    b.dies(live);
    b.endProgram();
    Table t = b.finish();
    ASSERT_EQ(plim_table_check(t.get(), t.size()), PLIM_OK);
    EXPECT_EQ(checkTable(t.get()).empty(), before);
  }
}

TEST(CheckTable, ATransferInFlightKeepsItsBytes) {
  for (bool waits : {false, true}) {
    TableBuilder b;
    uint32_t arena = b.arena(PLIM_TRANSIENT, 4096), shape = b.shape({16});
    b.beginVariant("v");
    b.beginProgram("p");
    uint32_t x = b.input("x", shape), y = b.output("y", shape), token = b.token();
    Live live = b.born(arena, 0, 64);
    b.copy(b.ioView(x), live.view, 64, token);
    if (waits)
      b.wait({token});
    b.launch("test.scale", {b.read(live, shape), b.write(b.ioView(y), shape)}, std::vector<double>{2.0});
    if (!waits)
      b.wait({token});
    b.dies(live);
    b.endProgram();
    Table t = b.finish();
    t.record<plim_t_step>(PLIM_SEC_STEPS, 1).queue = PLIM_QUEUE_READ;
    EXPECT_THAT(checkTable(t.get()), waits ? testing::Matcher<std::vector<std::string>>(IsEmpty())
                                           : Contains(HasSubstr("operand 0: need a wait for token 0")));
  }
}

TEST(CheckTable, ConstantsAreReadOnlyAndStatesChangeLate) {
  TableBuilder b;
  b.weightsBytes = 4096;
  uint32_t weights = b.arena(PLIM_PERSISTENT, 64), session = b.arena(PLIM_PERSISTENT, 64), shape = b.shape({16});
  uint32_t w = b.constant("w", shape, 0, 64), s = b.state("s", shape, 64);
  b.beginVariant("v");
  b.beginProgram("p");
  uint32_t y = b.output("y", shape);
  uint32_t atW = b.resident(false, w, weights, 0, 64), atS = b.resident(true, s, session, 0, 64);
  b.launch("test.scale", {b.read(atW, shape), b.write(b.ioView(y), shape)}, std::vector<double>{2.0});
  b.commit();
  b.launch("test.scale", {b.read(atW, shape), b.write(atS, shape)}, std::vector<double>{2.0});
  b.endProgram();
  Table sound = b.finish();
  EXPECT_THAT(checkTable(sound.get()), IsEmpty());
  Table early = sound;
  program(early).first_commit_step = 2;
  EXPECT_THAT(checkTable(early.get()), Contains(HasSubstr("writes a state before step 2")));
  Table constant = sound;
  constant.record<plim_t_operand>(PLIM_SEC_OPERANDS, 3).view = atW;
  EXPECT_THAT(checkTable(constant.get()), Contains(HasSubstr("operand 1 writes a constant")));
  Table beyond = sound;
  view(beyond, atW).offset = 32;
  EXPECT_THAT(checkTable(beyond.get()), Contains(HasSubstr("touched")));
}

// Random chains of launches over buffers at first-fit offsets; then every byte of placement is moved.
TEST(CheckTable, RejectsEveryMovedOrShortenedBufferOfRandomPrograms) {
  std::mt19937_64 random(5);
  int tried = 0;
  for (int round = 0; round < 60; ++round) {
    TableBuilder b;
    uint32_t arena = b.arena(PLIM_TRANSIENT, 1 << 16), shape = b.shape({16});
    b.beginVariant("v");
    b.beginProgram("p");
    uint32_t x = b.ioView(b.input("x", shape)), y = b.ioView(b.output("y", shape));
    std::vector<Live> alive;
    std::vector<uint64_t> offsets;
    struct Pair {
      uint32_t one, other;
      uint64_t at;
    };
    std::vector<Pair> together;
    for (int k = 0; k < 12; ++k) {
      uint64_t at = 0;
      while (std::count(offsets.begin(), offsets.end(), at))
        at += 64;
      Live live = b.born(arena, at, 64);
      for (size_t i = 0; i < alive.size(); ++i)
        together.push_back({live.view, alive[i].view, offsets[i]});
      auto from = alive.empty() ? b.read(x, shape) : b.read(alive[random() % alive.size()], shape);
      b.launch("test.scale", {from, b.write(live, shape)}, std::vector<double>{2.0});
      alive.push_back(live), offsets.push_back(at);
      if (alive.size() > 3 || random() % 3 == 0) {
        size_t dies = random() % alive.size();
        b.dies(alive[dies]);
        alive.erase(alive.begin() + int64_t(dies)), offsets.erase(offsets.begin() + int64_t(dies));
      }
    }
    b.launch("test.scale", {alive.empty() ? b.read(x, shape) : b.read(alive[0], shape), b.write(y, shape)},
             std::vector<double>{2.0});
    for (Live live : alive)
      b.dies(live);
    b.endProgram();
    Table sound = b.finish();
    ASSERT_EQ(plim_table_check(sound.get(), sound.size()), PLIM_OK);
    ASSERT_THAT(checkTable(sound.get()), IsEmpty());
    auto mutate = [&](const std::function<void(Table &)> &change) {
      Table t = sound;
      change(t);
      plim_table_seal(t.get()); // so that only the replay can see it
      EXPECT_FALSE(checkTable(t.get()).empty()) << "round " << round << " mutation " << tried;
      ++tried;
    };
    for (const Pair &pair : together) {
      mutate([&](Table &t) { view(t, pair.one).offset = pair.at; });
      mutate([&](Table &t) { view(t, pair.one).offset = pair.at + 32; });
    }
    for (uint32_t k = 0; k < program(sound).steps; ++k)
      if (sound.record<plim_t_step>(PLIM_SEC_STEPS, k).opcode == PLIM_OP_LAUNCH) {
        const auto &l =
            sound.record<plim_t_launch>(PLIM_SEC_LAUNCHES, sound.record<plim_t_step>(PLIM_SEC_STEPS, k).record);
        const auto &out = sound.record<plim_t_operand>(PLIM_SEC_OPERANDS, l.first_operand + 1);
        if (out.buffer != PLIM_NONE)
          mutate([&](Table &t) { view(t, out.view).bytes = 60; });
      }
  }
  EXPECT_GT(tried, 1000);
}

TEST(CheckTable, NeverRunsWildOnTablesThatTheRuntimeAccepts) {
  std::mt19937_64 random(13);
  int accepted = 0, rejected = 0;
  for (int round = 0; round < 20000; ++round) {
    Table t = Chain().b.finish();
    for (int k = 0; k < 1 + round % 3; ++k) {
      const size_t at = sizeof(plim_table) + random() % (t.size() - sizeof(plim_table) - 8);
      t.bytes()[at] = random() % 2 ? uint8_t(random() % 8) : uint8_t(random());
    }
    t.rehash();
    if (plim_table_check(t.get(), t.size()) != PLIM_OK)
      continue;
    ++(checkTable(t.get()).empty() ? accepted : rejected);
  }
  EXPECT_GT(accepted, 10);
  EXPECT_GT(rejected, 10);
}

} // namespace
} // namespace plim::check
