//===- x86_v3_quantized_panel32.cpp - matmul.quantized_panel32 for x86-64-v3 -------------===//

#include "kernels/matmul/quantized_x86.h"

extern "C" int32_t plim_matmul_quantized_panel32_v3(const plim_launch *launch, void *scratch, uint32_t first,
                                                    uint32_t last) {
  return plim::runMatmulQuantizedPanel32(launch, scratch, first, last);
}
