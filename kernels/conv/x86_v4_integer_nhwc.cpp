//===- x86_v4_integer_nhwc.cpp - conv.integer_nhwc* for x86-64-v4 ---------------------------===//

#include "kernels/conv/integer_x86.h"

extern "C" int32_t plim_conv_integer_nhwc_v4(const plim_launch *launch, void *scratch, uint32_t first, uint32_t last) {
  return plim::runConvIntegerNhwc(launch, scratch, first, last);
}

extern "C" int32_t plim_conv_integer_nhwc_depthwise_v4(const plim_launch *launch, void *scratch, uint32_t first,
                                                       uint32_t last) {
  return plim::runConvIntegerNhwcDepthwise(launch, scratch, first, last);
}
