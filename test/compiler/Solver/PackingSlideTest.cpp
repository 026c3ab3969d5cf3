//===- PackingSlideTest.cpp - Sliding plans fit, and no slide loses a byte ----------------------===//
#include "compiler/Solver/Packing/Slide.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace plim::solver {
namespace {

constexpr int kFree = -1;

// Runs a plan on real cells, one a byte, each holding the number of the item that wrote it. Returns what went wrong.
std::string replay(const std::vector<Item> &items, int64_t capacity, const std::vector<Pin> &pins,
                   const SlidePlan &plan) {
  std::vector<int> memory(size_t(capacity), kFree);
  std::vector<int64_t> at(items.size(), -1);
  std::set<int64_t> instants;
  for (const Item &i : items)
    instants.insert({i.lower, i.upper});
  for (const Slide &s : plan.slides)
    instants.insert(s.instant);
  auto real = [&](size_t i) { return items[i].size > 0 && items[i].lower < items[i].upper; };
  size_t next = 0;
  int64_t moved = 0, height = 0;
  for (int64_t now : instants) {
    for (size_t i = 0; i < items.size(); ++i)
      if (real(i) && items[i].upper == now) {
        std::fill_n(memory.begin() + at[i], items[i].size, kFree);
        at[i] = -1;
      }
    for (; next < plan.slides.size() && plan.slides[next].instant <= now; ++next) {
      const Slide &s = plan.slides[next];
      if (s.instant != now || at[s.item] != s.from || items[s.item].lower == now)
        return "a slide of item " + std::to_string(s.item) + " that does not lie there";
      for (const Pin &p : pins)
        if (p.item == s.item && p.from < now && now < p.to)
          return "a pinned item slides";
      const int64_t size = items[s.item].size;
      if (s.to < 0 || s.to + size > capacity || s.to % items[s.item].align != 0)
        return "a slide to a bad offset";
      for (int64_t k = s.to; k < s.to + size; ++k)
        if (memory[k] != kFree && memory[k] != s.item)
          return "a slide over item " + std::to_string(memory[k]) + " at " + std::to_string(now);
      std::fill_n(memory.begin() + s.from, size, kFree);
      std::fill_n(memory.begin() + s.to, size, s.item);
      at[s.item] = s.to, moved += size;
    }
    for (size_t i = 0; i < items.size(); ++i)
      if (real(i) && items[i].lower == now) {
        if (plan.segments[i].empty() || plan.segments[i].front().from != now)
          return "no first segment of item " + std::to_string(i);
        at[i] = plan.segments[i].front().offset;
        if (at[i] < 0 || at[i] + items[i].size > capacity || at[i] % items[i].align != 0)
          return "a bad offset of item " + std::to_string(i);
        for (int64_t k = at[i]; k < at[i] + items[i].size; ++k)
          if (std::exchange(memory[k], int(i)) != kFree)
            return "item " + std::to_string(i) + " starts over another";
      }
    for (size_t i = 0; i < items.size(); ++i) {
      if (at[i] < 0)
        continue;
      int64_t said = -1;
      for (const Segment &s : plan.segments[i])
        if (s.from <= now)
          said = s.offset;
      if (said != at[i])
        return "segments and slides of item " + std::to_string(i) + " differ";
      height = std::max(height, at[i] + items[i].size);
    }
  }
  if (next != plan.slides.size() || moved != plan.movedBytes || height != plan.height)
    return "the totals are wrong";
  return "";
}

int64_t roundedLive(std::vector<Item> items) {
  for (Item &i : items)
    i.size = (i.size + i.align - 1) / i.align * i.align;
  return maxLive(items);
}

std::vector<Item> randomItems(std::mt19937_64 &random, bool mixed) {
  std::vector<Item> items(2 + random() % 60);
  const int span = 3 + int(random() % 40), longest = 1 + int(random() % span), largest = 1 + int(random() % 40);
  for (Item &i : items) {
    i.lower = int64_t(random() % uint64_t(span)), i.upper = i.lower + int64_t(random() % uint64_t(longest + 1));
    i.size = int64_t(random() % uint64_t(largest + 1));
    i.align = mixed && random() % 3 == 0 ? 8 : 2;
  }
  return items;
}

TEST(PackingSlide, FitsWheneverWhatIsAliveFits) {
  std::mt19937_64 random(3);
  int slid = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<Item> items = randomItems(random, round % 2);
    const int64_t capacity = roundedLive(items);
    PackOptions options;
    options.exactNodes = 0, options.passes = 1 + round % 3;
    SlidePlan plan = packSliding(items, capacity, {}, options);
    ASSERT_TRUE(plan.fits) << "round " << round;
    ASSERT_EQ(replay(items, capacity, {}, plan), "") << "round " << round;
    ASSERT_EQ(plan.maxLive, maxLive(items));
    slid += !plan.slides.empty();
  }
  EXPECT_GT(slid, 300);
}

