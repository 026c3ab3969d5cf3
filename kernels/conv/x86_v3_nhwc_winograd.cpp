//===- x86_v3_nhwc_winograd.cpp - conv.nhwc_winograd for x86-64-v3 -------------------------===//

#include "kernels/conv/nhwc_winograd_x86.h"

extern "C" int32_t plim_conv_nhwc_winograd_v3(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  return plim::runConvWinograd(launch, scratch, first, last);
}
