//===- x86_v4_nhwc_winograd.cpp - conv.nhwc_winograd for x86-64-v4 -------------------------===//

#include "kernels/conv/nhwc_winograd_x86.h"

extern "C" int32_t plim_conv_nhwc_winograd_v4(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  return plim::runConvWinograd(launch, scratch, first, last);
}
