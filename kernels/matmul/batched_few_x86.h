//===- kernels/matmul/batched_few_x86.h - A few rows times a matrix whose columns are contiguous ----===//
//
// With few rows, reading B is the work. Packed panels would be written and read again; here some columns at a time are
// transposed on the stack, where they stay in the first-level cache. An element's sum is the chain of fma that a panel
// block would give it.
//
//===-----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_MATMUL_BATCHED_FEW_X86_H
#define PLIM_KERNELS_MATMUL_BATCHED_FEW_X86_H

#include "kernels/x86/constant.h"
#include "kernels/x86/finish_rows.h"
#include "kernels/x86/pack_panels.h"

namespace plim {
namespace {

constexpr int kFewRowsMost = 4;
constexpr int kFewDepth = 64;                  // transposed together
constexpr int kFewVectors = kPanel / kLanes;   // of columns that share a pass
constexpr int kFewAhead = 2 * kPanel / kLanes; // squares of columns from a read to the prefetch

/// squares[v][k][lane] = element (k, v * kLanes + lane) of B, whose columns are `nStride` apart; zeros past `columns`.
inline void transposeColumns(float *squares, const float *b, int64_t nStride, int64_t depth, int64_t columns) {
  for (int64_t v = 0; v < kFewVectors; ++v) {
    float *square = squares + v * kFewDepth * kLanes;
    const float *first = b + v * kLanes * nStride;
    int64_t k = 0;
    if ((v + 1) * kLanes <= columns)
      for (; k + kLanes <= depth; k += kLanes) {
        for (int64_t i = 0; i < kLanes; ++i) // the hardware does not follow so many columns
          _mm_prefetch((const char *)(first + k + (kFewAhead * kLanes + i) * nStride), _MM_HINT_T0);
        transposeSquare(square + k * kLanes, kLanes, first + k, nStride);
      }
    for (; k < depth; ++k)
      for (int64_t i = 0; i < kLanes; ++i)
        square[k * kLanes + i] = v * kLanes + i < columns ? first[i * nStride + k] : 0.0f;
  }
}

/// sums[row][column] of up to kPanel columns.
template <int Rows>
PLIM_INLINE void multiplyFew(float *sums, const float *a, int64_t aRow, int64_t aColumn, const float *b,
                             int64_t nStride, int64_t depth, int64_t columns) {
  alignas(64) float squares[kFewVectors * kFewDepth * kLanes];
  Vector sum[Rows][kFewVectors];
#pragma clang loop unroll(full)
  for (int r = 0; r < Rows; ++r)
#pragma clang loop unroll(full)
    for (int v = 0; v < kFewVectors; ++v)
      sum[r][v] = zero();
  for (int64_t start = 0; start < depth; start += kFewDepth) {
    const int64_t count = smaller(depth - start, kFewDepth);
    transposeColumns(squares, b + start, nStride, count, columns);
    for (int64_t k = 0; k < count; ++k)
#pragma clang loop unroll(full)
      for (int v = 0; v < kFewVectors; ++v) {
        const Vector column = load(squares + (v * kFewDepth + k) * kLanes);
#pragma clang loop unroll(full)
        for (int r = 0; r < Rows; ++r)
          sum[r][v] = fma(broadcast(a[r * aRow + (start + k) * aColumn]), column, sum[r][v]);
      }
  }
#pragma clang loop unroll(full)
  for (int r = 0; r < Rows; ++r)
#pragma clang loop unroll(full)
    for (int v = 0; v < kFewVectors; ++v)
      store(sums + r * kPanel + v * kLanes, sum[r][v]);
}

/// C, bias, residual and activation as in `block`, which has one run of at most kFewRowsMost rows.
inline void multiplyFewRows(const PanelBlock &block, int64_t aColumn, const float *b, int64_t nStride, int64_t depth) {
  alignas(64) float sums[kFewRowsMost * kPanel];
  for (int64_t first = 0; first < block.columns; first += kPanel) {
    const int64_t columns = smaller(block.columns - first, kPanel);
    const float *panel = b + first * nStride;
    withConstant<kFewRowsMost>(block.rows, [&](auto n) __attribute__((always_inline)) {
      multiplyFew<n.value>(sums, block.a, block.aRow, aColumn, panel, nStride, depth, columns);
    });
    finishRows(block, sums, 0, 0, block.rows, first / kPanel);
  }
}

} // namespace
} // namespace plim

#endif
