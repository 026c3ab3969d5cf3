//===- kernels/convert.h - Element types and conversions between them ----------------------===//
//
// Kernels hold elements as one of four compute types (float, double, int64_t, uint64_t) and convert where they load and
// store. Rules of a store: float to integer truncates and saturates, NaN gives 0; integer to integer keeps the low
// bits; to bool is "not zero"; to f16 and bf16 rounds once, half to even, and NaN stays NaN.
//
//===----------------------------------------------------------------------------------------===//
#ifndef PLIM_KERNELS_CONVERT_H
#define PLIM_KERNELS_CONVERT_H

#include "plim/kernel.h"

#include <string.h>

namespace plim::kernels {

struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};
struct Bool {
  uint8_t value;
};

inline uint32_t bitsOf(float v) {
  uint32_t bits;
  memcpy(&bits, &v, 4);
  return bits;
}
inline float floatOf(uint32_t bits) {
  float v;
  memcpy(&v, &bits, 4);
  return v;
}

inline float toFloat(Half h) {
  uint32_t sign = uint32_t(h.bits & 0x8000) << 16, rest = h.bits & 0x7fff;
  if (rest >= 0x7c00) // infinity and NaN
    return floatOf(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  // Shifting the exponent leaves a float too small by 2^112, exactly, for normal and subnormal numbers alike.
  return floatOf(sign | bitsOf(floatOf(rest << 13) * 0x1p112f));
}
inline float toFloat(BFloat b) { return floatOf(uint32_t(b.bits) << 16); }

inline Half toHalf(float v) {
  uint32_t bits = bitsOf(v), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
  if (rest > 0x7f800000)
    return {uint16_t(sign | 0x7e00)};
  if (rest >= 0x477ff000) // 65520 and above round to infinity
    return {uint16_t(sign | 0x7c00)};
  if (rest < 0x38800000) // subnormal: adding 1/2 leaves the rounded significand in the low bits
    return {uint16_t(sign | (bitsOf(floatOf(rest) + 0.5f) - 0x3f000000))};
  return {uint16_t(sign | (rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13)};
}

inline BFloat toBFloat(float v) {
  uint32_t bits = bitsOf(v);
  if ((bits & 0x7fffffff) > 0x7f800000)
    return {uint16_t(bits >> 16 | 0x40)};
  return {uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

// Rounds to odd, so that rounding once more, to a narrower type, gives what rounding once would have given.
inline float roundToOdd(double v) {
  float f = float(v);
  uint32_t bits = bitsOf(f);
  if (double(f) == v || v != v || (bits & 1))
    return f;
  bool tooFar = (v < 0 ? -double(f) : double(f)) > (v < 0 ? -v : v);
  return floatOf(tooFar ? bits - 1 : bits + 1);
}

template <class C> C decode(Half v) { return C(toFloat(v)); }
template <class C> C decode(BFloat v) { return C(toFloat(v)); }
template <class C> C decode(Bool v) { return C(v.value != 0); }
template <class C, class T> C decode(T v) { return C(v); }

template <class T> inline constexpr bool isFloating = false;
template <> inline constexpr bool isFloating<float> = true;
template <> inline constexpr bool isFloating<double> = true;

template <class T> inline constexpr T lowest = T(~uint64_t(0) << (sizeof(T) * 8 - 1));
template <> inline constexpr uint8_t lowest<uint8_t> = 0;
template <> inline constexpr uint16_t lowest<uint16_t> = 0;
template <> inline constexpr uint32_t lowest<uint32_t> = 0;
template <> inline constexpr uint64_t lowest<uint64_t> = 0;
template <class T> inline constexpr T highest = T(~lowest<T>);

template <class T, class C> struct Encode {
  static T of(C v) {
    if constexpr (!isFloating<T> && isFloating<C>) {
      if (v != v)
        return 0;
      // 2^bits as C is exact, highest<T> need not be.
      C end = C(highest<T> / 2 + 1) * 2;
      return v >= end ? highest<T> : v <= C(lowest<T>) ? lowest<T> : T(v);
    } else {
      return T(v);
    }
  }
};
template <class C> struct Encode<Bool, C> {
  static Bool of(C v) { return {uint8_t(v != 0)}; }
};
template <class C> struct Encode<Half, C> {
  static Half of(C v) { return toHalf(sizeof(C) == 4 ? float(v) : roundToOdd(double(v))); }
};
template <class C> struct Encode<BFloat, C> {
  static BFloat of(C v) { return toBFloat(sizeof(C) == 4 ? float(v) : roundToOdd(double(v))); }
};

template <class T> struct TypeTag {
  using Type = T;
};

// Calls f(TypeTag<T>) with the element type; false for an unknown dtype.
template <class F> bool withType(uint8_t dtype, F f) {
  switch (dtype) {
  case PLIM_F32:
    return f(TypeTag<float>()), true;
  case PLIM_F16:
    return f(TypeTag<Half>()), true;
  case PLIM_BF16:
    return f(TypeTag<BFloat>()), true;
  case PLIM_F64:
    return f(TypeTag<double>()), true;
  case PLIM_I8:
    return f(TypeTag<int8_t>()), true;
  case PLIM_I16:
    return f(TypeTag<int16_t>()), true;
  case PLIM_I32:
    return f(TypeTag<int32_t>()), true;
  case PLIM_I64:
    return f(TypeTag<int64_t>()), true;
  case PLIM_U8:
    return f(TypeTag<uint8_t>()), true;
  case PLIM_U16:
    return f(TypeTag<uint16_t>()), true;
  case PLIM_U32:
    return f(TypeTag<uint32_t>()), true;
  case PLIM_U64:
    return f(TypeTag<uint64_t>()), true;
  case PLIM_BOOL:
    return f(TypeTag<Bool>()), true;
  default:
    return false;
  }
}

inline bool isFloatDtype(uint8_t dtype) { return dtype >= PLIM_F32 && dtype <= PLIM_F64; }
inline bool isKnownDtype(uint8_t dtype) { return dtype >= PLIM_F32 && dtype <= PLIM_BOOL; }
inline bool isUnsignedDtype(uint8_t dtype) { return dtype >= PLIM_U8 && dtype <= PLIM_U64; }

} // namespace plim::kernels

#endif
