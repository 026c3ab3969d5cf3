//===- nhwc_depthwise.cpp - conv.nhwc_depthwise: each channel by its own filter ---===//

#include "plim/kernel.h"

extern "C" {
__attribute__((visibility("hidden"))) int32_t plim_conv_nhwc_depthwise_v3(const plim_launch *, void *, uint32_t,
                                                                          uint32_t);
__attribute__((visibility("hidden"))) int32_t plim_conv_nhwc_depthwise_v4(const plim_launch *, void *, uint32_t,
                                                                          uint32_t);

extern const plim_kernel plim_kernel_conv_nhwc_depthwise;
const plim_kernel plim_kernel_conv_nhwc_depthwise = {
    "conv.nhwc_depthwise", PLIM_KERNEL_ABI, 1, {nullptr, plim_conv_nhwc_depthwise_v3, plim_conv_nhwc_depthwise_v4}};
}
