//===- x86_v3_nhwc_spatial_mean.cpp - reduce.nhwc_spatial_mean for x86-64-v3 ---===//

#include "kernels/reduce/nhwc_spatial_mean_x86.h"

extern "C" int32_t plim_reduce_nhwc_spatial_mean_v3(const plim_launch *launch, void *scratch, uint32_t first,
                                                    uint32_t last) {
  return plim::runSpatialMean(launch, scratch, first, last);
}
