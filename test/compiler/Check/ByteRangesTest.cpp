//===- ByteRangesTest.cpp - Sets of strided byte ranges against plain sets ----------------------===//
#include "compiler/Check/ByteRanges.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <random>
#include <set>

namespace plim::check {
namespace {

TEST(ByteSet, EqualsAPlainSetUnderRandomOperations) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 300; ++round) {
    ByteSet set;
    std::set<uint64_t> plain;
    for (int k = 0; k < 40; ++k) {
      Strip s{random() % 64, 1 + random() % 4, 0, 1};
      if (random() % 2)
        s.stride = 4 + random() % 3, s.count = 2 + random() % 6;
      const uint64_t origin = random() % 2 ? 0 : s.offset;
      std::set<uint64_t> bytes;
      for (uint64_t i = 0; i < s.count; ++i)
        for (uint64_t j = 0; j < s.run; ++j)
          bytes.insert(s.offset + i * s.stride + j);
      const bool inside = std::includes(plain.begin(), plain.end(), bytes.begin(), bytes.end());
      EXPECT_EQ(set.covers(s, origin), inside);
      switch (random() % 4) {
      case 0: {
        const uint64_t low = random() % 80, high = low + random() % 8;
        set.remove(low, high);
        plain.erase(plain.lower_bound(low), plain.lower_bound(high));
        break;
      }
      case 1:
        set.add(s.offset, s.end());
        for (uint64_t byte = s.offset; byte < s.end(); ++byte)
          plain.insert(byte);
        EXPECT_TRUE(set.covers(s, origin));
        break;
      default:
        set.add(s, origin);
        plain.insert(bytes.begin(), bytes.end());
        EXPECT_TRUE(set.covers(s, origin));
      }
      Strip t{random() % 64, 1 + random() % 4, 5, 1 + random() % 5},
          u{random() % 64, 1 + random() % 4, 5, 1 + random() % 5};
      bool common = false;
      for (uint64_t i = 0; i < t.count; ++i)
        for (uint64_t j = 0; j < u.count; ++j)
          common |= t.offset + i * 5 < u.offset + j * 5 + u.run && u.offset + j * 5 < t.offset + i * 5 + t.run;
      EXPECT_LE(common, meet(t, u)); // meet may be cautious, never careless
    }
  }
}

} // namespace
} // namespace plim::check
