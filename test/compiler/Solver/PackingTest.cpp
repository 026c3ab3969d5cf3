//===- PackingTest.cpp - Packings are valid; the exact search agrees with enumeration -----------===//
#include "compiler/Solver/Packing/Packing.h"
#include "compiler/Solver/Packing/ExactPacking.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>

namespace plim::solver {
namespace {

bool meet(const Item &a, const Item &b) {
  auto empty = [](const Item &i) { return i.size == 0 || i.lower >= i.upper; };
  return !empty(a) && !empty(b) && a.lower < b.upper && b.lower < a.upper && a.offset < b.offset + b.size &&
         b.offset < a.offset + a.size;
}

bool isPacking(const std::vector<Item> &items, int64_t height) {
  std::vector<size_t> byStart(items.size());
  std::iota(byStart.begin(), byStart.end(), 0);
  std::sort(byStart.begin(), byStart.end(), [&](size_t a, size_t b) { return items[a].lower < items[b].lower; });
  for (size_t i = 0; i < byStart.size(); ++i) {
    const Item &a = items[byStart[i]];
    if (a.offset < 0 || a.offset + a.size > height || a.offset % a.align != 0)
      return false;
    for (size_t j = i + 1; j < byStart.size() && items[byStart[j]].lower < a.upper; ++j)
      if (meet(a, items[byStart[j]]))
        return false;
  }
  return true;
}

bool fitsByEnumeration(std::vector<Item> &items, size_t k, int64_t capacity) {
  if (k == items.size())
    return true;
  Item &item = items[k];
  for (item.offset = 0; item.offset + item.size <= capacity; ++item.offset)
    if (std::none_of(items.begin(), items.begin() + int64_t(k), [&](const Item &other) { return meet(item, other); }) &&
        fitsByEnumeration(items, k + 1, capacity))
      return true;
  return false;
}

// Random intervals; where `full`, short ones fill each instant up to maxLive, so that often there is no packing.
std::vector<Item> randomItems(std::mt19937_64 &random, bool full) {
  const int span = 4 + int(random() % 4), count = 4 + int(random() % 6);
  std::vector<Item> items(count);
  for (Item &i : items) {
    i.lower = int64_t(random() % span), i.upper = i.lower + 1 + int64_t(random() % (full ? 4 : span));
    i.size = 1 + int64_t(random() % 3);
  }
  const int64_t capacity = maxLive(items);
  for (int t = 0; full && t < 2 * span; ++t) {
    int64_t live = 0;
    for (int k = 0; k < count; ++k)
      live += items[k].lower <= t && t < items[k].upper ? items[k].size : 0;
    if (live > 0 && live < capacity)
      items.push_back({t, t + 1, capacity - live});
  }
  std::sort(items.begin(), items.end(), [](const Item &a, const Item &b) { return a.lower < b.lower; });
  return items;
}

TEST(ExactPacking, VerdictEqualsEnumerationInEveryOrderAndOverRestarts) {
  std::mt19937_64 random(7);
  int without = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<Item> items = randomItems(random, round % 2), plain = items;
    const int64_t capacity = maxLive(items);
    const bool fits = fitsByEnumeration(plain, 0, capacity);
    without += !fits;
    for (int order = -1; order < 16; ++order) {
      ExactOptions options;
      options.capacity = capacity, options.order = order, options.seed = uint64_t(round);
      options.firstNodes = order < 0 ? 3 : 100000;
      Verdict verdict = packExactly(items, options);
      ASSERT_EQ(verdict, fits ? Verdict::Packed : Verdict::Infeasible) << "round " << round << " order " << order;
      if (fits)
        ASSERT_TRUE(isPacking(items, capacity));
    }
    PackReport report = pack(items);
    ASSERT_TRUE(isPacking(items, report.height));
    ASSERT_EQ(report.maxLive, capacity);
    if (fits)
      ASSERT_EQ(report.height, capacity) << "round " << round;
  }
  EXPECT_GT(without, 5);
}

TEST(ExactPacking, ScalesToTheAlignment) {
  std::vector<Item> items{{0, 2, 128, 64}, {1, 3, 64, 64}, {2, 4, 192, 64}};
  ExactOptions options;
  options.capacity = 256 + 63;
  ASSERT_EQ(packExactly(items, options), Verdict::Packed);
  EXPECT_TRUE(isPacking(items, 256));
  options.capacity = 255;
  EXPECT_EQ(packExactly(items, options), Verdict::Infeasible);
}

TEST(Packing, IsValidForMixedAlignmentsAndEmptyItems) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 200; ++round) {
    std::vector<Item> items(1 + random() % 60);
    for (Item &i : items) {
      i.lower = int64_t(random() % 30), i.upper = i.lower + int64_t(random() % 10);
      i.align = random() % 4 == 0 ? 4096 : 64;
      i.size = int64_t(random() % 9) * 1000;
    }
    PackReport report = pack(items);
    ASSERT_TRUE(isPacking(items, report.height)) << "round " << round;
    ASSERT_GE(report.height, report.maxLive);
  }
}

