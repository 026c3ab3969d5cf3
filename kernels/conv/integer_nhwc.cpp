//===- integer_nhwc.cpp - conv.integer_nhwc and conv.integer_nhwc_depthwise -----------------===//

#include "plim/kernel.h"

#define PLIM_DECLARE(name)                                                                                             \
  __attribute__((visibility("hidden"))) int32_t name(const plim_launch *, void *, uint32_t, uint32_t)

extern "C" {
PLIM_DECLARE(plim_conv_integer_nhwc_v3);
PLIM_DECLARE(plim_conv_integer_nhwc_v4);
PLIM_DECLARE(plim_conv_integer_nhwc_depthwise_v3);
PLIM_DECLARE(plim_conv_integer_nhwc_depthwise_v4);

extern const plim_kernel plim_kernel_conv_integer_nhwc, plim_kernel_conv_integer_nhwc_depthwise;
const plim_kernel plim_kernel_conv_integer_nhwc = {
    "conv.integer_nhwc", PLIM_KERNEL_ABI, 1, {nullptr, plim_conv_integer_nhwc_v3, plim_conv_integer_nhwc_v4}};
const plim_kernel plim_kernel_conv_integer_nhwc_depthwise = {
    "conv.integer_nhwc_depthwise",
    PLIM_KERNEL_ABI,
    1,
    {nullptr, plim_conv_integer_nhwc_depthwise_v3, plim_conv_integer_nhwc_depthwise_v4}};
}
