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
#include "kernels/x86/integer_tile.h"

namespace plim {
namespace {

constexpr int kDotRows = 4; // rows that share a read of the weights

/// Sums of kIntegerColumns columns: of each 8 the first 4 and the last 4.
struct Sums {
  Integers first, last;
};

PLIM_INLINE void storeSums(const Sums &sums, int32_t *to) {
  Integers low, high;
  orderFours(sums.first, sums.last, low, high);
  storeIntegers(to, low);
  storeIntegers(to + kLanes, high);
}

/// sums[row][32] = pairs of the row times one panel of `depth` rows. pairs: (depth + 1) / 2 a row, `stride` apart; the
/// last is filled up with 0.
template <typename T, int Rows>
static inline void dotPanel(const T *panel, int64_t depth, const int32_t *pairs, int64_t stride,
                            int32_t (*sums)[kPanel]) {
  for (int column = 0; column < kPanel; column += kIntegerColumns) {
    Sums sum[Rows] = {};
    const T *b = panel + column;
    for (int64_t k = 0; k < depth; k += 2) {
      const Integers even = widen16(b + k * kPanel);
      // An odd depth's last row meets a 0.
      const Integers odd = widen16(b + (k + 1 < depth ? k + 1 : k) * kPanel);
      const Integers first = pairFirstFours(even, odd), last = pairLastFours(even, odd);
#pragma clang loop unroll(full)
      for (int r = 0; r < Rows; ++r) {
        const Integers pair = repeatPair(pairs[r * stride + k / 2]);
        sum[r].first = add32(sum[r].first, multiplyPairs(first, pair));
        sum[r].last = add32(sum[r].last, multiplyPairs(last, pair));
      }
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < Rows; ++r)
      storeSums(sum[r], sums[r] + column);
  }
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

/// The states in 8 bits less their zero point, in pairs, and their sum.
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
template <typename T>
inline void scaleSums(const Steps &s, float stateScale, int64_t column, const int32_t *sums, int32_t stateSum,
                      float *products) {
  const Net &net = s.net;
  const bool perColumn = net.scale.shape->dims[1] > 1;
  const float *scale = (const float *)net.scale.data + net.scale.at(s.direction);
  const T *zero = (const T *)net.zero.data + net.zero.at(s.direction);
  const int64_t zeroStride = net.zero.shape->strides[1];
  const int64_t left = net.gates * net.size - column, columns = left < kPanel ? left : kPanel;
  if (!perColumn) {
    const float factor = stateScale * scale[0];
    const int32_t shift = zero[0] * stateSum;
    for (int64_t i = 0; i < columns; ++i)
      products[i] = (float)(sums[i] - shift) * factor;
    return;
  }
  for (int64_t i = 0; i < columns; ++i)
    products[i] = (float)(sums[i] - zero[(column + i) * zeroStride] * stateSum) * (stateScale * scale[column + i]);
}

template <typename T> inline void runQuantizedRows(Steps &s) {
  const Net &net = s.net;
  const T *weights = (const T *)net.recurrent.data + s.direction * s.row.columns * net.size;
  int32_t *const pairs = (int32_t *)s.factor;
  runSteps(s, [&](int64_t step, int, const float *states) {
    const Quantization q = quantizationOf(s, step, states);
    for (int64_t r = 0; r < s.rows; r += kDotRows) {
      const int64_t rows = s.rows - r < kDotRows ? s.rows - r : kDotRows;
      int32_t stateSums[kDotRows];
      for (int64_t i = 0; i < rows; ++i)
        quantizeStates(s, q, states + (r + i) * s.row.state, pairs + (r + i) * s.row.state, &stateSums[i]);
      for (int64_t column = 0; column < net.gates * net.size; column += kPanel) {
        alignas(64) int32_t sums[kDotRows][kPanel];
        const T *panel = weights + column * net.size;
        const int32_t *rowPairs = pairs + r * s.row.state;
        withConstant<kDotRows>(rows, [&](auto n) __attribute__((always_inline)) {
          dotPanel<T, n.value>(panel, net.size, rowPairs, s.row.state, sums);
        });
        for (int64_t i = 0; i < rows; ++i)
          scaleSums<T>(s, q.scale, column, sums[i], stateSums[i], s.products + (r + i) * s.row.columns + column);
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
    if (weights == PLIM_I8)
      runQuantizedRows<int8_t>(steps);
    else
      runQuantizedRows<uint8_t>(steps);
  }
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
