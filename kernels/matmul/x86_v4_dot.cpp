//===- x86_v4_dot.cpp - matmul.dot for x86-64-v4 -----------------------------------===//

#include "kernels/matmul/dot_x86.h"

extern "C" int32_t plim_matmul_dot_v4(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  return plim::runMatmulDot(launch, scratch, first, last);
}
