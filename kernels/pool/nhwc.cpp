//===- nhwc.cpp - pool.nhwc_max and pool.nhwc_average ---------------------------------------===//

#include "plim/kernel.h"

extern "C" {
#define DECLARE(name)                                                                                                  \
  __attribute__((visibility("hidden"))) int32_t name(const plim_launch *, void *, uint32_t, uint32_t)
DECLARE(plim_pool_nhwc_max_v3);
DECLARE(plim_pool_nhwc_max_v4);
DECLARE(plim_pool_nhwc_average_v3);
DECLARE(plim_pool_nhwc_average_v4);
#undef DECLARE

extern const plim_kernel plim_kernel_pool_nhwc_max, plim_kernel_pool_nhwc_average;
const plim_kernel plim_kernel_pool_nhwc_max = {
    "pool.nhwc_max", PLIM_KERNEL_ABI, 1, {nullptr, plim_pool_nhwc_max_v3, plim_pool_nhwc_max_v4}};
const plim_kernel plim_kernel_pool_nhwc_average = {
    "pool.nhwc_average", PLIM_KERNEL_ABI, 1, {nullptr, plim_pool_nhwc_average_v3, plim_pool_nhwc_average_v4}};
}
