//===- x86_v3_integer_panel32.cpp - matmul.integer_panel32 for x86-64-v3 -----------------===//

#include "kernels/matmul/integer_x86.h"

extern "C" int32_t plim_matmul_integer_panel32_v3(const plim_launch *launch, void *scratch, uint32_t first,
                                                  uint32_t last) {
  return plim::runMatmulIntegerPanel32(launch, scratch, first, last);
}
