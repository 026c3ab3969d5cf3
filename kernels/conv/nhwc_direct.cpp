//===- nhwc_direct.cpp - conv.nhwc_direct: convolution without unrolling into columns ---===//

#include "plim/kernel.h"

extern "C" {
__attribute__((visibility("hidden"))) int32_t plim_conv_nhwc_direct_v3(const plim_launch *, void *, uint32_t, uint32_t);
__attribute__((visibility("hidden"))) int32_t plim_conv_nhwc_direct_v4(const plim_launch *, void *, uint32_t, uint32_t);

extern const plim_kernel plim_kernel_conv_nhwc_direct;
const plim_kernel plim_kernel_conv_nhwc_direct = {
    "conv.nhwc_direct", PLIM_KERNEL_ABI, 1, {nullptr, plim_conv_nhwc_direct_v3, plim_conv_nhwc_direct_v4}};
}
