//===- x86_v3_panel32.cpp - matmul.panel32 for x86-64-v3 -----------------------------------===//

#include "kernels/matmul/panel32_x86.h"

extern "C" int32_t plim_matmul_panel32_v3(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  return plim::runMatmulPanel32(launch, scratch, first, last);
}
