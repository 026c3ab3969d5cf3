//===- x86_v4_nhwc_transpose.cpp - conv_transpose.nhwc for x86-64-v4 -----------------------===//

#include "kernels/conv/nhwc_transpose_x86.h"

extern "C" int32_t plim_conv_transpose_nhwc_v4(const plim_launch *launch, void *scratch, uint32_t first,
                                               uint32_t last) {
  return plim::runConvTranspose(launch, scratch, first, last);
}
