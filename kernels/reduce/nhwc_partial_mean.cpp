//===- nhwc_partial_mean.cpp - reduce.nhwc_partial_mean: the same, in pieces of rows ---===//

#include "plim/kernel.h"

extern "C" {
__attribute__((visibility("hidden"))) int32_t plim_reduce_nhwc_partial_mean_v3(const plim_launch *, void *, uint32_t,
                                                                               uint32_t);
__attribute__((visibility("hidden"))) int32_t plim_reduce_nhwc_partial_mean_v4(const plim_launch *, void *, uint32_t,
                                                                               uint32_t);

extern const plim_kernel plim_kernel_reduce_nhwc_partial_mean;
const plim_kernel plim_kernel_reduce_nhwc_partial_mean = {
    "reduce.nhwc_partial_mean",
    PLIM_KERNEL_ABI,
    1,
    {nullptr, plim_reduce_nhwc_partial_mean_v3, plim_reduce_nhwc_partial_mean_v4}};
}
