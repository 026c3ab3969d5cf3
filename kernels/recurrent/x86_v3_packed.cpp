//===- x86_v3_packed.cpp - recurrent.packed for x86-64-v3 ---------------------------------===//

#include "kernels/recurrent/packed_x86.h"

extern "C" int32_t plim_recurrent_packed_v3(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  return plim::runPacked(launch, scratch, first, last);
}
