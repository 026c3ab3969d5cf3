//===- Ceilings.cpp - What one core does at most ------------------------------------------===//
#include "tools/plim-bench/probe/Probe.h"

#include <immintrin.h>

#include <algorithm>
#include <memory>

namespace plim::probe {
namespace {

constexpr int kChains = 16; // of fma: more than latency times throughput
constexpr int64_t kRounds = 200'000;
constexpr size_t kReadBytes = size_t(256) << 20; // far beyond every cache
constexpr int kRepeats = 5;

// The loops are written twice because a function is compiled for one level of the instruction set.
__attribute__((target("avx512f"))) float fmaV4() {
  __m512 sum[kChains];
  for (int i = 0; i < kChains; ++i)
    sum[i] = _mm512_set1_ps(float(i));
  const __m512 a = _mm512_set1_ps(0.999f), b = _mm512_set1_ps(0.001f);
  for (int64_t round = 0; round < kRounds; ++round)
#pragma clang loop unroll(full)
    for (int i = 0; i < kChains; ++i)
      sum[i] = _mm512_fmadd_ps(sum[i], a, b);
  for (int i = 1; i < kChains; ++i)
    sum[0] = _mm512_add_ps(sum[0], sum[i]);
  return _mm512_reduce_add_ps(sum[0]);
}

__attribute__((target("avx2,fma"))) float fmaV3() {
  constexpr int chains = kChains - 2; // and two operands: the 16 registers
  __m256 sum[chains];
  for (int i = 0; i < chains; ++i)
    sum[i] = _mm256_set1_ps(float(i));
  const __m256 a = _mm256_set1_ps(0.999f), b = _mm256_set1_ps(0.001f);
  for (int64_t round = 0; round < kRounds; ++round)
#pragma clang loop unroll(full)
    for (int i = 0; i < chains; ++i)
      sum[i] = _mm256_fmadd_ps(sum[i], a, b);
  for (int i = 1; i < chains; ++i)
    sum[0] = _mm256_add_ps(sum[0], sum[i]);
  return _mm256_cvtss_f32(sum[0]);
}

__attribute__((target("avx2"))) float readAll(const float *data, size_t count) {
  __m256 sum[8];
  for (__m256 &s : sum)
    s = _mm256_setzero_ps();
  for (size_t i = 0; i < count; i += 64)
#pragma clang loop unroll(full)
    for (int j = 0; j < 8; ++j)
      sum[j] = _mm256_add_ps(sum[j], _mm256_load_ps(data + i + 8 * j));
  for (int j = 1; j < 8; ++j)
    sum[0] = _mm256_add_ps(sum[0], sum[j]);
  return _mm256_cvtss_f32(sum[0]);
}

volatile float kept; // results that the compiler must not leave out

template <typename Function> double best(Function function) {
  double least = 0;
  for (int i = 0; i < kRepeats; ++i) {
    const double begin = cpuMilliseconds();
    kept = function();
    const double taken = cpuMilliseconds() - begin;
    least = i ? std::min(least, taken) : taken;
  }
  return least;
}

} // namespace

Ceilings measureCeilings(plim_isa isa) {
  Ceilings c;
  const bool v4 = isa == PLIM_ISA_V4;
  const double flops = 2.0 * kRounds * (v4 ? kChains * 16.0 : (kChains - 2) * 8.0);
  c.gflops = flops / best(v4 ? fmaV4 : fmaV3) / 1e6;
  HugeFloats data(kReadBytes / sizeof(float));
  c.readGigabytes = double(kReadBytes) / best([&] { return readAll(data.get(), kReadBytes / sizeof(float)); }) / 1e6;
  return c;
}

} // namespace plim::probe
