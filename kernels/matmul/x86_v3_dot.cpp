//===- x86_v3_dot.cpp - matmul.dot for x86-64-v3 -----------------------------------===//

#include "kernels/matmul/dot_x86.h"

extern "C" int32_t plim_matmul_dot_v3(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  return plim::runMatmulDot(launch, scratch, first, last);
}