// A packing of full height cut into pieces at random: maxLive is reached by construction, and greedy alone seldom finds
// it.
std::vector<Item> cutPlane(uint64_t seed, int64_t length, int64_t height, int cuts) {
  std::mt19937_64 random(seed);
  struct Box {
    int64_t t0, t1, y0, y1;
  };
  std::vector<Box> boxes{{0, length, 0, height}};
  for (int k = 0; k < cuts; ++k) {
    Box &b = boxes[random() % boxes.size()], other = b;
    if (random() % 2 && b.t1 - b.t0 > 1) {
      b.t1 = other.t0 = b.t0 + 1 + int64_t(random() % uint64_t(b.t1 - b.t0 - 1));
    } else if (b.y1 - b.y0 > 1) {
      b.y1 = other.y0 = b.y0 + 1 + int64_t(random() % uint64_t(b.y1 - b.y0 - 1));
    } else {
      continue;
    }
    boxes.push_back(other);
  }
  std::vector<Item> items;
  for (const Box &b : boxes)
    items.push_back({b.t0, b.t1, b.y1 - b.y0});
  std::shuffle(items.begin(), items.end(), random);
  return items;
}

TEST(Packing, ReachesTheBoundOfCutPlanes) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    std::vector<Item> items = cutPlane(seed, 400, 1 << 20, 120);
    ExactOptions options;
    options.capacity = maxLive(items);
    ASSERT_EQ(options.capacity, 1 << 20);
    ASSERT_EQ(packExactly(items, options), Verdict::Packed) << "seed " << seed;
    ASSERT_TRUE(isPacking(items, options.capacity));
  }
}

TEST(Packing, StaysNearTheBoundOfLargeCutPlanes) {
  std::vector<Item> items = cutPlane(3, 100000, int64_t(1) << 32, 4000);
  PackReport report = pack(items);
  EXPECT_TRUE(isPacking(items, report.height));
  EXPECT_LE(double(report.height), 1.3 * double(report.maxLive));
}

TEST(Packing, IsDeterministic) {
  std::vector<Item> items = cutPlane(5, 300, 5000, 150), again = items;
  pack(items), pack(again);
  for (size_t i = 0; i < items.size(); ++i)
    EXPECT_EQ(items[i].offset, again[i].offset);
}

std::string slurp(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(Packing, PacksTheInstancesOfMiniMallocAtTheirCapacity) {
  const char *folder = std::getenv("PLIM_BENCH_INSTANCES");
  if (!folder)
    GTEST_SKIP() << "PLIM_BENCH_INSTANCES is not set";
  for (char name = 'A'; name <= 'K'; ++name) {
    std::vector<std::string> errors;
    auto instance = parseCsv(slurp(std::filesystem::path(folder) / (std::string(1, name) + ".1048576.csv")), errors);
    ASSERT_TRUE(instance) << testing::PrintToString(errors);
    PackOptions options;
    options.capacity = 1048576;
    options.exactNodes = 400000;
    PackReport report = pack(instance->items, options);
    EXPECT_LE(report.height, 1048576) << name;
    EXPECT_TRUE(isPacking(instance->items, report.height)) << name;
  }
}

TEST(Packing, PacksAnInstanceBelowItsUsualCapacity) {
  const char *folder = std::getenv("PLIM_BENCH_INSTANCES");
  if (!folder)
    GTEST_SKIP() << "PLIM_BENCH_INSTANCES is not set";
  std::vector<std::string> errors;
  auto instance = parseCsv(slurp(std::filesystem::path(folder) / "D.1048576.csv"), errors);
  ASSERT_TRUE(instance) << testing::PrintToString(errors);
  PackOptions options;
  options.capacity = 995328;
  options.exactNodes = 400000;
  EXPECT_LE(pack(instance->items, options).height, 995328);
  EXPECT_TRUE(isPacking(instance->items, 995328));
}

TEST(Packing, PacksTracesOfIdeallocNearTheirBound) {
  const char *folder = std::getenv("PLIM_BENCH_INSTANCES");
  if (!folder)
    GTEST_SKIP() << "PLIM_BENCH_INSTANCES is not set";
  for (const char *name : {"G_1", "resnet50", "pangu_2.6B"}) {
    std::vector<std::string> errors;
    auto instance = parseCsv(slurp(std::filesystem::path(folder) / (std::string(name) + ".csv")), errors);
    ASSERT_TRUE(instance) << testing::PrintToString(errors);
    PackReport report = pack(instance->items);
    EXPECT_LE(double(report.height), 1.001 * double(report.maxLive)) << name;
    EXPECT_TRUE(isPacking(instance->items, report.height)) << name;
  }
}

TEST(PackingCsv, RoundTripsAndReportsAllErrors) {
  std::vector<std::string> errors;
  auto instance = parseCsv("id,lower,upper,size\nb0,0,3,10\nb1,1,2,20\n", errors);
  ASSERT_TRUE(instance);
  pack(instance->items);
  auto again = parseCsv(printCsv(*instance), errors);
  ASSERT_TRUE(again);
  EXPECT_EQ(printCsv(*again), printCsv(*instance));
  EXPECT_FALSE(parseCsv("id,lower,upper,size\nb0,0,3\nb1,5,2,20\nb2,0,1,-1\nb3,0,1,99999999999999999999\n", errors));
  ASSERT_EQ(errors.size(), 4u);
  EXPECT_THAT(errors[0], testing::StartsWith("line 2: need id,lower,upper,size as whole numbers"));
  EXPECT_THAT(errors[3], testing::StartsWith("line 5: "));
  errors.clear();
  EXPECT_FALSE(parseCsv("", errors));
  EXPECT_THAT(errors, testing::ElementsAre("line 1: need the header 'id,lower,upper,size'"));
}

} // namespace
} // namespace plim::solver
