//===- x86_v4_nhwc_pointwise.cpp - conv.nhwc_pointwise for x86-64-v4 -------------------===//

#include "kernels/conv/nhwc_pointwise_x86.h"

extern "C" int32_t plim_conv_nhwc_pointwise_v4(const plim_launch *launch, void *scratch, uint32_t first,
                                               uint32_t last) {
  return plim::runConvPointwise(launch, scratch, first, last);
}
