//===- kernels/attention/decode_x86.h - attention.decode: a few queries over many keys ------===//
//
// Each key and each value is read once, where it lies, for all query heads of its group. A few keys at a time are
// transposed, so that lanes are keys and no sum goes across lanes; lanes of the values are their own.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_ATTENTION_DECODE_X86_H
#define PLIM_KERNELS_ATTENTION_DECODE_X86_H

#include "kernels/attention/decode_cost.h"
#include "kernels/attention/softmax_x86.h"
#include "kernels/x86/constant.h"

namespace plim {
namespace {

/// Query rows together: as many chains of fma as hide its latency and the registers hold.
constexpr int kDecodeRows = 4;
constexpr int kDecodeVectors = kLanes == 16 ? 4 : 2; // of values

struct Decode {
  Attention a;
  plim_decode_blocking cut;
  float *parts, *scores, *transposed;

  Decode(const plim_launch *launch, void *scratch) : a(launch) {
    cut = plim_decode_blocking_for(a.q, a.k, a.v);
    parts = (float *)launch->shared;
    scores = (float *)scratch;
    transposed = scores + cut.rows * PLIM_DECODE_KEYS;
  }
  /// Query row `row` of a group, counted over its heads.
  int64_t headOf(int64_t group, int64_t row) const { return group * (a.heads / a.groups) + row / a.queries; }
  int64_t queryOf(int64_t row) const { return row % a.queries; }
  float *part(int64_t batch, int64_t head, int64_t query, int64_t block) const {
    return parts + (((batch * a.heads + head) * a.queries + query) * cut.blocks + block) * cut.part;
  }
};

/// Products of `Rows` query rows by kLanes transposed keys.
template <int Rows>
PLIM_INLINE void multiplyKeys(const float *const *q, const float *keys, int64_t depth, float *scores) {
  Vector sum[Rows];
#pragma clang loop unroll(full)
  for (int r = 0; r < Rows; ++r)
    sum[r] = zero();
  for (int64_t d = 0; d < depth; ++d) {
    const Vector key = load(keys + d * kLanes);
#pragma clang loop unroll(full)
    for (int r = 0; r < Rows; ++r)
      sum[r] = fma(broadcast(q[r][d]), key, sum[r]);
  }
#pragma clang loop unroll(full)
  for (int r = 0; r < Rows; ++r)
    store(scores + r * PLIM_DECODE_KEYS, sum[r]);
}

/// keys[d][i] = component d of key i; zeros for keys past `count`.
inline void transposeKeys(const float *k, int64_t stride, int64_t count, int64_t depth, float *keys) {
  int64_t d = 0;
  if (count == kLanes)
    for (; d + kLanes <= depth; d += kLanes)
      transposeSquare(keys + d * kLanes, kLanes, k + d, stride);
  for (; d < depth; ++d)
    for (int64_t i = 0; i < kLanes; ++i)
      keys[d * kLanes + i] = i < count ? k[i * stride + d] : 0.0f;
}

/// Products of all query rows of a group by keys [first, first + count).
inline void scoreKeys(const Decode &t, int64_t batch, int64_t group, int64_t first, int64_t count) {
  const Attention &a = t.a;
  const float *k = a.kData + Attention::at(a.k, batch, group, first);
  for (int64_t key = 0; key < count; key += kLanes) {
    transposeKeys(k + key * a.k->strides[2], a.k->strides[2], smaller(count - key, kLanes), a.depth, t.transposed);
    for (int64_t row = 0; row < t.cut.rows; row += kDecodeRows) {
      const float *q[kDecodeRows];
      const int64_t rows = smaller(t.cut.rows - row, kDecodeRows);
      for (int64_t r = 0; r < rows; ++r)
        q[r] = a.qData + Attention::at(a.q, batch, t.headOf(group, row + r), t.queryOf(row + r));
      float *scores = t.scores + row * PLIM_DECODE_KEYS + key;
      withConstant<kDecodeRows>(rows, [&](auto n) __attribute__((always_inline)) {
        multiplyKeys<n.value>(q, t.transposed, a.depth, scores);
      });
    }
  }
}

/// sums[row] of `Rows` rows and a few vectors of values; weights of a row PLIM_DECODE_KEYS apart.
template <int Rows>
PLIM_INLINE void addValues(const float *v, int64_t stride, const float *weights, int64_t count, int64_t columns,
                           float *const *sums) {
  Vector sum[Rows][kDecodeVectors];
  LaneMask lanes[kDecodeVectors];
#pragma clang loop unroll(full)
  for (int i = 0; i < kDecodeVectors; ++i)
    lanes[i] = firstLanes(columns - i * kLanes);
#pragma clang loop unroll(full)
  for (int r = 0; r < Rows; ++r)
#pragma clang loop unroll(full)
    for (int i = 0; i < kDecodeVectors; ++i)
      sum[r][i] = zero();
  for (int64_t key = 0; key < count; ++key, v += stride)
#pragma clang loop unroll(full)
    for (int i = 0; i < kDecodeVectors; ++i) {
      const Vector value = load(v + i * kLanes, lanes[i]);
#pragma clang loop unroll(full)
      for (int r = 0; r < Rows; ++r)
        sum[r][i] = fma(broadcast(weights[r * PLIM_DECODE_KEYS + key]), value, sum[r][i]);
    }
#pragma clang loop unroll(full)
  for (int r = 0; r < Rows; ++r)
#pragma clang loop unroll(full)
    for (int i = 0; i < kDecodeVectors; ++i)
      store(sums[r] + i * kLanes, sum[r][i], lanes[i]);
}

/// Weighted sums of the values of keys [first, first + count), for all query rows of a group.
inline void sumValues(const Decode &t, int64_t batch, int64_t group, int64_t first, int64_t count, int64_t block) {
  const Attention &a = t.a;
  const float *v = a.vData + Attention::at(a.v, batch, group, first);
  for (int64_t row = 0; row < t.cut.rows; row += kDecodeRows) {
    const int64_t rows = smaller(t.cut.rows - row, kDecodeRows);
    const float *weights = t.scores + row * PLIM_DECODE_KEYS;
    for (int64_t column = 0; column < a.values; column += kDecodeVectors * kLanes) {
      float *sums[kDecodeRows];
      for (int64_t r = 0; r < rows; ++r)
        sums[r] = t.part(batch, t.headOf(group, row + r), t.queryOf(row + r), block) + column;
      const int64_t stride = a.v->strides[2], columns = a.values - column;
      withConstant<kDecodeRows>(rows, [&](auto n) __attribute__((always_inline)) {
        addValues<n.value>(v + column, stride, weights, count, columns, sums);
      });
    }
  }
}

inline void decodeBlock(const Decode &t, int64_t batch, int64_t group, int64_t block) {
  const Attention &a = t.a;
  const int64_t first = block * PLIM_DECODE_KEYS;
  const int64_t count = smaller(a.keys - first, PLIM_DECODE_KEYS);
  scoreKeys(t, batch, group, first, count);
  for (int64_t row = 0; row < t.cut.rows; ++row) {
    const int64_t head = t.headOf(group, row), query = t.queryOf(row);
    float *scores = t.scores + row * PLIM_DECODE_KEYS;
    int64_t seen = a.seen(query) - first;
    seen = seen < 0 ? 0 : seen < count ? seen : count;
    const float largest = scaleScores(a, batch, head, query, first, seen, scores);
    float sum = 0.0f;
    if (largest == -__builtin_inff())
      seen = 0; // nothing weighs anything
    else
      sum = exponentiateScores(scores, seen, largest);
    memset(scores + seen, 0, (size_t)(count - seen) * sizeof(float));
    float *part = t.part(batch, head, query, block) + t.cut.part - 16;
    part[0] = largest;
    part[1] = sum;
  }
  sumValues(t, batch, group, first, count, block);
}

/// Parts of a query row, in the order of the blocks.
inline void combineParts(const Decode &t, int64_t batch, int64_t head, int64_t query) {
  const Attention &a = t.a;
  const float *parts = t.part(batch, head, query, 0), *state = parts + t.cut.part - 16;
  float largest = -__builtin_inff();
  for (int64_t block = 0; block < t.cut.blocks; ++block) {
    const float here = state[block * t.cut.part];
    largest = here > largest || here != here ? here : largest;
  }
  const bool sees = largest != -__builtin_inff();
  float *o = a.oData + Attention::at(a.o, batch, head, query);
  for (int64_t column = 0; column < a.values; column += kLanes) {
    const LaneMask lanes = firstLanes(a.values - column);
    Vector values = zero(), total = zero();
    for (int64_t block = 0; sees && block < t.cut.blocks; ++block) {
      const Vector weight = exponential(broadcast(state[block * t.cut.part]) - broadcast(largest));
      total = fma(weight, broadcast(state[block * t.cut.part + 1]), total);
      values = fma(weight, load(parts + block * t.cut.part + column), values);
    }
    store(o + column, sees ? values / total : zero(), lanes);
  }
}

inline int32_t runDecode(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  const Decode t(launch, scratch);
  if (!t.a.fits())
    return PLIM_KERNEL_UNSUPPORTED;
  const auto cut = [&](int64_t units, uint32_t task) { return units * task / launch->tasks; };
  if (launch->phase == 0) {
    const int64_t units = t.a.batches * t.a.groups * t.cut.blocks;
    for (int64_t unit = cut(units, first); unit < cut(units, last); ++unit)
      decodeBlock(t, unit / t.cut.blocks / t.a.groups, unit / t.cut.blocks % t.a.groups, unit % t.cut.blocks);
    return PLIM_KERNEL_OK;
  }
  const int64_t units = t.a.batches * t.a.heads * t.a.queries;
  for (int64_t unit = cut(units, first); unit < cut(units, last); ++unit)
    combineParts(t, unit / t.a.queries / t.a.heads, unit / t.a.queries % t.a.heads, unit % t.a.queries);
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
