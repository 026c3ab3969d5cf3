//===- x86_v4_batched.cpp - matmul.batched for x86-64-v4 ---===//

#include "kernels/matmul/batched_x86.h"

extern "C" int32_t plim_matmul_batched_v4(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  return plim::runMatmulBatched(launch, scratch, first, last);
}
