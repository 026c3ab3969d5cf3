//===- kernels/x86/pack_panels.h - A part of a strided matrix as a panel ------------------===//
#ifndef PLIM_KERNELS_X86_PACK_PANELS_H
#define PLIM_KERNELS_X86_PACK_PANELS_H

#include "kernels/x86/panel_block.h"
#include "kernels/x86/vector.h"

#include <string.h>

namespace plim {
namespace {

/// target[j][i] = source[i][j] for kLanes x kLanes floats; columns that the mask leaves out read as 0.
template <bool Masked = false>
PLIM_INLINE void transposeSquare(float *target, int64_t targetRow, const float *source, int64_t sourceRow,
                                 LaneMask columns = firstLanes(kLanes)) {
  Vector r[kLanes], t[kLanes];
#pragma clang loop unroll(full)
  for (int i = 0; i < kLanes; ++i)
    r[i] = Masked ? load(source + i * sourceRow, columns) : load(source + i * sourceRow);
  // Within each 128-bit quarter: 4 x 4 transposes of rows 4i ... 4i + 3.
#pragma clang loop unroll(full)
  for (int i = 0; i < kLanes; i += 4) {
#if defined(__AVX512F__)
    Vector a = _mm512_unpacklo_ps(r[i], r[i + 1]), b = _mm512_unpackhi_ps(r[i], r[i + 1]);
    Vector c = _mm512_unpacklo_ps(r[i + 2], r[i + 3]), d = _mm512_unpackhi_ps(r[i + 2], r[i + 3]);
    t[i] = _mm512_shuffle_ps(a, c, 0x44), t[i + 1] = _mm512_shuffle_ps(a, c, 0xee);
    t[i + 2] = _mm512_shuffle_ps(b, d, 0x44), t[i + 3] = _mm512_shuffle_ps(b, d, 0xee);
#else
    Vector a = _mm256_unpacklo_ps(r[i], r[i + 1]), b = _mm256_unpackhi_ps(r[i], r[i + 1]);
    Vector c = _mm256_unpacklo_ps(r[i + 2], r[i + 3]), d = _mm256_unpackhi_ps(r[i + 2], r[i + 3]);
    t[i] = _mm256_shuffle_ps(a, c, 0x44), t[i + 1] = _mm256_shuffle_ps(a, c, 0xee);
    t[i + 2] = _mm256_shuffle_ps(b, d, 0x44), t[i + 3] = _mm256_shuffle_ps(b, d, 0xee);
#endif
  }
  // Quarter q of t[4i + c] is column 4q + c of rows 4i ... 4i + 3: gather the quarters of a column.
#pragma clang loop unroll(full)
  for (int c = 0; c < 4; ++c) {
#if defined(__AVX512F__)
    Vector low = _mm512_shuffle_f32x4(t[c], t[4 + c], 0x88), high = _mm512_shuffle_f32x4(t[8 + c], t[12 + c], 0x88);
    store(target + c * targetRow, _mm512_shuffle_f32x4(low, high, 0x88));
    store(target + (8 + c) * targetRow, _mm512_shuffle_f32x4(low, high, 0xdd));
    low = _mm512_shuffle_f32x4(t[c], t[4 + c], 0xdd), high = _mm512_shuffle_f32x4(t[8 + c], t[12 + c], 0xdd);
    store(target + (4 + c) * targetRow, _mm512_shuffle_f32x4(low, high, 0x88));
    store(target + (12 + c) * targetRow, _mm512_shuffle_f32x4(low, high, 0xdd));
#else
    store(target + c * targetRow, _mm256_permute2f128_ps(t[c], t[4 + c], 0x20));
    store(target + (4 + c) * targetRow, _mm256_permute2f128_ps(t[c], t[4 + c], 0x31));
#endif
  }
}

/// panel[k][n] = b[k * kStride + n * nStride] for k < depth and n < columns <= 32; zeros in the columns beyond.
inline void packPanel(float *panel, const float *b, int64_t kStride, int64_t nStride, int64_t depth, int64_t columns) {
  if (columns < kPanel)
    memset(panel, 0, (size_t)(depth * kPanel) * sizeof(float));
  if (nStride == 1) {
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t n = 0; n < columns; n += kLanes) {
        const LaneMask lanes = firstLanes(columns - n);
        store(panel + k * kPanel + n, load(b + k * kStride + n, lanes), lanes);
      }
    return;
  }
  int64_t squareColumns = 0, squareDepth = 0;
  if (kStride == 1) {
    squareColumns = columns / kLanes * kLanes;
    squareDepth = depth / kLanes * kLanes;
    for (int64_t k = 0; k < squareDepth; k += kLanes)
      for (int64_t n = 0; n < squareColumns; n += kLanes)
        transposeSquare(panel + k * kPanel + n, kPanel, b + k + n * nStride, nStride);
  }
  for (int64_t n = 0; n < columns; ++n)
    for (int64_t k = n < squareColumns ? squareDepth : 0; k < depth; ++k)
      panel[k * kPanel + n] = b[k * kStride + n * nStride];
}

} // namespace
} // namespace plim

#endif
