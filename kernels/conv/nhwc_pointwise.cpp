//===- nhwc_pointwise.cpp - conv.nhwc_pointwise: a 1x1 convolution as a product over pixels ---===//

#include "plim/kernel.h"

extern "C" {
__attribute__((visibility("hidden"))) int32_t plim_conv_nhwc_pointwise_v3(const plim_launch *, void *, uint32_t,
                                                                          uint32_t);
__attribute__((visibility("hidden"))) int32_t plim_conv_nhwc_pointwise_v4(const plim_launch *, void *, uint32_t,
                                                                          uint32_t);

extern const plim_kernel plim_kernel_conv_nhwc_pointwise;
const plim_kernel plim_kernel_conv_nhwc_pointwise = {
    "conv.nhwc_pointwise", PLIM_KERNEL_ABI, 1, {nullptr, plim_conv_nhwc_pointwise_v3, plim_conv_nhwc_pointwise_v4}};
}
