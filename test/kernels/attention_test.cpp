//===- attention_test.cpp - attention.reference ----------------------------------------------===//

#include "kernels/attention/attention.h"
#include "kernels/status.h"
#include "test/kernels/launch.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace plim::test;

namespace {

struct Case {
  int64_t batch, heads, groups, queries, keys, depth, width;
};

// The whole score matrix in double precision. mask may be null.
void expectAttention(const Case &c, const Tensor &q, const Tensor &k, const Tensor &v, const Tensor *mask, bool causal,
                     int64_t offset, double scale, const Tensor &o, double tolerance) {
  forEachIndex({c.batch, c.heads, c.queries}, [&](const Dims &at) {
    int64_t group = at[1] / (c.heads / c.groups);
    std::vector<double> weights(size_t(c.keys), 0.0);
    double sum = 0;
    for (int64_t t = 0; t < c.keys; ++t) {
      double dot = 0;
      for (int64_t d = 0; d < c.depth; ++d)
        dot += q.at({at[0], at[1], at[2], d}) * k.at({at[0], group, t, d});
      double score = dot * scale;
      bool seen = !causal || t <= at[2] + offset;
      if (mask && mask->shape().dtype == PLIM_BOOL)
        seen &= mask->at({at[0], at[1], at[2], t}) != 0;
      else if (mask)
        score += mask->at({at[0], at[1], at[2], t});
      weights[size_t(t)] = seen ? std::exp(score) : 0;
      sum += weights[size_t(t)];
    }
    for (int64_t e = 0; e < c.width; ++e) {
      double expected = 0;
      for (int64_t t = 0; t < c.keys; ++t)
        expected += sum > 0 ? weights[size_t(t)] / sum * v.at({at[0], group, t, e}) : 0;
      ASSERT_NEAR(o.at({at[0], at[1], at[2], e}), expected, tolerance);
    }
  });
}

} // namespace

TEST(AttentionReference, HeadsMasksAndFormsMatchTheFormula) {
  for (const Case &c : {Case{1, 1, 1, 1, 1, 1, 1},
                        {2, 4, 4, 5, 9, 16, 8},
                        {1, 6, 2, 70, 65, 33, 70},
                        {1, 2, 1, 3, 0, 4, 4},
                        {1, 2, 2, 0, 5, 4, 4},
                        {2, 3, 3, 7, 7, 64, 64}})
    for (uint8_t dtype : {PLIM_F32, PLIM_BF16})
      for (int masked = 0; masked < 3; ++masked)
        for (bool causal : {false, true}) {
          SCOPED_TRACE(testing::Message() << "queries " << c.queries << " mask " << masked << " causal " << causal);
          Random random(3);
          Tensor q(dtype, {c.batch, c.heads, c.queries, c.depth}, Form::Permuted, &random);
          Tensor k(dtype, {c.batch, c.groups, c.keys, c.depth}, Form::Negative, &random);
          Tensor v(dtype, {c.batch, c.groups, c.keys, c.width}, Form::Permuted, &random);
          Tensor o(dtype, {c.batch, c.heads, c.queries, c.width}, Form::Negative, &random);
          q.fill(random, -1, 1);
          k.fill(random, -1, 1);
          v.fill(random, -1, 1);
          // The mask of all heads, repeated.
          Tensor mask(masked == 2 ? uint8_t(PLIM_BOOL) : dtype, {c.batch, 1, c.queries, c.keys});
          mask.fill(random, masked == 2 ? 0 : -2, masked == 2 ? 1 : 2);
          Tensor repeated = mask.broadcastTo({c.batch, c.heads, c.queries, c.keys});
          std::vector<Tensor *> operands = {&q, &k, &v};
          if (masked)
            operands.push_back(&repeated);
          operands.push_back(&o);
          int64_t flags = (masked ? PLIM_ATTENTION_MASK : 0) | (causal ? PLIM_ATTENTION_CAUSAL : 0);
          ASSERT_EQ(runKernel("attention.reference", operands, {flags, word(0.3), 2, 0}), 0);
          expectAttention(c, q, k, v, masked ? &repeated : nullptr, causal, 2, 0.3, o, dtype == PLIM_F32 ? 2e-6 : 8e-3);
        }
}

TEST(AttentionReference, AQueryWithoutKeysGivesZeros) {
  Tensor q(PLIM_F32, {1, 1, 3, 2}), k(PLIM_F32, {1, 1, 3, 2}), v(PLIM_F32, {1, 1, 3, 2}), o(PLIM_F32, {1, 1, 3, 2});
  for (Tensor *t : {&q, &k, &v})
    t->fillWith([](int64_t) { return 1.0; });
  // With offset -2 only query 2 sees a key.
  ASSERT_EQ(runKernel("attention.reference", {&q, &k, &v, &o}, {PLIM_ATTENTION_CAUSAL, word(1), -2, 0}), 0);
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(o.get(i), i < 4 ? 0.0 : 1.0);
  Tensor mask(PLIM_F32, {1, 1, 3, 3});
  mask.fillWith([](int64_t) { return -INFINITY; });
  ASSERT_EQ(runKernel("attention.reference", {&q, &k, &v, &mask, &o}, {PLIM_ATTENTION_MASK, word(1), 0, 0}), 0);
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(o.get(i), 0.0);
}

TEST(AttentionReference, LargeScoresDoNotOverflow) {
  Tensor q(PLIM_F32, {1, 1, 1, 1}), k(PLIM_F32, {1, 1, 2, 1}), v(PLIM_F32, {1, 1, 2, 1}), o(PLIM_F32, {1, 1, 1, 1});
  q.set(0, 1e4);
  k.fillWith([](int64_t i) { return i ? 1e4 : 9e3; });
  v.fillWith([](int64_t i) { return double(i + 1); });
  ASSERT_EQ(runKernel("attention.reference", {&q, &k, &v, &o}, {0, word(1), 0, 0}), 0);
  EXPECT_EQ(o.get(0), 2.0);
}

TEST(AttentionReference, RefusesHeadsThatTheGroupsDoNotDivide) {
  Tensor q(PLIM_F32, {1, 3, 2, 2}), k(PLIM_F32, {1, 2, 2, 2}), o(PLIM_F32, {1, 3, 2, 2});
  q.fillWith([](int64_t) { return 0.0; });
  k.fillWith([](int64_t) { return 0.0; });
  EXPECT_EQ(runKernel("attention.reference", {&q, &k, &k, &o}, {0, word(1), 0, 0}), PLIM_KERNEL_UNSUPPORTED);
}
