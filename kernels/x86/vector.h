//===- kernels/x86/vector.h - Vectors of floats at the level a file is compiled for ------===//
//
// The fast kernels are written once over Vector and compiled twice: with 16 lanes for x86-64-v4 and with 8 for v3.
// Every operation here rounds each lane alike at both widths, so twins give the same bits as long as no result depends
// on which lanes share a vector. Sums across lanes go through Lanes64, whose folding tree is the same at both widths.
//
// All of it has internal linkage: a function compiled for v4 must never be the one that the linker keeps for v3.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_X86_VECTOR_H
#define PLIM_KERNELS_X86_VECTOR_H

#include <immintrin.h>
#include <stdint.h>

#define PLIM_INLINE static inline __attribute__((always_inline))

namespace plim {
namespace {

PLIM_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

#if defined(__AVX512F__)
using Vector = __m512;
using LaneMask = __mmask16;
constexpr int kLanes = 16;

PLIM_INLINE Vector load(const float *p) { return _mm512_loadu_ps(p); }
PLIM_INLINE void store(float *p, Vector x) { _mm512_storeu_ps(p, x); }
PLIM_INLINE Vector broadcast(float x) { return _mm512_set1_ps(x); }
PLIM_INLINE Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
// A NaN in the second operand is kept.
PLIM_INLINE Vector max(Vector a, Vector b) { return _mm512_max_ps(a, b); }
PLIM_INLINE Vector min(Vector a, Vector b) { return _mm512_min_ps(a, b); }
PLIM_INLINE Vector roundToEven(Vector x) {
  return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
PLIM_INLINE Vector absolute(Vector x) { return _mm512_abs_ps(x); }
PLIM_INLINE LaneMask firstLanes(int64_t n) { return n >= 16 ? 0xffff : n <= 0 ? 0 : (LaneMask)((1u << n) - 1); }
// Lanes that the mask leaves out read as 0 and are not touched in memory.
PLIM_INLINE Vector load(const float *p, LaneMask m) { return _mm512_maskz_loadu_ps(m, p); }
PLIM_INLINE void store(float *p, Vector x, LaneMask m) { _mm512_mask_storeu_ps(p, m, x); }
PLIM_INLINE Vector selectNegative(Vector sign, Vector negative, Vector other) {
  return _mm512_mask_mov_ps(other, _mm512_cmp_ps_mask(sign, _mm512_setzero_ps(), _CMP_LT_OQ), negative);
}
PLIM_INLINE Vector select(LaneMask m, Vector yes, Vector no) { return _mm512_mask_mov_ps(no, m, yes); }
PLIM_INLINE LaneMask notZero(__m128i bytes) { return _mm_test_epi8_mask(bytes, bytes); }
PLIM_INLINE Vector selectNan(Vector x, Vector yes, Vector no) {
  return _mm512_mask_mov_ps(no, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), yes);
}
// 2^n for a whole number n in [-126, 127].
PLIM_INLINE Vector powerOfTwo(Vector n) {
  __m512i biased = _mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127));
  return _mm512_castsi512_ps(_mm512_slli_epi32(biased, 23));
}
#elif defined(__AVX2__) && defined(__FMA__)
using Vector = __m256;
using LaneMask = __m256i;
constexpr int kLanes = 8;

PLIM_INLINE Vector load(const float *p) { return _mm256_loadu_ps(p); }
PLIM_INLINE void store(float *p, Vector x) { _mm256_storeu_ps(p, x); }
PLIM_INLINE Vector broadcast(float x) { return _mm256_set1_ps(x); }
PLIM_INLINE Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
PLIM_INLINE Vector max(Vector a, Vector b) { return _mm256_max_ps(a, b); }
PLIM_INLINE Vector min(Vector a, Vector b) { return _mm256_min_ps(a, b); }
PLIM_INLINE Vector roundToEven(Vector x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
PLIM_INLINE Vector absolute(Vector x) { return _mm256_and_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff))); }
PLIM_INLINE LaneMask firstLanes(int64_t n) {
  int count = n >= 8 ? 8 : n <= 0 ? 0 : (int)n;
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
PLIM_INLINE Vector load(const float *p, LaneMask m) { return _mm256_maskload_ps(p, m); }
PLIM_INLINE void store(float *p, Vector x, LaneMask m) { _mm256_maskstore_ps(p, m, x); }
PLIM_INLINE Vector selectNegative(Vector sign, Vector negative, Vector other) {
  return _mm256_blendv_ps(other, negative, _mm256_cmp_ps(sign, _mm256_setzero_ps(), _CMP_LT_OQ));
}
PLIM_INLINE Vector select(LaneMask m, Vector yes, Vector no) {
  return _mm256_blendv_ps(no, yes, _mm256_castsi256_ps(m));
}
PLIM_INLINE LaneMask notZero(__m128i bytes) {
  return _mm256_cmpgt_epi32(_mm256_cvtepu8_epi32(bytes), _mm256_setzero_si256());
}
PLIM_INLINE Vector selectNan(Vector x, Vector yes, Vector no) {
  return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}
PLIM_INLINE Vector powerOfTwo(Vector n) {
  __m256i biased = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
  return _mm256_castsi256_ps(_mm256_slli_epi32(biased, 23));
}
#else
#error "compile with -march=x86-64-v3 or -march=x86-64-v4"
#endif

PLIM_INLINE Vector zero() { return broadcast(0.0f); }
// The bounds win over x, except that a NaN stays.
PLIM_INLINE Vector clamp(Vector x, Vector lower, Vector upper) { return min(upper, max(lower, x)); }
// NaN where either is.
PLIM_INLINE Vector maxOrNan(Vector a, Vector b) { return selectNan(a, a, max(a, b)); }

/// 64 lanes in as many vectors as that takes; element i of a row belongs to lane i % 64.
struct Lanes64 {
  static constexpr int kVectors = 64 / kLanes;
  Vector part[kVectors];
};

struct Add {
  template <typename Lanes> Lanes operator()(Lanes a, Lanes b) const { return a + b; }
};
struct Max {
  __m128 operator()(__m128 a, __m128 b) const { return _mm_max_ps(a, b); }
  __m256 operator()(__m256 a, __m256 b) const { return _mm256_max_ps(a, b); }
#if defined(__AVX512F__)
  __m512 operator()(__m512 a, __m512 b) const { return _mm512_max_ps(a, b); }
#endif
};

/// Folds 64 lanes to one number: lane i with lane i + 32, then + 16, ... + 1.
template <typename Combine> PLIM_INLINE float foldLanes(Lanes64 lanes, Combine combine) {
#pragma clang loop unroll(full)
  for (int width = Lanes64::kVectors / 2; width >= 1; width /= 2)
#pragma clang loop unroll(full)
    for (int i = 0; i < width; ++i)
      lanes.part[i] = combine(lanes.part[i], lanes.part[i + width]);
#if defined(__AVX512F__)
  __m256 eight = combine(_mm512_castps512_ps256(lanes.part[0]), _mm512_extractf32x8_ps(lanes.part[0], 1));
#else
  __m256 eight = lanes.part[0];
#endif
  __m128 four = combine(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  four = combine(four, _mm_movehl_ps(four, four));
  four = combine(four, _mm_shuffle_ps(four, four, 1));
  return _mm_cvtss_f32(four);
}

} // namespace
} // namespace plim

#endif
