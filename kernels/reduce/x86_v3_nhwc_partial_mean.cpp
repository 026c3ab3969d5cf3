//===- x86_v3_nhwc_partial_mean.cpp - reduce.nhwc_partial_mean for x86-64-v3 ---===//

#include "kernels/reduce/nhwc_partial_mean_x86.h"

extern "C" int32_t plim_reduce_nhwc_partial_mean_v3(const plim_launch *launch, void *scratch, uint32_t first,
                                                    uint32_t last) {
  return plim::runPartialMean(launch, scratch, first, last);
}
