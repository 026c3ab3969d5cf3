//===- kernels/recurrent/quantized_x86.h - recurrent.quantized at the level a file is compiled for ===//
//
// Products of 8-bit integers, exact in 32 bits: pairs of 16-bit numbers are multiplied and added (no instruction that
// saturates). A hidden state is kept less its zero point, so the weights' zero point is all that is left to correct.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_RECURRENT_QUANTIZED_X86_H
#define PLIM_KERNELS_RECURRENT_QUANTIZED_X86_H

#include "kernels/recurrent/steps_x86.h"
#include "kernels/status.h"
#include "kernels/x86/constant.h"

namespace plim {
namespace {

constexpr int kPanelColumns = 32;
constexpr int kDotRows = 4; // rows that share a read of the weights

/// Columns of a panel that are summed at once, and in which order: of each 8 columns the first 4 go to `low`.
struct Sums {
#if defined(__AVX512F__)
  static constexpr int kColumns = 32;
  using Integers = __m512i;
#else
  static constexpr int kColumns = 16;
  using Integers = __m256i;
#endif
  Integers low, high;
};

#if defined(__AVX512F__)
template <bool Unsigned> PLIM_INLINE __m512i widen(const uint8_t *p) {
  const __m256i bytes = _mm256_loadu_si256((const __m256i *)p);
  return Unsigned ? _mm512_cvtepu8_epi16(bytes) : _mm512_cvtepi8_epi16(bytes);
}
PLIM_INLINE __m512i pairsLow(__m512i a, __m512i b) { return _mm512_unpacklo_epi16(a, b); }
PLIM_INLINE __m512i pairsHigh(__m512i a, __m512i b) { return _mm512_unpackhi_epi16(a, b); }
PLIM_INLINE __m512i addProducts(__m512i sum, __m512i a, __m512i b) {
  return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
}
PLIM_INLINE __m512i broadcastPair(int32_t pair) { return _mm512_set1_epi32(pair); }
#else
template <bool Unsigned> PLIM_INLINE __m256i widen(const uint8_t *p) {
  const __m128i bytes = _mm_loadu_si128((const __m128i *)p);
  return Unsigned ? _mm256_cvtepu8_epi16(bytes) : _mm256_cvtepi8_epi16(bytes);
}
PLIM_INLINE __m256i pairsLow(__m256i a, __m256i b) { return _mm256_unpacklo_epi16(a, b); }
PLIM_INLINE __m256i pairsHigh(__m256i a, __m256i b) { return _mm256_unpackhi_epi16(a, b); }
PLIM_INLINE __m256i addProducts(__m256i sum, __m256i a, __m256i b) {
  return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
PLIM_INLINE __m256i broadcastPair(int32_t pair) { return _mm256_set1_epi32(pair); }
#endif

/// The sums in the order of the columns.
PLIM_INLINE void storeSums(const Sums &sums, int32_t *to) {
  int32_t low[Sums::kColumns / 2], high[Sums::kColumns / 2];
  memcpy(low, &sums.low, sizeof low);
  memcpy(high, &sums.high, sizeof high);
#pragma clang loop unroll(full)
  for (int block = 0; block < Sums::kColumns / 8; ++block) {
    memcpy(to + block * 8, low + block * 4, 16);
    memcpy(to + block * 8 + 4, high + block * 4, 16);
  }
}

/// sums[row][32] = pairs of the row times one panel of `depth` rows. pairs: (depth + 1) / 2 a row, `stride` apart; the
/// last is filled up with 0.
template <bool Unsigned, int Rows>
static inline void dotPanel(const uint8_t *panel, int64_t depth, const int32_t *pairs, int64_t stride,
                            int32_t (*sums)[kPanelColumns]) {
  for (int column = 0; column < kPanelColumns; column += Sums::kColumns) {
    Sums sum[Rows] = {};
    const uint8_t *b = panel + column;
    for (int64_t k = 0; k < depth; k += 2) {
      const auto even = widen<Unsigned>(b + k * kPanelColumns);
      // An odd depth's last row meets a 0.
      const auto odd = widen<Unsigned>(b + (k + 1 < depth ? k + 1 : k) * kPanelColumns);
      const auto low = pairsLow(even, odd), high = pairsHigh(even, odd);
#pragma clang loop unroll(full)
      for (int r = 0; r < Rows; ++r) {
        const auto pair = broadcastPair(pairs[r * stride + k / 2]);
        sum[r].low = addProducts(sum[r].low, low, pair);
        sum[r].high = addProducts(sum[r].high, high, pair);
      }
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < Rows; ++r)
      storeSums(sum[r], sums[r] + column);
  }
}

template <bool Unsigned>
static inline void dotPanelRows(int64_t rows, const uint8_t *panel, int64_t depth, const int32_t *pairs, int64_t stride,
                                int32_t (*sums)[kPanelColumns]) {
  withConstant<kDotRows>(rows, [&](auto n) __attribute__((always_inline)) {
    dotPanel<Unsigned, n.value>(panel, depth, pairs, stride, sums);
  });
}

/// Scale and zero point of 8 bits that cover 0 and the states of all sequences that run at this step.
struct Quantization {
  float scale, zero;
};

inline Quantization quantizationOf(const Steps &s, int64_t step, const float *states) {
  Vector least = zero(), largest = zero();
  for (int64_t r = 0; r < s.rows; ++r)
    for (int64_t i = 0; step < s.lengthOf(r) && i < s.net.size; i += kLanes) {
      const Vector x = loadLanes(states + r * s.row.state + i, s.net.size - i);
      least = min(x, least); // a NaN leaves it as it is
      largest = max(x, largest);
    }
  float low[kLanes], high[kLanes];
  store(low, least);
  store(high, largest);
  for (int i = 1; i < kLanes; ++i) {
    low[0] = low[i] < low[0] ? low[i] : low[0];
    high[0] = high[i] > high[0] ? high[i] : high[0];
  }
  Quantization q;
  q.scale = low[0] == high[0] ? 1.0f : (high[0] - low[0]) / 255.0f;
  float zeros[kLanes];
  store(zeros, roundToEven(min(max(broadcast(-low[0] / q.scale), zero()), broadcast(255.0f))));
  q.zero = zeros[0];
  return q;
}

/// The states in 8 bits less their zero point, in pairs; returns nothing but fills `sums` with their sum a row.
inline void quantizeStates(const Steps &s, const Quantization &q, const float *states, int32_t *pairs, int32_t *sum) {
  const Vector scale = broadcast(q.scale), least = broadcast(-q.zero), largest = broadcast(255.0f - q.zero);
  *sum = 0;
  for (int64_t i = 0; i < s.net.size; i += kLanes) {
    // A NaN becomes the least.
    const Vector x = min(max(roundToEven(load(states + i) / scale), least), largest);
    float values[kLanes];
    store(values, x);
    int16_t halves[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) {
      const int16_t value = i + lane < s.net.size ? (int16_t)values[lane] : (int16_t)0;
      halves[lane] = value;
      *sum += value;
    }
    memcpy(pairs + i / 2, halves, sizeof halves);
  }
}

/// products = the whole numbers' sums as floats, of one panel and row.
inline void scaleSums(const Steps &s, float stateScale, int64_t column, const int32_t *sums, int32_t stateSum,
                      float *products) {
  const Net &net = s.net;
  const bool perColumn = net.scale.shape->dims[1] > 1, isSigned = net.recurrent.shape->dtype == PLIM_I8;
  const float *scale = (const float *)net.scale.data + net.scale.at(s.direction);
  const uint8_t *zero = (const uint8_t *)net.zero.data + net.zero.at(s.direction);
  const int64_t zeroStride = net.zero.shape->strides[1];
  const int64_t left = net.gates * net.size - column, columns = left < kPanelColumns ? left : kPanelColumns;
  auto zeroAt = [&](int64_t i) { return isSigned ? (int32_t)(int8_t)zero[i] : (int32_t)zero[i]; };
  if (!perColumn) {
    const float factor = stateScale * scale[0];
    const int32_t shift = zeroAt(0) * stateSum;
    for (int64_t i = 0; i < columns; ++i)
      products[i] = (float)(sums[i] - shift) * factor;
    return;
  }
  for (int64_t i = 0; i < columns; ++i)
    products[i] = (float)(sums[i] - zeroAt((column + i) * zeroStride) * stateSum) * (stateScale * scale[column + i]);
}

inline void runQuantizedRows(Steps &s) {
  const Net &net = s.net;
  const bool isSigned = net.recurrent.shape->dtype == PLIM_I8;
  const uint8_t *weights = (const uint8_t *)net.recurrent.data + s.direction * s.row.columns * net.size;
  int32_t *const pairs = (int32_t *)s.factor;
  runSteps(s, [&](int64_t step, int, const float *states) {
    const Quantization q = quantizationOf(s, step, states);
    for (int64_t r = 0; r < s.rows; r += kDotRows) {
      const int64_t rows = s.rows - r < kDotRows ? s.rows - r : kDotRows;
      int32_t stateSums[kDotRows];
      for (int64_t i = 0; i < rows; ++i)
        quantizeStates(s, q, states + (r + i) * s.row.state, pairs + (r + i) * s.row.state, &stateSums[i]);
      for (int64_t column = 0; column < net.gates * net.size; column += kPanelColumns) {
        alignas(64) int32_t sums[kDotRows][kPanelColumns];
        const uint8_t *panel = weights + column * net.size;
        const int32_t *rowPairs = pairs + r * s.row.state;
        if (isSigned)
          dotPanelRows<false>(rows, panel, net.size, rowPairs, s.row.state, sums);
        else
          dotPanelRows<true>(rows, panel, net.size, rowPairs, s.row.state, sums);
        for (int64_t i = 0; i < rows; ++i)
          scaleSums(s, q.scale, column, sums[i], stateSums[i], s.products + (r + i) * s.row.columns + column);
      }
    }
  });
}

inline int32_t runQuantized(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  Net net;
  if (!readNet(launch, net) || !net.scale || !isFastNet(launch, net))
    return PLIM_KERNEL_UNSUPPORTED;
  const uint8_t weights = net.recurrent.shape->dtype;
  if ((weights != PLIM_I8 && weights != PLIM_U8) || net.zero.shape->dtype != weights)
    return PLIM_KERNEL_UNSUPPORTED;
  if (!areLengthsValid(net, 0, net.sequences))
    return PLIM_KERNEL_BAD_INDEX;
  const int64_t end = net.directions * last / launch->tasks;
  for (int64_t direction = net.directions * first / launch->tasks; direction < end; ++direction) {
    Steps steps(net, direction, 0, net.sequences, (float *)scratch);
    runQuantizedRows(steps);
  }
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
