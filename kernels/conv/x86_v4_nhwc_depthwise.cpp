//===- x86_v4_nhwc_depthwise.cpp - conv.nhwc_depthwise for x86-64-v4 ---===//

#include "kernels/conv/nhwc_depthwise_x86.h"

extern "C" int32_t plim_conv_nhwc_depthwise_v4(const plim_launch *launch, void *scratch, uint32_t first,
                                               uint32_t last) {
  return plim::runConvDepthwise(launch, scratch, first, last);
}
