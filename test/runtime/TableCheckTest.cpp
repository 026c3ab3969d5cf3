// The check of step tables: damaged and mutated tables are refused, and what is accepted never runs wild.
#include "test/runtime/Running.h"
#include "test/runtime/WholePlan.h"

#include <cstring>
#include <random>

using namespace plim::test;

namespace {

TEST(TableCheck, AcceptsASoundTable) {
  TableBuilder b = wholePlan();
  Table table = b.finish();
  EXPECT_EQ(plim_table_check(table.get(), table.size()), PLIM_OK) << lastError();
  Model model(std::move(table), b.kernels());
  Running r(model.model, 1, nullptr, "forward", "small");
  EXPECT_EQ(r.status, PLIM_OK) << lastError();
}

TEST(TableCheck, RefusesWrongMagicVersionLengthAlignmentAndHash) {
  TableBuilder b = wholePlan();
  const Table sound = b.finish();
  auto refused = [&](auto change, const char *message) {
    Table t(sound);
    change(t);
    EXPECT_EQ(plim_table_check(t.get(), sound.size()), PLIM_ERR_TABLE);
    EXPECT_STREQ(plim_last_error()->message, message);
  };
  refused([](Table &t) { t.get()->magic[0] = 'X'; }, "this is not a step table");
  refused([](Table &t) { t.get()->version = 2; }, "the table is of version 2, this runtime reads version 1");
  refused([](Table &t) { t.get()->bytes -= 8; }, "the table is cut short or too long");
  refused([](Table &t) { t.bytes()[t.size() - 1] ^= 1; }, "the table's hash differs: it was changed after it was made");
  refused(
      [](Table &t) {
        t.get()->kernel_abi = 9;
        t.rehash();
      },
      "the table was made for kernel interface 9, this runtime has 1");
  Table t(sound);
  EXPECT_EQ(plim_table_check(t.bytes() + 8, t.size() - 8), PLIM_ERR_ARG);
  EXPECT_EQ(plim_table_check(t.bytes(), 16), PLIM_ERR_TABLE);
}

TEST(TableCheck, RefusesEachBrokenInvariant) {
  TableBuilder b = wholePlan();
  const Table sound = b.finish();
  auto refused = [&](auto change, const char *message) {
    Table t(sound);
    change(t);
    t.rehash();
    EXPECT_EQ(plim_table_check(t.get(), t.size()), PLIM_ERR_TABLE) << message;
    EXPECT_STREQ(plim_last_error()->message, message);
  };
  auto step = [](Table &t, uint8_t opcode) -> plim_t_step & {
    for (uint32_t i = 0;; ++i)
      if (auto &s = t.record<plim_t_step>(PLIM_SEC_STEPS, i); s.opcode == opcode)
        return s;
  };
  refused([](Table &t) { t.record<plim_t_view>(PLIM_SEC_VIEWS, 1).bytes = 1 << 20; },
          "ends beyond what it is a view of");
  refused([](Table &t) { t.record<plim_t_view>(PLIM_SEC_VIEWS, 1).offset = UINT64_MAX; },
          "ends beyond what it is a view of");
  refused([](Table &t) { t.record<plim_t_shape>(PLIM_SEC_SHAPES, 0).dims[0] = 1 << 20; }, "its shape needs more bytes");
  refused([](Table &t) { t.record<plim_t_shape>(PLIM_SEC_SHAPES, 0).dtype = 99; },
          "type, layout, rank, dimension or stride out of range");
  refused([](Table &t) { t.record<plim_t_operand>(PLIM_SEC_OPERANDS, 0).access = PLIM_ACCESS_WRITE; },
          "writes a constant or an input");
  refused([](Table &t) { t.record<plim_t_operand>(PLIM_SEC_OPERANDS, 1).buffer = PLIM_NONE; },
          "no live range for transient memory");
  refused([](Table &t) { t.record<plim_t_operand>(PLIM_SEC_OPERANDS, 1).buffer = 1; },
          "its view is not inside its live range");
  refused([](Table &t) { t.record<plim_t_launch>(PLIM_SEC_LAUNCHES, 3).scratch_bytes += 64; },
          "workspace is not shared + min(workers, tasks) * scratch");
  refused([](Table &t) { t.record<plim_t_launch>(PLIM_SEC_LAUNCHES, 0).workspace = 3; },
          "a workspace is a fixed, 64-byte aligned range of transient memory");
  refused([&](Table &t) { step(t, PLIM_OP_LAUNCH).record = 1000; }, "no such record");
  refused([&](Table &t) { step(t, PLIM_OP_LAUNCH).opcode = 12; }, "unknown opcode or queue");
  refused([&](Table &t) { step(t, PLIM_OP_WAIT).opcode = PLIM_OP_RETURN; }, "return is not the last step");
  refused([&](Table &t) { step(t, PLIM_OP_RETURN).opcode = PLIM_OP_MARK; }, "the last step is not return");
  refused([](Table &t) { t.record<plim_t_branch>(PLIM_SEC_BRANCHES, 0).target = 0; },
          "the branch leaves its region or goes back");
  refused([](Table &t) { t.record<plim_t_branch>(PLIM_SEC_BRANCHES, 0).target += 100; },
          "the branch leaves its region or goes back");
  refused([](Table &t) { t.record<plim_t_branch>(PLIM_SEC_BRANCHES, 1).target += 3; },
          "the else region leaves the region around it");
  refused([](Table &t) { --t.record<plim_t_loop>(PLIM_SEC_LOOPS, 0).body; }, "the loop's body does not follow it");
  refused([](Table &t) { --t.record<plim_t_loop>(PLIM_SEC_LOOPS, 0).end; }, "the loop's last step is not its next");
  refused([](Table &t) { t.record<plim_t_mark>(PLIM_SEC_MARKS, 2).is_death = 1; },
          "a buffer dies that was not born in this region");
  refused([](Table &t) { t.record<plim_t_mark>(PLIM_SEC_MARKS, 3).buffer = 0; },
          "a buffer dies that was not born in this region");
  refused([](Table &t) { t.record<uint32_t>(PLIM_SEC_INDICES, 2) = 3000; }, "no such token");
  refused([](Table &t) { t.record<plim_t_wait>(PLIM_SEC_WAITS, 0).tokens = 0; }, "a token is never waited on");
  refused([](Table &t) { t.record<plim_t_program>(PLIM_SEC_PROGRAMS, 0).max_operands = 1; },
          "more operands than the program's max_operands");
  refused([](Table &t) { t.record<plim_t_program>(PLIM_SEC_PROGRAMS, 0).dynamic_shapes = 1; },
          "more dynamic shapes than the program's dynamic_shapes");
  refused([](Table &t) { t.record<plim_t_arena>(PLIM_SEC_ARENAS, 0).touched -= 1; },
          "a step touches bytes beyond what its arena says");
  refused([](Table &t) { t.record<plim_t_arena>(PLIM_SEC_ARENAS, 0).bytes = UINT64_MAX - 63; },
          "size is not a multiple of its alignment, or beyond reason");
  refused([](Table &t) { t.get()->sections[PLIM_SEC_STEPS].count = UINT64_MAX / 16; },
          "more records than the table has room for");
  refused([](Table &t) { t.get()->sections[PLIM_SEC_STEPS].offset = 8; }, "offset out of place");
  refused([](Table &t) { t.get()->workers = 0; }, "number of workers");
  refused([](Table &t) { t.record<plim_t_variant>(PLIM_SEC_VARIANTS, 0).programs = 1; },
          "no name, or programs that do not follow those of the variant before");
}

TEST(TableCheck, RandomBytesAreRefused) {
  std::mt19937_64 random(1); // NOLINT(bugprone-random-generator-seed): the same tables every time
  for (int i = 0; i < 2000; ++i) {
    Table t(sizeof(plim_table) + random() % 4096);
    for (uint64_t k = 0; k < t.size(); ++k)
      t.bytes()[k] = static_cast<uint8_t>(random());
    if (i % 2) { // so that more than the first fields is looked at
      memcpy(t.get()->magic, PLIM_TABLE_MAGIC, 8);
      t.get()->version = PLIM_TABLE_VERSION;
      t.get()->header_bytes = sizeof(plim_table);
      t.get()->bytes = t.size();
      t.get()->kernel_abi = PLIM_KERNEL_ABI;
      t.get()->workers = 1;
      t.get()->isa_min = 0;
      t.get()->stack_bytes = 0;
      t.rehash();
    }
    EXPECT_EQ(plim_table_check(t.get(), t.size()), PLIM_ERR_TABLE);
  }
}

TEST(TableCheck, TenThousandMutatedTablesAreRefusedOrRunWithinBounds) {
  TableBuilder b = wholePlan();
  const Table sound = b.finish();
  std::mt19937_64 random(2); // NOLINT(bugprone-random-generator-seed): the same tables every time
  int accepted = 0;
  for (int i = 0; i < 10000; ++i) {
    Table t(sound);
    for (uint64_t changes = 1 + random() % 3; changes--;) {
      uint64_t at = 40 + random() % (t.size() - 48);
      switch (random() % 4) {
      case 0:
        t.bytes()[at] ^= static_cast<uint8_t>(1u << random() % 8);
        break;
      case 1:
        t.bytes()[at] = static_cast<uint8_t>(random());
        break;
      case 2: {
        int32_t word, by = static_cast<int32_t>(random() % 9) - 4;
        memcpy(&word, t.bytes() + at / 4 * 4, 4);
        word = static_cast<int32_t>(static_cast<uint32_t>(word) + static_cast<uint32_t>(by));
        memcpy(t.bytes() + at / 4 * 4, &word, 4);
        break;
      }
      default: {
        uint64_t extreme[] = {0, UINT64_MAX, INT64_MAX, uint64_t(1) << 63, PLIM_NONE, 64};
        memcpy(t.bytes() + at / 8 * 8, &extreme[random() % 6], 8);
      }
      }
    }
    // Half keep their recorded peaks; the other half get peaks that fit, so that arithmetic alone does not refuse them.
    t.rehash();
    plim_status st = plim_table_check(t.get(), t.size());
    if (st && plim_last_error()->message == std::string("its reserved peak is not what the runtime reserves")) {
      plim_table_seal(t.get());
      st = plim_table_check(t.get(), t.size());
    }
    if (st)
      continue;
    ++accepted;
    EXPECT_TRUE(staysWithinBounds(std::move(t)));
  }
  EXPECT_GT(accepted, 100) << "the walk must be exercised";
}

} // namespace
