//===- kernels/matmul/dot_x86.h - matmul.dot: a few rows times contiguous columns ---------===//
//
// Lanes are terms of the sum: term k belongs to lane k % 16, and the lanes of a sum are folded by one tree. So B is
// read as it lies, once, and nothing is transposed.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_MATMUL_DOT_X86_H
#define PLIM_KERNELS_MATMUL_DOT_X86_H

#include "kernels/attrs.h"
#include "kernels/matmul/dot_cost.h"
#include "kernels/status.h"
#include "kernels/x86/activation.h"

namespace plim {
namespace {

constexpr int kDotLanes = 16;
constexpr int kDotVectors = kDotLanes / kLanes;
static_assert(PLIM_DOT_COLUMNS % kLanes == 0);

struct DotLanes {
  Vector part[kDotVectors];
};

/// Lane i with lane i + 8, then + 4, + 2, + 1.
PLIM_INLINE float foldDot(const DotLanes &sum) {
#if defined(__AVX512F__)
  const __m256 eight = _mm512_castps512_ps256(sum.part[0]) + _mm512_extractf32x8_ps(sum.part[0], 1);
#else
  const __m256 eight = sum.part[0] + sum.part[1];
#endif
  __m128 four = _mm256_castps256_ps128(eight) + _mm256_extractf128_ps(eight, 1);
  four = four + _mm_movehl_ps(four, four);
  four = four + _mm_shuffle_ps(four, four, 1);
  return _mm_cvtss_f32(four);
}

struct DotRows {
  const float *a[PLIM_DOT_ROWS_MAX], *residual[PLIM_DOT_ROWS_MAX];
  float *c[PLIM_DOT_ROWS_MAX];
  int64_t rows;
};

/// sums[row][column] of `columns` columns of B, `stride` apart. One after the other: B is one stream then.
template <int Rows>
inline void dotBlock(const DotRows &rows, const float *b, int64_t stride, int64_t depth, int64_t columns, float *sums) {
  for (int64_t column = 0; column < columns; ++column, b += stride) {
    DotLanes sum[Rows];
#pragma clang loop unroll(full)
    for (int r = 0; r < Rows; ++r)
#pragma clang loop unroll(full)
      for (int v = 0; v < kDotVectors; ++v)
        sum[r].part[v] = zero();
    for (int64_t k = 0; k < depth; k += kDotLanes)
#pragma clang loop unroll(full)
      for (int v = 0; v < kDotVectors; ++v) {
        const int64_t at = k + v * kLanes;
        const LaneMask lanes = firstLanes(depth - at);
        _mm_prefetch((const char *)(b + at + 2 * stride), _MM_HINT_T0);
        const Vector right = load(b + at, lanes);
#pragma clang loop unroll(full)
        for (int r = 0; r < Rows; ++r)
          sum[r].part[v] = fma(load(rows.a[r] + at, lanes), right, sum[r].part[v]);
      }
#pragma clang loop unroll(full)
    for (int r = 0; r < Rows; ++r)
      sums[r * PLIM_DOT_COLUMNS + column] = foldDot(sum[r]);
  }
}

/// f32; stride 1 in the last dim of A, C, bias and residual, and down the columns of a B that all batches share.
inline bool takesDot(const plim_launch *launch) {
  const plim_shape *a = launch->shape[0], *b = launch->shape[1], *c = launch->shape[launch->operands - 1];
  for (uint32_t i = 0; i < launch->operands; ++i) {
    const plim_shape *s = launch->shape[i];
    if (s->dtype != PLIM_F32 || s->layout != PLIM_ROW || (i != 2 && s->rank < 2) ||
        (i != 1 && s->dims[s->rank - 1] > 1 && s->strides[s->rank - 1] != 1))
      return false;
  }
  for (uint32_t d = 0; d + 2 < b->rank; ++d)
    if (b->dims[d] > 1 && b->strides[d] != 0)
      return false;
  int64_t rows = 1;
  for (uint32_t d = 0; d + 1 < c->rank; ++d)
    rows *= c->dims[d];
  return a->rank == c->rank && rows <= PLIM_DOT_ROWS_MAX && (b->dims[b->rank - 2] <= 1 || b->strides[b->rank - 2] == 1);
}

inline int32_t runMatmulDot(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  if (!takesDot(launch))
    return PLIM_KERNEL_UNSUPPORTED;
  const int64_t flags = plim_attr_int(launch->attrs, PLIM_MATMUL_FLAGS);
  const bool hasBias = flags & PLIM_EPILOGUE_BIAS, hasResidual = flags & PLIM_EPILOGUE_RESIDUAL;
  const uint32_t residual = 2 + hasBias, output = launch->operands - 1;
  const plim_shape *as = launch->shape[0], *bs = launch->shape[1], *cs = launch->shape[output];
  const plim_shape *rs = launch->shape[hasResidual ? residual : output];
  const float *bias = hasBias ? (const float *)launch->buf[2] : nullptr;
  const Activation act = {(plim_activation)plim_attr_int(launch->attrs, PLIM_MATMUL_ACTIVATION),
                          (float)plim_attr_double(launch->attrs, PLIM_MATMUL_ACT_A),
                          (float)plim_attr_double(launch->attrs, PLIM_MATMUL_ACT_B)};
  DotRows rows = {};
  rows.rows = 1;
  for (uint32_t d = 0; d + 1 < cs->rank; ++d)
    rows.rows *= cs->dims[d];
  for (int64_t r = 0; r < rows.rows; ++r) {
    int64_t left = r, a = 0, c = 0, rest = 0;
    for (uint32_t d = cs->rank - 1u; d-- > 0;) {
      const int64_t i = left % cs->dims[d];
      left /= cs->dims[d];
      a += i * as->strides[d], c += i * cs->strides[d], rest += i * rs->strides[d];
    }
    rows.a[r] = (const float *)launch->buf[0] + a;
    rows.c[r] = (float *)launch->buf[output] + c;
    rows.residual[r] = hasResidual ? (const float *)launch->buf[residual] + rest : nullptr;
  }
  const int64_t depth = as->dims[as->rank - 1], n = cs->dims[cs->rank - 1], stride = bs->strides[bs->rank - 1];
  const int64_t units = (n + PLIM_DOT_COLUMNS - 1) / PLIM_DOT_COLUMNS, end = units * last / launch->tasks;
  alignas(64) float sums[PLIM_DOT_ROWS_MAX * PLIM_DOT_COLUMNS] = {};
  for (int64_t unit = units * first / launch->tasks; unit < end && rows.rows; ++unit) {
    const int64_t start = unit * PLIM_DOT_COLUMNS;
    const int64_t columns = n - start < PLIM_DOT_COLUMNS ? n - start : PLIM_DOT_COLUMNS;
    const float *b = (const float *)launch->buf[1] + start * stride;
    if (rows.rows == 1)
      dotBlock<1>(rows, b, stride, depth, columns, sums);
    else if (rows.rows == 2)
      dotBlock<2>(rows, b, stride, depth, columns, sums);
    else if (rows.rows == 3)
      dotBlock<3>(rows, b, stride, depth, columns, sums);
    else
      dotBlock<PLIM_DOT_ROWS_MAX>(rows, b, stride, depth, columns, sums);
    for (int64_t r = 0; r < rows.rows; ++r)
      for (int64_t column = 0; column < columns; column += kLanes) {
        const LaneMask lanes = firstLanes(columns - column);
        const int64_t at = start + column;
        Vector x = load(sums + r * PLIM_DOT_COLUMNS + column) + (bias ? load(bias + at, lanes) : zero());
        if (hasResidual)
          x = x + load(rows.residual[r] + at, lanes);
        store(rows.c[r] + at, activate(x, act), lanes);
      }
  }
  return PLIM_KERNEL_OK;
}

} // namespace
} // namespace plim

#endif
