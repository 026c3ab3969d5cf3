//===- kernels/x86/integer_tile.h - Exact products of 8-bit integers ----------------------===//
//
// Operands become 16-bit integers less their zero points, which lie in [-255, 255], in pairs of neighbouring terms: a
// pair of A is one 32-bit number, a pair of rows of B 32 of them. vpmaddwd multiplies and adds pairs without saturation
// and i32 sums wrap, so that results are exact and the same at every level.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_X86_INTEGER_TILE_H
#define PLIM_KERNELS_X86_INTEGER_TILE_H

#include "kernels/x86/panel_block.h"
#include "kernels/x86/vector.h"
#include "plim/kernel.h"

#include <utility>

namespace plim {
namespace {

#if defined(__AVX512F__)
using Integers = __m512i;
constexpr int kIntegerRows = 12; // of a tile; two vectors of columns
PLIM_INLINE Integers loadIntegers(const void *p) { return _mm512_loadu_si512(p); }
PLIM_INLINE Integers loadIntegers(const int32_t *p, LaneMask m) { return _mm512_maskz_loadu_epi32(m, p); }
PLIM_INLINE void storeIntegers(void *p, Integers x) { _mm512_storeu_si512(p, x); }
PLIM_INLINE void storeIntegers(int32_t *p, Integers x, LaneMask m) { _mm512_mask_storeu_epi32(p, m, x); }
PLIM_INLINE Integers repeatPair(int32_t pair) { return _mm512_set1_epi32(pair); }
PLIM_INLINE Integers zeroIntegers() { return _mm512_setzero_si512(); }
PLIM_INLINE Integers add32(Integers a, Integers b) { return _mm512_add_epi32(a, b); }
PLIM_INLINE Integers subtract16(Integers a, Integers b) { return _mm512_sub_epi16(a, b); }
PLIM_INLINE Integers multiplyPairs(Integers a, Integers b) { return _mm512_madd_epi16(a, b); }
PLIM_INLINE Integers widen16(const int8_t *p) { return _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)p)); }
PLIM_INLINE Integers widen16(const uint8_t *p) { return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)p)); }
/// Neighbours of two rows of 2 * kLanes numbers as pairs: those of columns 0-3 and of columns 4-7 of each 8.
PLIM_INLINE Integers pairFirstFours(Integers a, Integers b) { return _mm512_unpacklo_epi16(a, b); }
PLIM_INLINE Integers pairLastFours(Integers a, Integers b) { return _mm512_unpackhi_epi16(a, b); }
/// First and last fours in the order of columns.
PLIM_INLINE void orderFours(Integers first, Integers last, Integers &low, Integers &high) {
  low = _mm512_permutex2var_epi64(first, _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), last);
  high = _mm512_permutex2var_epi64(first, _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15), last);
}
#else
using Integers = __m256i;
constexpr int kIntegerRows = 5;
PLIM_INLINE Integers loadIntegers(const void *p) { return _mm256_loadu_si256((const __m256i *)p); }
PLIM_INLINE Integers loadIntegers(const int32_t *p, LaneMask m) { return _mm256_maskload_epi32(p, m); }
PLIM_INLINE void storeIntegers(void *p, Integers x) { _mm256_storeu_si256((__m256i *)p, x); }
PLIM_INLINE void storeIntegers(int32_t *p, Integers x, LaneMask m) { _mm256_maskstore_epi32(p, m, x); }
PLIM_INLINE Integers repeatPair(int32_t pair) { return _mm256_set1_epi32(pair); }
PLIM_INLINE Integers zeroIntegers() { return _mm256_setzero_si256(); }
PLIM_INLINE Integers add32(Integers a, Integers b) { return _mm256_add_epi32(a, b); }
PLIM_INLINE Integers subtract16(Integers a, Integers b) { return _mm256_sub_epi16(a, b); }
PLIM_INLINE Integers multiplyPairs(Integers a, Integers b) { return _mm256_madd_epi16(a, b); }
PLIM_INLINE Integers widen16(const int8_t *p) { return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)p)); }
PLIM_INLINE Integers widen16(const uint8_t *p) { return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)p)); }
PLIM_INLINE Integers pairFirstFours(Integers a, Integers b) { return _mm256_unpacklo_epi16(a, b); }
PLIM_INLINE Integers pairLastFours(Integers a, Integers b) { return _mm256_unpackhi_epi16(a, b); }
PLIM_INLINE void orderFours(Integers first, Integers last, Integers &low, Integers &high) {
  low = _mm256_permute2x128_si256(first, last, 0x20);
  high = _mm256_permute2x128_si256(first, last, 0x31);
}
#endif

constexpr int kIntegerColumns = 2 * kLanes; // of a tile, and of a load of bytes
constexpr int64_t kPairPrefetch = 4096;     // bytes from what is widened to what is fetched

