// Programs whose buffers go to the ssd and whose constants are streamed, by each way of I/O.
#include "test/runtime/SsdPlan.h"

using namespace plim::test;

namespace {

const uint32_t allWays[] = {PLIM_IO_ANY, PLIM_IO_REGISTERED, PLIM_IO_URING, PLIM_IO_THREADS};

plim_context_options by(uint32_t way) {
  plim_context_options o = {};
  o.io_way = way;
  return o;
}

TEST(Spill, ResultsAreTheSameByEveryWayAndDepthAndFiguresEqualThePlan) {
  for (uint32_t way : allWays)
    for (uint32_t depth : {0u, 1u, 3u, 32u, 1000u})
      for (int64_t n : {1, 1024, 3000, 700000}) {
        SsdPlan plan;
        plan.depth = depth;
        plan.n = n;
        SsdRun r(plan, by(way));
        PLIM_OK_OR_FAIL(r.running->status);
        for (uint32_t flags :
             {0u, 0u, uint32_t(PLIM_RUN_POISON), uint32_t(PLIM_RUN_POISON), uint32_t(PLIM_RUN_RED_ZONES)}) {
          PLIM_OK_OR_FAIL(r.run(flags)) << way << " " << depth << " " << n;
          EXPECT_TRUE(r.right()) << way << " " << depth << " " << n;
        }
        plim_usage u = r.usage();
        for (plim_tier tier : {PLIM_RAM, PLIM_SSD}) {
          EXPECT_EQ(u.reserved[tier], u.planned[tier]);
          EXPECT_EQ(u.live[tier], u.live_planned[tier]);
          EXPECT_EQ(u.touched[tier], u.touched_planned[tier]);
        }
        EXPECT_EQ(u.reserved[PLIM_SSD], plan.spill());
        EXPECT_GE(u.io_way, way) << "a way falls to the next one only";
        EXPECT_EQ(u.transfers, plan.transfers());
        EXPECT_EQ(u.bytes_read, (plan.rounds + 1) * plan.bytes());
        EXPECT_EQ(u.bytes_written, plan.rounds * plan.bytes());
      }
}

TEST(Spill, NothingIsLeftInTheFolder) {
  SsdPlan plan;
  plan.stream = false;
  Folder folder;
  plim_context_options o = {};
  o.spill_folder = folder.path.c_str();
  {
    SsdRun r(plan, o);
    PLIM_OK_OR_FAIL(r.running->status);
    PLIM_OK_OR_FAIL(r.run());
    EXPECT_EQ(folder.entries(), 0u) << "the file has no name";
  }
  EXPECT_EQ(folder.entries(), 0u);
}

} // namespace
