//===- nhwc_winograd.cpp - conv.nhwc_winograd: 3x3 convolution by F(4x4, 3x3) ----------===//

#include "plim/kernel.h"

extern "C" {
__attribute__((visibility("hidden"))) int32_t plim_conv_nhwc_winograd_v3(const plim_launch *, void *, uint32_t,
                                                                         uint32_t);
__attribute__((visibility("hidden"))) int32_t plim_conv_nhwc_winograd_v4(const plim_launch *, void *, uint32_t,
                                                                         uint32_t);

extern const plim_kernel plim_kernel_conv_nhwc_winograd;
const plim_kernel plim_kernel_conv_nhwc_winograd = {
    "conv.nhwc_winograd", PLIM_KERNEL_ABI, 1, {nullptr, plim_conv_nhwc_winograd_v3, plim_conv_nhwc_winograd_v4}};
}
