//===- x86_v4_nhwc.cpp - pool.nhwc_max and pool.nhwc_average for x86-64-v4 -----------------===//

#include "kernels/pool/nhwc_x86.h"

extern "C" {
int32_t plim_pool_nhwc_max_v4(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  return plim::runPool<false>(launch, first, last);
}
int32_t plim_pool_nhwc_average_v4(const plim_launch *launch, void *, uint32_t first, uint32_t last) {
  return plim::runPool<true>(launch, first, last);
}
}
