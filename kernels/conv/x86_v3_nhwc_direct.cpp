//===- x86_v3_nhwc_direct.cpp - conv.nhwc_direct for x86-64-v3 -------------------------===//

#include "kernels/conv/nhwc_direct_x86.h"

extern "C" int32_t plim_conv_nhwc_direct_v3(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  return plim::runConvDirect(launch, scratch, first, last);
}
