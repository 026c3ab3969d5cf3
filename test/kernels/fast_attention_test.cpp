//===- fast_attention_test.cpp - Fast attention against double precision --------------------===//

#include "fast_launch.h"

#include "kernels/attention/attention.h"

using namespace plim::test;

namespace {

struct Case {
  int64_t batch, heads, groups, queries, keys, depth, values;
  int64_t flags = 0, offset = 0, chunk = 0;
  enum Mask { Full, PerKey, PerQuery, Hiding, Bool, BoolPerQuery } mask = Full;
  bool headsInside = false; // [B, S, H, D] in memory
};

Tensor heads(int64_t b, int64_t h, int64_t s, int64_t d, bool inside) {
  return inside ? Tensor({b, h, s, d}, {s * h * d, d, h * d, 1}) : Tensor({b, h, s, d}, d % 3);
}

Tensor maskOf(const Case &c, std::mt19937 &random) {
  std::vector<int64_t> dims = {c.batch, c.heads, c.queries, c.keys};
  if (c.mask == Case::PerKey || c.mask == Case::Hiding) {
    Tensor mask(dims, {c.keys, 0, 0, 1});
    mask.fill(random);
    if (c.mask == Case::Hiding)
      for (int64_t i = 0; i < c.batch * c.keys; ++i)
        mask.data()[i] = i / c.keys == 1 || random() % 2 ? -INFINITY : 0.0f;
    return mask;
  }
  if (c.mask == Case::Bool || c.mask == Case::BoolPerQuery) {
    // Bytes, in the room of as many floats.
    Tensor mask(dims, c.mask == Case::Bool ? std::vector<int64_t>{c.queries * c.keys, 0, c.keys, 1}
                                           : std::vector<int64_t>{0, 0, 1, 0});
    mask.shape.dtype = PLIM_BOOL;
    for (size_t i = 0; i < mask.memory->bytes(); ++i)
      static_cast<uint8_t *>(mask.memory->data())[i] = random() % 3 != 0;
    return mask;
  }
  Tensor mask(dims, c.mask == Case::PerQuery ? std::vector<int64_t>{0, 0, 1, 0}
                                             : std::vector<int64_t>{c.heads * c.queries * c.keys * 2,
                                                                    c.queries * c.keys * 2, c.keys * 2, 2});
  mask.fill(random);
  return mask;
}

/// Bits of O.
std::vector<unsigned char> check(const char *kernel, const Case &c, unsigned seed) {
  SCOPED_TRACE(std::string(kernel) + ", seed " + std::to_string(seed));
  std::mt19937 random(seed);
  Tensor q = heads(c.batch, c.heads, c.queries, c.depth, c.headsInside);
  Tensor k = heads(c.batch, c.groups, c.keys, c.depth, c.headsInside);
  Tensor v = heads(c.batch, c.groups, c.keys, c.values, c.headsInside);
  Tensor o = heads(c.batch, c.heads, c.queries, c.values, c.headsInside);
  q.fill(random, -2, 2);
  k.fill(random, -2, 2);
  v.fill(random);
  double scale = 1 / std::sqrt(double(c.depth ? c.depth : 1));
  std::vector<Tensor> operands = {q, k, v};
  Tensor mask;
  if (c.flags & PLIM_ATTENTION_MASK)
    operands.push_back(mask = maskOf(c, random));
  operands.push_back(o);
  Launch launch(kernel, operands, {c.flags, plim_attr_from_double(scale), c.offset, c.chunk});
  launch.runAll();

  int64_t rows = c.batch * c.heads * c.queries, step = std::max<int64_t>(1, rows / 150);
  for (int64_t row = 0; row < rows; row += step) {
    int64_t s = row % c.queries, h = row / c.queries % c.heads, b = row / c.queries / c.heads;
    int64_t g = h / (c.heads / c.groups), seen = c.keys;
    if (c.flags & PLIM_ATTENTION_CAUSAL)
      seen = std::min(
          std::max<int64_t>(s + c.offset + 1 + (c.flags & PLIM_ATTENTION_FROM_END ? c.keys - c.queries : 0), 0),
          c.keys);
    std::vector<double> weight(seen);
    double largest = -INFINITY, sum = 0;
    for (int64_t t = 0; t < seen; ++t) {
      for (int64_t d = 0; d < c.depth; ++d)
        weight[t] += scale * double(q({b, h, s, d})) * k({b, g, t, d});
      if (c.flags & PLIM_ATTENTION_MASK && mask.shape.dtype == PLIM_BOOL)
        weight[t] = static_cast<uint8_t *>(mask.memory->data())[mask.offset(std::vector<int64_t>{b, h, s, t})]
                        ? weight[t]
                        : -INFINITY;
      else if (c.flags & PLIM_ATTENTION_MASK)
        weight[t] += mask({b, h, s, t});
      largest = std::max(largest, weight[t]);
    }
    for (double &w : weight)
      sum += w = largest == -INFINITY ? 0 : std::exp(w - largest);
    for (int64_t e = 0; e < c.values; ++e) {
      double want = 0;
      for (int64_t t = 0; t < seen; ++t)
        want += sum == 0 ? 0 : weight[t] / sum * v({b, g, t, e});
      expectNear(o({b, h, s, e}), want, 1, "row " + std::to_string(row) + ", value " + std::to_string(e));
      if (testing::Test::HasFailure())
        return {};
    }
  }
  const unsigned char *bytes = reinterpret_cast<unsigned char *>(o.data());
  return {bytes, bytes + o.memory->bytes()};
}

void checkAll(const Case &c, unsigned seed) {
  std::vector<unsigned char> naive = check("attention.naive", c, seed);
  EXPECT_TRUE(naive == check("attention.chunked", c, seed)) << "naive and chunked differ in bits, seed " << seed;
  check("attention.flash", c, seed);
  check("attention.decode", c, seed);
}

TEST(Attention, UsualHeadSizesAreRight) {
  for (int64_t depth : {32, 64, 128, 256})
    checkAll({1, 2, 2, 130, 150, depth, depth}, depth);
}

TEST(Attention, OddSizesAreRight) {
  std::mt19937 random(7);
  auto pick = [&](int64_t low, int64_t high) { return low + int64_t(random() % (high - low + 1)); };
  for (int i = 0; i < 25; ++i) {
    Case c{pick(1, 2), 0, pick(1, 3), pick(1, 100), pick(1, 140), pick(1, 80), pick(1, 70)};
    c.heads = c.groups * pick(1, 3);
    c.flags = pick(0, 3);
    c.offset = pick(-3, 20);
    c.chunk = pick(0, 90);
    c.mask = Case::Mask(pick(0, 5));
    c.headsInside = pick(0, 1);
    checkAll(c, 100 + i);
  }
}

TEST(Attention, SeveralTilesOfKeysAreRight) {
  Case c{1, 2, 1, 40, 1300, 64, 64};
  c.headsInside = true;
  checkAll(c, 1);
  c.flags = PLIM_ATTENTION_CAUSAL;
  c.offset = c.keys - c.queries;
  checkAll(c, 2);
  c.flags |= PLIM_ATTENTION_FROM_END;
  c.offset = 0;
  checkAll(c, 2);
  c.flags = PLIM_ATTENTION_MASK;
  c.mask = Case::Hiding;
  checkAll(c, 3);
  checkAll({1, 1, 1, 300, 300, 160, 200, PLIM_ATTENTION_CAUSAL}, 4);
}

TEST(Attention, AFewQueriesOverManyKeysOfAGroupAreRight) {
  unsigned seed = 0;
  for (int64_t queries : {1, 2, 5})
    for (int64_t keys : {1, 17, 255, 256, 257, 1100})
      for (int64_t heads : {1, 3, 5}) {
        Case c{2, 2 * heads, 2, queries, keys, 64, seed % 2 ? 64 : 72};
        c.flags = seed % 4 | PLIM_ATTENTION_FROM_END;
        c.mask = Case::Mask(seed / 4 % 6);
        c.headsInside = seed % 3;
        check("attention.decode", c, seed++);
      }
}

TEST(Attention, ScoresThatGrowFromTileToTileAreRight) {
  for (const char *kernel : {"attention.naive", "attention.chunked", "attention.flash", "attention.decode"}) {
    std::mt19937 random(3);
    Tensor q({1, 1, 3, 32}), k({1, 1, 1200, 32}), v({1, 1, 1200, 32}), mask({1, 1, 3, 1200}), o({1, 1, 3, 32});
    q.fill(random);
    k.fill(random);
    v.fill(random);
    for (int64_t i = 0; i < mask.elements(); ++i)
      mask.data()[i] = float(i % 1200) / 10;
    Launch launch(kernel, {q, k, v, mask, o}, {PLIM_ATTENTION_MASK, plim_attr_from_double(1), 0, 0});
    launch.runAll();
    for (int64_t e = 0; e < 32; ++e) {
      double sum = 0, want = 0;
      for (int64_t t = 0; t < 1200; ++t) {
        double score = mask({0, 0, 1, t}) - 120;
        for (int64_t d = 0; d < 32; ++d)
          score += double(q({0, 0, 1, d})) * k({0, 0, t, d});
        sum += std::exp(score);
        want += std::exp(score) * v({0, 0, t, e});
      }
      expectNear(o({0, 0, 1, e}), want / sum, 4, kernel);
    }
  }
}

TEST(Attention, EmptyDimsAreHandled) {
  checkAll({1, 2, 2, 5, 0, 8, 8}, 1);
  checkAll({1, 2, 2, 0, 5, 8, 8}, 2);
  checkAll({0, 2, 2, 4, 5, 8, 8}, 3);
  checkAll({1, 2, 2, 4, 5, 0, 8}, 4);
}

} // namespace
