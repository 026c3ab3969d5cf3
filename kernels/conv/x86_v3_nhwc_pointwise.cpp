//===- x86_v3_nhwc_pointwise.cpp - conv.nhwc_pointwise for x86-64-v3 -------------------===//

#include "kernels/conv/nhwc_pointwise_x86.h"

extern "C" int32_t plim_conv_nhwc_pointwise_v3(const plim_launch *launch, void *scratch, uint32_t first,
                                               uint32_t last) {
  return plim::runConvPointwise(launch, scratch, first, last);
}