/// Rows [first, first + depth) of a panel of `rows` rows as pairs: [(depth + 1) / 2][32] of them. An odd last row meets
/// zeros. `zero`: 32 numbers.
template <typename T>
static inline void pairPanel(const T *panel, int64_t first, int64_t depth, const int16_t *zero, int32_t *to) {
  const T *from = panel + first * kPanel;
  for (int64_t row = 0; row < depth; row += 2, from += 2 * kPanel, to += kPanel) {
    _mm_prefetch((const char *)from + kPairPrefetch, _MM_HINT_T0);
#pragma clang loop unroll(full)
    for (int column = 0; column < kPanel; column += kIntegerColumns) {
      const Integers less = loadIntegers(zero + column);
      const Integers a = subtract16(widen16(from + column), less);
      const Integers b = row + 1 < depth ? subtract16(widen16(from + kPanel + column), less) : zeroIntegers();
      Integers low, high;
      orderFours(pairFirstFours(a, b), pairLastFours(a, b), low, high);
      storeIntegers(to + column, low);
      storeIntegers(to + column + kLanes, high);
    }
  }
}

/// `n` numbers of a row of A, `step` apart, less `zero`, as 16-bit integers.
template <typename T> static inline void widenRow(const T *from, int64_t step, int64_t n, int16_t zero, int16_t *to) {
  if (step == 1)
    for (int64_t i = 0; i < n; ++i)
      to[i] = (int16_t)(from[i] - zero);
  else
    for (int64_t i = 0; i < n; ++i)
      to[i] = (int16_t)(from[i * step] - zero);
}

struct IntegerTile {
  const int32_t *a; // rows of pairs
  int64_t aRow;
  const int32_t *b; // [pairs][32], first column of the tile
  int64_t pairs;
  int32_t *c;
  int64_t cRow;
  LaneMask lanes[2];
  bool adds; // to what C holds
};

template <int Rows> void computeIntegerTile(const IntegerTile &t) {
  Integers sum[Rows][2];
#pragma clang loop unroll(full)
  for (int i = 0; i < Rows; ++i)
#pragma clang loop unroll(full)
    for (int v = 0; v < 2; ++v)
      sum[i][v] = t.adds ? loadIntegers(t.c + i * t.cRow + v * kLanes, t.lanes[v]) : zeroIntegers();
  const int32_t *a = t.a, *b = t.b;
  const int64_t aRow = t.aRow, pairs = t.pairs;
  for (int64_t k = 0; k < pairs; ++k, b += kPanel) {
    const Integers low = loadIntegers(b), high = loadIntegers(b + kLanes);
#pragma clang loop unroll(full)
    for (int i = 0; i < Rows; ++i) {
      const Integers x = repeatPair(a[i * aRow + k]);
      sum[i][0] = add32(sum[i][0], multiplyPairs(x, low));
      sum[i][1] = add32(sum[i][1], multiplyPairs(x, high));
    }
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < Rows; ++i)
#pragma clang loop unroll(full)
    for (int v = 0; v < 2; ++v)
      storeIntegers(t.c + i * t.cRow + v * kLanes, sum[i][v], t.lanes[v]);
}

using IntegerTileFunction = void (*)(const IntegerTile &);
template <int... Index>
PLIM_INLINE IntegerTileFunction pickIntegerTile(int64_t rows, std::integer_sequence<int, Index...>) {
  static constexpr IntegerTileFunction functions[] = {computeIntegerTile<Index + 1>...};
  return functions[rows - 1];
}

/// C (+)= A B for `rows` rows and one panel, up to 32 columns of it.
static inline void multiplyIntegers(const int32_t *a, int64_t aRow, int64_t rows, const int32_t *b, int64_t pairs,
                                    int32_t *c, int64_t cRow, int64_t columns, bool adds) {
  const int64_t tiles = (rows + kIntegerRows - 1) / kIntegerRows;
  for (int64_t column = 0; column < columns; column += kIntegerColumns) {
    IntegerTile tile;
    tile.aRow = aRow;
    tile.b = b + column;
    tile.pairs = pairs;
    tile.cRow = cRow;
    tile.lanes[0] = firstLanes(columns - column);
    tile.lanes[1] = firstLanes(columns - column - kLanes);
    tile.adds = adds;
    for (int64_t i = 0; i < tiles; ++i) {
      const int64_t row = rows * i / tiles, end = rows * (i + 1) / tiles; // of nearly equal height
      tile.a = a + row * aRow;
      tile.c = c + row * cRow + column;
      pickIntegerTile(end - row, std::make_integer_sequence<int, kIntegerRows>())(tile);
    }
  }
}

/// Calls `run` with a number of the element type of operands 0 and 1 each, i8 or u8.
template <typename Function> inline void withByteTypes(const plim_launch *launch, Function run) {
  const bool aSigned = launch->shape[0]->dtype == PLIM_I8, bSigned = launch->shape[1]->dtype == PLIM_I8;
  if (aSigned && bSigned)
    run(int8_t(), int8_t());
  else if (aSigned)
    run(int8_t(), uint8_t());
  else if (bSigned)
    run(uint8_t(), int8_t());
  else
    run(uint8_t(), uint8_t());
}

} // namespace
} // namespace plim

#endif
