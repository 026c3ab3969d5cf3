// Level of the x86-64 instruction set that the CPU and the operating system offer.
#include "plim/plim.h"

#include <cpuid.h>
#include <stdlib.h>
#include <string.h>

namespace {

uint64_t enabledRegisters() {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

bool has(uint32_t word, uint32_t bits) { return (word & bits) == bits; }

plim_isa detect() {
  uint32_t a, b, c, d, extC;
  if (!__get_cpuid(0x80000001, &a, &b, &extC, &d) || !__get_cpuid(1, &a, &b, &c, &d))
    return PLIM_ISA_BASE;
  if (!has(c, bit_OSXSAVE | bit_AVX | bit_FMA | bit_F16C | bit_MOVBE) || !has(extC, bit_ABM))
    return PLIM_ISA_BASE;
  constexpr uint64_t ymm = 0x6, zmm = 0xe0; // state components of XCR0
  uint64_t registers = enabledRegisters();
  if ((registers & ymm) != ymm || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !has(b, bit_AVX2 | bit_BMI | bit_BMI2))
    return PLIM_ISA_BASE;
  bool v4 = (registers & zmm) == zmm && has(b, bit_AVX512F | bit_AVX512BW | bit_AVX512CD | bit_AVX512DQ | bit_AVX512VL);
  return v4 ? PLIM_ISA_V4 : PLIM_ISA_V3;
}

} // namespace

extern "C" plim_isa plim_cpu_isa(void) {
  plim_isa isa = detect();
  const char *cap = getenv("PLIM_ISA");
  if (!cap)
    return isa;
  plim_isa most = !strcmp(cap, "base") ? PLIM_ISA_BASE : !strcmp(cap, "v3") ? PLIM_ISA_V3 : PLIM_ISA_V4;
  return isa < most ? isa : most;
}
