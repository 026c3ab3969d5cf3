//===- fast.cpp - recurrent.packed and recurrent.quantized ------------------------------------===//

#include "plim/kernel.h"

#define PLIM_TWINS(variant)                                                                                            \
  __attribute__((visibility("hidden"))) int32_t plim_recurrent_##variant##_v3(const plim_launch *, void *, uint32_t,   \
                                                                              uint32_t);                               \
  __attribute__((visibility("hidden"))) int32_t plim_recurrent_##variant##_v4(const plim_launch *, void *, uint32_t,   \
                                                                              uint32_t);                               \
  extern const plim_kernel plim_kernel_recurrent_##variant;                                                            \
  const plim_kernel plim_kernel_recurrent_##variant = {                                                                \
      "recurrent." #variant,                                                                                           \
      PLIM_KERNEL_ABI,                                                                                                 \
      1,                                                                                                               \
      {nullptr, plim_recurrent_##variant##_v3, plim_recurrent_##variant##_v4}};

extern "C" {
PLIM_TWINS(packed)
PLIM_TWINS(quantized)
}
