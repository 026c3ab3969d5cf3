//===- x86_v3_quantized.cpp - recurrent.quantized for x86-64-v3 ---------------------------------===//

#include "kernels/recurrent/quantized_x86.h"

extern "C" int32_t plim_recurrent_quantized_v3(const plim_launch *launch, void *scratch, uint32_t first,
                                               uint32_t last) {
  return plim::runQuantized(launch, scratch, first, last);
}