TEST(PackingSlide, DoesNotFitBelowWhatIsAlive) {
  std::vector<Item> items{{0, 3, 40}, {1, 4, 30}, {2, 3, 20}};
  SlidePlan plan = packSliding(items, 89);
  EXPECT_FALSE(plan.fits);
  EXPECT_EQ(plan.stuck, 2);
  EXPECT_EQ(plan.instant, 2);
  EXPECT_EQ(plan.hole, 19);
  EXPECT_EQ(plan.maxLive, 90);
}

TEST(PackingSlide, DoesNotSlideWhereAPackingFits) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<Item> items = randomItems(random, round % 2), packed = items;
    PackOptions options;
    options.capacity = roundedLive(items) + int64_t(random() % 8) * 2;
    SlidePlan plan = packSliding(items, options.capacity);
    ASSERT_EQ(pack(packed, options).height <= options.capacity, plan.slides.empty()) << "round " << round;
    ASSERT_EQ(replay(items, options.capacity, {}, plan), "");
  }
}

// No two holes of 10 meet: one of the items beside them must slide, and the one of 20 is the cheaper.
TEST(PackingSlide, SlidesTheCheapestNeighbour) {
  std::vector<Item> items{{0, 2, 10}, {0, 9, 20}, {0, 2, 10}, {0, 9, 60}, {2, 9, 20}};
  PackOptions options;
  options.exactNodes = 0;
  SlidePlan plan = packSliding(items, 100, {}, options);
  ASSERT_TRUE(plan.fits);
  ASSERT_EQ(replay(items, 100, {}, plan), "");
  EXPECT_LE(plan.movedBytes, 20);
}

TEST(PackingSlide, KeepsPinnedItemsWhereTheyAre) {
  std::mt19937_64 random(9);
  int fits = 0, stuck = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<Item> items = randomItems(random, round % 2);
    const int64_t capacity = roundedLive(items) + int64_t(random() % 3) * 2;
    std::vector<Pin> pins;
    for (size_t i = 0; i < items.size(); ++i)
      if (random() % 4 == 0) {
        const int64_t from = items[i].lower + int64_t(random() % 4);
        pins.push_back({int(i), from, from + int64_t(random() % 8)});
      }
    PackOptions options;
    options.exactNodes = 0, options.passes = 1;
    SlidePlan plan = packSliding(items, capacity, pins, options);
    if (plan.fits) {
      ASSERT_EQ(replay(items, capacity, pins, plan), "") << "round " << round;
      fits += !plan.slides.empty();
    } else {
      ASSERT_LT(plan.hole, items[plan.stuck].size);
      ++stuck;
    }
  }
  EXPECT_GT(fits, 200);
  EXPECT_LT(stuck, 100) << "of 2000";
}

TEST(PackingSlide, IsDeterministic) {
  std::mt19937_64 random(13);
  for (int round = 0; round < 50; ++round) {
    std::vector<Item> items = randomItems(random, true);
    const int64_t capacity = roundedLive(items);
    PackOptions options;
    options.exactNodes = 0, options.passes = 1;
    SlidePlan one = packSliding(items, capacity, {}, options), two = packSliding(items, capacity, {}, options);
    ASSERT_EQ(one.slides, two.slides);
    ASSERT_EQ(one.segments, two.segments);
  }
}

} // namespace
} // namespace plim::solver
