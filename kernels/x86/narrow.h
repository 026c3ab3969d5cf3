//===- kernels/x86/narrow.h - Vectors of floats from elements of 8 and 16 bits ------------===//
//
// Every conversion is exact, so twins give the same bits.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_X86_NARROW_H
#define PLIM_KERNELS_X86_NARROW_H

#include "kernels/x86/vector.h"

namespace plim {
namespace {

struct HalfBits {
  uint16_t bits;
};
struct BFloatBits {
  uint16_t bits;
};

#if defined(__AVX512F__)
PLIM_INLINE Vector widen(const int8_t *p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p)));
}
PLIM_INLINE Vector widen(const uint8_t *p) {
  return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p)));
}
PLIM_INLINE Vector widen(const HalfBits *p) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p)); }
PLIM_INLINE Vector widen(const BFloatBits *p) {
  __m512i words = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
  return _mm512_castsi512_ps(_mm512_slli_epi32(words, 16));
}
#else
PLIM_INLINE Vector widen(const int8_t *p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p)));
}
PLIM_INLINE Vector widen(const uint8_t *p) {
  return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p)));
}
PLIM_INLINE Vector widen(const HalfBits *p) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)); }
PLIM_INLINE Vector widen(const BFloatBits *p) {
  __m256i words = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)p));
  return _mm256_castsi256_ps(_mm256_slli_epi32(words, 16));
}
#endif

} // namespace
} // namespace plim

#endif
