//===- nhwc_transpose.cpp - conv_transpose.nhwc: windows that do not overlap ----------------===//

#include "plim/kernel.h"

extern "C" {
__attribute__((visibility("hidden"))) int32_t plim_conv_transpose_nhwc_v3(const plim_launch *, void *, uint32_t,
                                                                          uint32_t);
__attribute__((visibility("hidden"))) int32_t plim_conv_transpose_nhwc_v4(const plim_launch *, void *, uint32_t,
                                                                          uint32_t);

extern const plim_kernel plim_kernel_conv_transpose_nhwc;
const plim_kernel plim_kernel_conv_transpose_nhwc = {
    "conv_transpose.nhwc", PLIM_KERNEL_ABI, 1, {nullptr, plim_conv_transpose_nhwc_v3, plim_conv_transpose_nhwc_v4}};
}
