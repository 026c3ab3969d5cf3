//===- x86_v3_nhwc_depthwise.cpp - conv.nhwc_depthwise for x86-64-v3 ---===//

#include "kernels/conv/nhwc_depthwise_x86.h"

extern "C" int32_t plim_conv_nhwc_depthwise_v3(const plim_launch *launch, void *scratch, uint32_t first,
                                               uint32_t last) {
  return plim::runConvDepthwise(launch, scratch, first, last);
}
